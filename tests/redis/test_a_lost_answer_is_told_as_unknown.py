"""The answer never came: the script went out exactly once, that is all that is said, the same press tells the truth."""

from collections.abc import Callable

import pytest
import redis as redis_py

from joobq_admin.joobq import keys, scripts
from joobq_admin.joobq.entry import EntryRef
from joobq_admin.joobq.outcome import AnswerLost, Outcome, Unreachable
from tests.support.database import changed, contents
from tests.support.eventually import eventually
from tests.support.letters import DIED, digest, jid, letter
from tests.support.operators import ANN, BOB, before_the_script, dead_letters, told
from tests.support.presses import ACTIONS, QUEUE, REF, is_done_once, prepare, press
from tests.support.servers import KINDS, Proxy, Server

NewProxy = Callable[[Server], Proxy]
ENTRY_ACTIONS = [action for action in ACTIONS if action not in ("purge all", "purge a queue")]
MANY = 120


def teach(redis: redis_py.Redis) -> None:
    """The server knows every script: one that it had to be sent again would be counted twice."""
    for script in (scripts.REDRIVE, scripts.REMOVE, scripts.RESTORE, scripts.PURGE_ALL, scripts.TRIM_AUDIT,
                   scripts.TRIM_BIN, scripts.SEEK, scripts.RECORDS):  # fmt: skip
        redis.script_load(script.text)


def is_recorded(redis: redis_py.Redis, action: str) -> bool:
    """What "check again" asks."""
    log = dead_letters(redis).audit
    assert log is not None
    name, what = ("purge_all", "") if action == "purge all" else (action.split()[0], REF.digest)
    return log.recorded("op1", name, what) is not None


@pytest.mark.parametrize(
    ("action", "spoil"), [*((action, "cut") for action in ENTRY_ACTIONS), (ENTRY_ACTIONS[0], "swallow")]
)
def test_it_is_unknown_and_done_once(server: Server, new_proxy: NewProxy, action: str, spoil: str) -> None:
    before, proxy = prepare(server.client, action), new_proxy(server)
    teach(server.client)
    client = proxy.connect(socket_timeout=0.4)
    getattr(proxy, spoil)()
    assert press(client, action) == "unknown"
    assert proxy.scripts == 3  # itself, and what trims the audit log and the bin
    after = eventually_done(server.client, before, action)
    assert press(server.client, action) == "done"
    assert changed(after, contents(server.client)) == set()
    proxy.passes()
    assert press(client, action) == "done"
    assert changed(after, contents(server.client)) == set()


def eventually_done(redis: redis_py.Redis, before: dict, action: str) -> dict:
    eventually(lambda: is_recorded(redis, action))
    after = contents(redis)
    assert is_done_once(before, after, action)
    return after


def test_of_everything_at_once_it_is_not_known_how_much_went(server: Server, new_proxy: NewProxy) -> None:
    before, proxy = prepare(server.client, "purge all"), new_proxy(server)
    teach(server.client)
    proxy.cut()
    with pytest.raises(AnswerLost):
        press(proxy.connect(socket_timeout=10), "purge all")
    assert proxy.scripts == 1
    after = eventually_done(server.client, before, "purge all")
    assert press(server.client, "purge all") == "done"
    assert changed(after, contents(server.client)) == set()


@pytest.mark.parametrize("arrived", range(9))
def test_an_answer_that_was_cut_anywhere_is_no_answer(server: Server, new_proxy: NewProxy, arrived: int) -> None:
    """`:1` and a line's end are four bytes; what is lost behind them is of no interest."""
    before, proxy = prepare(server.client, "redrive"), new_proxy(server)
    teach(server.client)
    proxy.cut(after=arrived)
    assert press(proxy.connect(socket_timeout=10), "redrive") == ("done" if arrived >= 4 else "unknown")
    eventually_done(server.client, before, "redrive")


@pytest.mark.parametrize("arrived", range(13))
def test_a_longer_answer_that_was_cut_anywhere(server: Server, new_proxy: NewProxy, arrived: int) -> None:
    before, proxy = prepare(server.client, "purge all"), new_proxy(server)
    teach(server.client)
    proxy.cut(after=arrived)
    try:
        said = press(proxy.connect(socket_timeout=10), "purge all")
    except AnswerLost:
        said = "unknown"
    assert said == ("done" if arrived == len(b"*2\r\n:1\r\n:0\r\n") else "unknown")
    eventually_done(server.client, before, "purge all")


@pytest.mark.parametrize("action", ["redrive", "purge", "restore"])
@pytest.mark.parametrize("first", ["the second press", "the late script"])
def test_a_script_that_arrives_late(server: Server, new_proxy: NewProxy, action: str, first: str) -> None:
    before, proxy = prepare(server.client, action), new_proxy(server)
    teach(server.client)
    proxy.hold()
    assert press(proxy.connect(socket_timeout=0.4), action) == "unknown"
    assert contents(server.client) == before
    assert not is_recorded(server.client, action)  # "not done as of now"
    if first == "the late script":
        proxy.release()
        after = eventually_done(server.client, before, action)
        assert press(server.client, action) == "done"
    else:
        assert press(server.client, action) == "done"
        after = eventually_done(server.client, before, action)
        arrived = evalshas(server.client)
        proxy.release()
        eventually(lambda: evalshas(server.client) >= arrived + 3)
    assert changed(after, contents(server.client)) == set()


def evalshas(redis: redis_py.Redis) -> int:
    return redis.info("commandstats")["cmdstat_evalsha"]["calls"]


@pytest.mark.parametrize("action", ["redrive", "purge", "restore"])
def test_a_bulk_that_was_cut_goes_on_with_the_same_operation(server: Server, new_proxy: NewProxy, action: str) -> None:
    """Pipelines of 50: the first is answered, of the second 27 answers arrive, the third is never sent."""
    redis, proxy, queue = server.client, new_proxy(server), dead_letters(server.client)
    teach(redis)
    refs = fill(redis)
    if action == "restore":
        queue.purge_entries(refs, operation="op0")
    records = redis.xlen(keys.AUDIT)
    proxy.cut(after=(50 + 2 + 27) * len(b":1\r\n"))
    outcome = bulk(proxy.connect(socket_timeout=10), action, refs)
    assert {name: len(things) for name, things in told(outcome).items()} == {"done": 77, "unknown": 23, "unsent": 20}
    eventually(lambda: proxy.scripts == 50 + 2 + 50 + 2)
    eventually(lambda: redis.xlen(keys.AUDIT) == records + 100)
    assert told(bulk(redis, action, refs)) == {"done": wanted(action, refs)}
    assert redis.xlen(keys.AUDIT) == records + MANY
    dead, waiting, binned = {"redrive": (0, MANY, 0), "purge": (0, 0, MANY), "restore": (MANY, 0, 0)}[action]
    assert (redis.zcard(keys.DEAD), redis.llen(QUEUE), redis.zcard(keys.BIN_TIMES)) == (dead, waiting, binned)
    assert queue.count() == dead


def fill(redis: redis_py.Redis) -> list[EntryRef]:
    letters = [letter(n) for n in range(MANY)]
    dead_letters(redis).add(DIED, letters)
    return [EntryRef(DIED, digest(raw), jid(n)) for n, raw in enumerate(letters)]


def bulk(client: redis_py.Redis, action: str, refs: list[EntryRef]) -> Outcome:
    queue = dead_letters(client)
    if action == "restore":
        return queue.restore([ref.digest for ref in refs], by=ANN, operation="op1")
    return getattr(queue, f"{action}_entries")(refs, by=ANN, operation="op1")


def wanted(action: str, refs: list[EntryRef]) -> list[EntryRef] | list[str]:
    return [ref.digest for ref in refs] if action == "restore" else refs


def test_what_was_done_is_told_though_nothing_can_be_looked_up_any_more(
    server: Server, new_proxy: NewProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Redis goes away right behind the answers: what else there is of the job that was lost cannot be seen."""
    teach(server.client)
    refs, proxy, send = fill(server.client), new_proxy(server), scripts.write
    before_the_script(monkeypatch, lambda: dead_letters(server.client).purge_entries(refs[:1], by=BOB))
    racing = scripts.write

    def write(*args):
        replies = racing(*args)
        proxy.close()
        return replies

    monkeypatch.setattr(scripts, "write", write)
    outcome = bulk(proxy.connect(socket_timeout=10), "redrive", refs)
    monkeypatch.setattr(scripts, "write", send)
    assert told(outcome) == {"missing": refs[:1], "done": refs[1:]}


def test_a_queue_of_another_type_is_refused_though_its_type_cannot_be_told(
    server: Server, new_proxy: NewProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    refs, proxy, send = fill(server.client), new_proxy(server), scripts.write
    server.client.set(QUEUE, "x")

    def write(*args):
        replies = send(*args)
        proxy.close()
        return replies

    monkeypatch.setattr(scripts, "write", write)
    assert set(told(bulk(proxy.connect(socket_timeout=10), "redrive", refs))["refused"]) == {"NOT_A_LIST"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("hard", [False, True], ids=["orderly", "killed"])
def test_an_operation_outlives_a_restart(new_server: Callable[..., Server], kind: str, hard: bool) -> None:
    server = new_server(kind, persist=True)
    for action in ACTIONS:
        before, client = prepare(server.client, action), server.connect()
        assert press(client, action) == "done"
        after = contents(server.client)
        assert is_done_once(before, after, action)
        server.stop(hard)
        with pytest.raises(Unreachable):
            press(client, action)
        server.start()
        assert press(server.client, action) == "done"
        assert changed(after, contents(server.client)) == set()
