"""docs/ledger.md as it stands: its producer and worker are run, its tables read what Lua has written."""

import hashlib
import os
import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import redis as redis_py

from joobq_admin.joobq.delivery import Ledger, State, shapes
from joobq_admin.joobq.delivery.record import decode
from tests.support import sources
from tests.support.eventually import eventually
from tests.support.guard import Guard
from tests.support.ledgers import HOUR, TRACE, held, ledger_of
from tests.support.servers import Server

GUIDE = sources.text("docs/ledger.md")
LEASE = 1.0  # seconds
SHOP = '''
from pathlib import Path

failed = set()


def deliver(request_id, payload):
    """A slow one takes until somebody writes there; one fails at first, one always."""
    print("delivering", request_id, payload.decode(), flush=True)
    if payload == b"slow":
        Path({pipe!r}).read_text()
    if payload == b"never" or (payload == b"later" and request_id not in failed):
        failed.add(request_id)
        raise ValueError(payload)
'''


def program(name: str) -> str:
    (found,) = re.findall(rf'^```python\n("""{name}.*?)^```', GUIDE, re.MULTILINE | re.DOTALL)
    return str(found)


def table(first: str) -> list[list[str]]:
    """The rows below this head."""
    _, _, rest = GUIDE.partition(f"| {first} |")
    rows = rest.split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows]


def test_the_producer_and_the_worker_run(valkey: Server, tmp_path: Path) -> None:
    for name in ("producer.py", "worker.py"):
        (tmp_path / name).write_text(program(name))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "shop.py").write_text(SHOP.format(pipe=str(pipe)))
    environment = {"PYTHONPATH": str(sources.ROOT), "PYTHONUNBUFFERED": "1", "PYTHONWARNINGS": "error"}

    def start(name: str, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, str(tmp_path / name), valkey.url, *arguments]
        return subprocess.Popen(
            command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    orders = {"1": "slow", "2": "fine", "3": "later", "4": "never"}
    lines = "".join(f"{order} {text}\n" for order, text in orders.items())
    out, words = start("producer.py").communicate(f"{lines}2 fine\n", timeout=20)
    assert out.splitlines() == ["1 ACCEPTED", "2 ACCEPTED", "3 ACCEPTED", "4 ACCEPTED", "2 DUPLICATE"], words
    assert start("producer.py").communicate("2 other\n", timeout=20)[0] == "2 CONFLICT\n"

    ledger, told = ledger_of(valkey.client), ""
    with ExitStack() as stack:
        workers = [start("worker.py", str(LEASE)) for _ in range(2)]
        for worker in workers:
            stack.callback(worker.wait)
            stack.callback(worker.kill)
            stack.callback(Guard(worker).lift)
        first = eventually(lambda: leased_until(ledger, "order-1"))
        eventually(lambda: leased_until(ledger, "order-1") > first + LEASE * 1_000)  # it outlasts what it began with
        pipe.write_text("")
        eventually(lambda: {record.state for record in ledger.records().records} == {State.COMPLETED, State.DEAD}, 30)
        for worker in workers:
            worker.terminate()
            out, words = worker.communicate(timeout=20)
            told += out
            assert "Traceback" not in words
    ended = {record.request_id: (record.state.value, record.attempt) for record in ledger.records().records}
    assert ended == {
        "order-1": ("COMPLETED", 1),  # for as long as it took, nobody else had it
        "order-2": ("COMPLETED", 1),
        "order-3": ("COMPLETED", ended["order-3"][1]),
        "order-4": ("DEAD", 3),
    }
    assert 2 <= ended["order-3"][1] <= 3  # once, or once in each worker
    assert told.count("delivering order-1 slow") == told.count("order-1 COMPLETED APPLIED") == 1
    assert told.count("APPLIED") == sum(attempts for _, attempts in ended.values())


def leased_until(ledger: Ledger, request_id: str) -> int:
    record = ledger.resolve(request_id)
    return (record and record.lease_until) or 0


def read(header: bytes) -> dict[str, bytes]:
    """A header by the guide's table, and by nothing else."""
    found, end = dict[str, bytes](), 0
    for at, width, field, _ in table("at"):
        first = int(at) if at != "then" else end + 1
        widths = [int(width) for width in re.findall(r"\d+", width)] or [len(header) - first]
        size = next(size for size in widths if header[first + size : first + size + 1] in (b" ", b""))
        found[field], end = header[first : first + size], first + size
    return found


def test_any_language_reads_what_lua_has_written(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    ledger.admit("é", b"\0payload", HOUR, TRACE)
    ledger.settle(held(ledger, "done", owner="w x é"), State.DEAD)
    held(ledger, "leased", owner=" w ")
    letters = {state.letter: state for state in State}
    for name in ("é", "done", "leased"):
        id_, header = name.encode(), redis.hget(ledger.records_key, name)
        payload = redis.hget(ledger.payloads_key, name)
        told, record = read(header), ledger.resolve(name)
        assert b" ".join(told.values()) == header
        assert told["FORMAT"] == b"jl1"
        assert told["SUM"].decode() == hashlib.sha1(b"%d:%b%b" % (len(id_), id_, header[45:])).hexdigest()
        assert int(told["SIZE"]) == len(payload)
        assert told["DIGEST"].decode() == hashlib.sha256(payload).hexdigest()
        assert letters[told["STATE"].decode()] is record.state
        numbers = [int(told[field]) for field in ("ADMITTED", "DUE", "LEASE", "ATTEMPT", "UPDATED")]
        lease = record.lease_until or 0
        assert numbers == [record.admitted_at, record.due_at, lease, record.attempt, record.updated_at]
        assert told["TRACE"].decode() == (record.traceparent or "-")
        assert told["OWNER"].decode() == record.owner


def test_the_example_is_a_record() -> None:
    (header,) = re.findall(r"^    (jl1 .*)$", GUIDE, re.MULTILINE)
    record = decode("order-4711", header.encode(), b'{"to":"ann@example.com"}')
    assert (record.state, record.owner, record.attempt) == (State.LEASED, "mailer-1", 1)


def test_the_keys_are_these(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    named = [(cell[0].strip("`"), cell[1].replace("sorted set", "zset")) for cell in table("key")]
    assert [f"joobq:delivery:{{shop:emails}}:{name}" for name, _ in named] == [
        ledger.records_key,
        ledger.payloads_key,
        ledger.ready_key,
        ledger.leases_key,
        ledger.quarantine_key,
        ledger.gate_key,
    ]
    assert [kind for _, kind in named] == ["hash", "hash", "zset", "zset", "hash", "string"]


def test_the_table_of_answers_names_every_outcome() -> None:
    told = {cells[1] for cells in table("call")}
    for outcome in (*shapes.AdmissionOutcome, *shapes.SettlementOutcome):
        assert outcome.name in told
