"""What was done to a ledger is in the audit log right after it, once an operation; if not, whoever did it is told."""

from collections.abc import Callable

import pytest
import redis as redis_py

from joobq_admin.joobq import keys, scripts
from joobq_admin.joobq.audit import AuditLog
from joobq_admin.joobq.outcome import AnswerLost, NotDone, Unreachable
from tests.support.database import changed, contents
from tests.support.operators import ANN, BOB, at_once
from tests.support.servers import KINDS, Proxy, Server

LEDGER = {"namespace": "shop", "queue": "emails"}
LOG = {keys.AUDIT, keys.AUDIT_INDEX}
LAST = f"{2**64 - 1}-{2**64 - 1}"


def test_it_says_who_what_where_and_why_and_nothing_else_moved(redis: redis_py.Redis) -> None:
    redis.set("other", "1")
    log, before = AuditLog(redis), contents(redis)
    log.note("discard", ANN, "№5\n", "op1", "ab" * 32, request="\udcff\0", **LEDGER)
    assert changed(before, contents(redis)) == LOG
    (record,) = log.of_operation("op1")
    assert [record] == list(log.page().records) == log.of_digest("ab" * 32)
    assert (record.action, record.queue, record.digest) == ("discard", "emails", "ab" * 32)
    assert (record.by, record.name, record.reason) == (ANN.id, ANN.name, "№5\n")
    assert (record.fields["namespace"], record.fields["request"]) == ("shop", "\udcff\0")


def test_one_operation_notes_one_thing_once(redis: redis_py.Redis, server: Server) -> None:
    logs = [AuditLog(server.connect()) for _ in range(4)]
    at_once(*(lambda log=log: log.note("repair", ANN, operation="op1", **LEDGER) for log in logs))
    logs[0].note("repair", BOB, operation="op1", **LEDGER)
    assert [record.by for record in logs[0].page().records] == [ANN.id]
    logs[0].note("expire", ANN, operation="op1", **LEDGER)
    logs[0].note("repair", ANN, **LEDGER)
    logs[0].note("repair", ANN, **LEDGER)
    assert redis.xlen(keys.AUDIT) == 4


def test_the_log_is_trimmed_behind_it(redis: redis_py.Redis) -> None:
    log = AuditLog(redis, cap=1)
    with redis.pipeline() as pipe:
        for n in range(1_100):
            pipe.xadd(keys.AUDIT, {"action": "x", "operation": str(n)})
        pipe.execute()
    log.note("repair", ANN, operation="op1")
    assert redis.xlen(keys.AUDIT) == 901
    assert log.page(limit=1).records[0].action == "repair"


FAULTS: dict[str, tuple[str, Callable[[redis_py.Redis], object]]] = {
    "the log is a string": ("AUDIT_BROKEN", lambda redis: redis.set(keys.AUDIT, "x")),
    "the index is a string": ("AUDIT_BROKEN", lambda redis: redis.set(keys.AUDIT_INDEX, "x")),
    "the stream takes no more": ("AUDIT_BROKEN", lambda redis: redis.xadd(keys.AUDIT, {"x": "y"}, id=LAST)),
    "may not write": ("NOT_ALLOWED", lambda redis: redis.execute_command("ACL SETUSER default -xadd")),
    "may not index": ("NOT_ALLOWED", lambda redis: redis.execute_command("ACL SETUSER default -zadd")),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_when_it_cannot_be_written_that_is_told(new_server: Callable[..., Server], kind: str) -> None:
    redis = new_server(kind).client
    for name, (reason, strike) in FAULTS.items():
        redis.flushall()
        strike(redis)
        before = contents(redis)
        with pytest.raises(NotDone, match=reason):
            AuditLog(redis).note("repair", ANN, reason=name, **LEDGER)
        assert changed(before, contents(redis)) == set()
        redis.execute_command("ACL SETUSER default +@all")
    redis.flushall()
    redis.config_set("maxmemory", "1mb")
    AuditLog(redis).note("repair", ANN, **LEDGER)  # a server that is full keeps what was done
    assert redis.xlen(keys.AUDIT) == 1


def test_a_replica_says_nothing_for_its_primary(new_server: Callable[..., Server]) -> None:
    primary = new_server()
    AuditLog(primary.client).note("repair", ANN, operation="op1")
    replica = new_server(replica_of=primary)
    for operation in ("op1", "op2"):
        with pytest.raises(NotDone, match="READONLY"):
            AuditLog(replica.client).note("repair", ANN, operation=operation)


def test_a_lost_answer_is_told_and_asked_again_it_is_noted_once(
    server: Server, redis: redis_py.Redis, new_proxy: Callable[[Server], Proxy]
) -> None:
    for script in (scripts.NOTE, scripts.TRIM_AUDIT):
        redis.script_load(script.text)
    proxy = new_proxy(server)
    log = AuditLog(proxy.connect())
    proxy.cut()
    with pytest.raises(AnswerLost):
        log.note("repair", ANN, operation="op1")
    proxy.passes()
    log.note("repair", ANN, operation="op1")
    assert redis.xlen(keys.AUDIT) == 1
    proxy.close()
    with pytest.raises(Unreachable):
        log.note("repair", ANN, operation="op2")
    assert redis.xlen(keys.AUDIT) == 1
