"""Out of the bin for good: exactly the entries that were named, recorded, once; nothing else moves."""

from collections.abc import Callable
from typing import Any

import pytest
import redis as redis_py

from joobq_admin.joobq import keys
from joobq_admin.joobq.audit import AuditLog
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.entry import EntryRef
from joobq_admin.joobq.outcome import Outcome
from tests.support.database import changed, contents
from tests.support.eventually import eventually
from tests.support.letters import DIED, digest, jid, letter
from tests.support.operators import ANN, at_once, dead_letters, told
from tests.support.servers import Proxy, Server

LETTERS = [letter(n) for n in range(3)]
REFS = [EntryRef(DIED, digest(raw), jid(n)) for n, raw in enumerate(LETTERS)]
DIGESTS = [ref.digest for ref in REFS]
LOG = {keys.AUDIT, keys.AUDIT_INDEX}
BIN = {keys.BIN, keys.BIN_TIMES}


def fill(redis: redis_py.Redis) -> None:
    queue = dead_letters(redis)
    queue.add(DIED, [*LETTERS, letter(9)])
    assert queue.purge_entries(REFS, by=ANN, operation="op0").done


def empty(redis: redis_py.Redis, *digests: str, operation: str = "op1") -> Outcome:
    return dead_letters(redis).empty(digests, by=ANN, reason="why", operation=operation)


def test_it_is_gone_with_a_record_and_nothing_else_moved(redis: redis_py.Redis) -> None:
    fill(redis)
    before = contents(redis)
    assert told(empty(redis, *DIGESTS[:2])) == {"done": DIGESTS[:2]}
    assert changed(before, contents(redis)) == LOG | BIN
    left = redis.hgetall(keys.BIN)
    assert left.keys() == {b"bytes", DIGESTS[2].encode()}
    assert int(left[b"bytes"]) == len(left[DIGESTS[2].encode()])
    assert redis.zrange(keys.BIN_TIMES, 0, -1) == [DIGESTS[2].encode()]
    record = AuditLog(redis).recorded("op1", "empty", DIGESTS[0])
    assert record is not None
    assert (record.jid, record.queue, record.score, record.by, record.reason) == (jid(0), "emails", DIED, "u-1", "why")
    assert AuditLog(redis).of_jid(jid(0))[0] == AuditLog(redis).of_digest(DIGESTS[0])[0] == record


def test_pressed_again_it_was_done_once_and_by_another_it_is_gone(redis: redis_py.Redis) -> None:
    fill(redis)
    assert empty(redis, DIGESTS[0]).done
    before = contents(redis)
    assert told(empty(redis, DIGESTS[0])) == {"done": [DIGESTS[0]]}
    assert told(empty(redis, DIGESTS[0], operation="op2")) == {"missing": [DIGESTS[0]]}
    assert told(dead_letters(redis).restore([DIGESTS[0]], operation="op3")) == {"missing": [DIGESTS[0]]}
    assert changed(before, contents(redis)) == set()


def test_of_an_undo_at_the_same_moment_one_is_first(redis: redis_py.Redis) -> None:
    fill(redis)
    answers = at_once(
        lambda: empty(redis, *DIGESTS), lambda: dead_letters(redis).restore(DIGESTS, by=ANN, operation="op2")
    )
    assert sorted(what for answer in answers for what in answer.done) == sorted(DIGESTS)
    assert set(redis.zrange(keys.DEAD, 0, -1)) == {letter(9)} | {LETTERS[DIGESTS.index(d)] for d in answers[1].done}
    assert redis.hgetall(keys.BIN) == {b"bytes": b"0"}


def a_string(key: bytes) -> Callable[[redis_py.Redis], Any]:
    return lambda redis: (redis.delete(key), redis.set(key, 1))


FAULTS: dict[str, tuple[str, Callable[[redis_py.Redis], Any]]] = {
    "the audit log is a string": ("AUDIT_BROKEN", a_string(keys.AUDIT)),
    "the bin is a string": ("BIN_BROKEN", a_string(keys.BIN)),
    "its times are a string": ("BIN_BROKEN", a_string(keys.BIN_TIMES)),
    "what is there is not ours": ("BIN_BROKEN", lambda redis: redis.hset(keys.BIN, DIGESTS[0], "x")),
    "a replica": ("READONLY", lambda redis: redis.replicaof("127.0.0.1", 1)),
    **{f"may not {name}": ("NOT_ALLOWED", lambda redis, name=name: redis.acl_setuser("default", commands=[f"-{name}"]))
       for name in ("hdel", "hincrby", "zrem", "xadd", "zadd", "hget")},
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_leaves_all_as_it_was(new_server: Callable[..., Server], fault: str) -> None:
    redis = new_server("valkey").client
    fill(redis)
    reason, strike = FAULTS[fault]
    strike(redis)
    before = contents(redis)
    assert told(empty(redis, DIGESTS[0])) == {"refused": [reason]}
    assert changed(before, contents(redis)) == set()


def test_a_full_server_can_be_emptied(new_server: Callable[..., Server]) -> None:
    redis = new_server("valkey").client
    fill(redis)
    redis.config_set("maxmemory", "1mb")
    assert empty(redis, *DIGESTS).done
    assert redis.hgetall(keys.BIN) == {b"bytes": b"0"}
    assert AuditLog(redis).recorded("op1", "empty", DIGESTS[2])


def test_a_lost_answer_is_unknown_and_the_same_press_does_it_once(
    server: Server, new_proxy: Callable[[Server], Proxy]
) -> None:
    fill(server.client)
    proxy = new_proxy(server)
    client = proxy.connect(socket_timeout=10)
    assert told(empty(client, DIGESTS[1], operation="op0")) == {"done": [DIGESTS[1]]}  # the server knows the script
    proxy.cut()
    assert told(empty(client, DIGESTS[0])) == {"unknown": [DIGESTS[0]]}
    proxy.passes()
    eventually(lambda: not server.client.hexists(keys.BIN, DIGESTS[0]))
    before = contents(server.client)
    assert told(empty(client, DIGESTS[0])) == {"done": [DIGESTS[0]]}
    assert changed(before, contents(server.client)) == set()


def test_without_a_bin_there_is_nothing_to_empty(redis: redis_py.Redis) -> None:
    with pytest.raises(ValueError, match="there is no bin"):
        DeadLetterQueue(redis, AuditLog(redis)).empty(DIGESTS)
