"""Exactly the entry's bytes, and first a record of who has them and why: without the record nothing leaves."""

from collections.abc import Callable, Iterator

import pytest
import redis as redis_py

from joobq_admin.joobq import keys, scripts
from joobq_admin.joobq.audit import Actor, AuditLog
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.entry import Entry, EntryRef
from joobq_admin.joobq.outcome import Outcome, Refusal
from tests.support.database import changed, contents
from tests.support.letters import DIED, digest, jid, letter, real_letters
from tests.support.operators import ANN, BOB, at_once, before_the_script, dead_letters, told
from tests.support.servers import KINDS, Proxy, Server

LETTER, OTHER = letter(1, card="4111"), letter(1, death=1)
REF = EntryRef(DIED, digest(LETTER), jid(1))
LOG = {keys.AUDIT, keys.AUDIT_INDEX}
ODD = [b"", b"\xff\x00\r\n\x1a", b'{"jid":"' + b"\xc3(" + b'"}\0after', "{}\ufeff".encode(), b"x" * 300_000]


def given(
    redis: redis_py.Redis, by: Actor | None = ANN, operation: str = "op1", ref: EntryRef = REF
) -> bytes | Outcome:
    return dead_letters(redis).unredacted(ref, by=by, reason="SUP-4471", operation=operation)


def why_not(answer: bytes | Outcome) -> dict[str, list]:
    assert isinstance(answer, Outcome)
    return told(answer)


@pytest.fixture
def letters(redis: redis_py.Redis) -> redis_py.Redis:
    dead_letters(redis).add(DIED, [LETTER, letter(2)])
    return redis


def test_the_record_says_who_has_them_and_why_and_nothing_else_moved(letters: redis_py.Redis) -> None:
    before = contents(letters)
    assert given(letters) == LETTER
    assert changed(before, contents(letters)) == LOG
    log = dead_letters(letters).audit
    assert log
    (record,) = log.of_operation("op1")
    assert (record.action, record.digest, record.jid, record.queue) == ("unredacted", REF.digest, jid(1), "emails")
    assert (record.by, record.name, record.reason, record.score) == (ANN.id, ANN.name, "SUP-4471", DIED)
    assert (
        log.of_digest(REF.digest) == log.of_jid(jid(1)) == [log.recorded("op1", "unredacted", REF.digest)] == [record]
    )


def test_they_are_exact(redis: redis_py.Redis) -> None:
    """Each real one, and bytes that are no text."""
    entries = [Entry(raw, DIED) for raw in (*(real.raw for real in real_letters()), *ODD)]
    redis.zadd(keys.DEAD, {entry.raw: DIED for entry in entries})
    for entry in entries:
        assert given(redis, ref=entry.ref) == entry.raw
    assert redis.xlen(keys.AUDIT) == len(entries)


def test_the_same_press_again_gives_them_again_under_one_record(letters: redis_py.Redis) -> None:
    assert [given(letters) for _ in range(3)] == [LETTER] * 3
    assert letters.xlen(keys.AUDIT) == 1
    assert given(letters, operation="op2") == LETTER
    assert letters.xlen(keys.AUDIT) == 2


@pytest.mark.parametrize("other", [BOB, None])
def test_another_persons_record_gives_them_to_nobody_else_unrecorded(letters: redis_py.Redis, other: Actor) -> None:
    assert given(letters) == given(letters, other) == LETTER
    assert [row[b"by"].decode() for _, row in letters.xrange(keys.AUDIT)] == [ANN.id, other.id if other else ""]


def test_a_record_that_is_no_longer_kept_is_written_anew(letters: redis_py.Redis) -> None:
    assert given(letters) == LETTER
    letters.delete(keys.AUDIT)
    assert given(letters) == LETTER
    assert letters.xlen(keys.AUDIT) == 1


def test_two_presses_at_once_are_one_record(letters: redis_py.Redis, server: Server) -> None:
    clients = [server.connect() for _ in range(4)]
    assert at_once(*(lambda c=client: given(c) for client in clients)) == [LETTER] * 4
    assert letters.xlen(keys.AUDIT) == 1


def test_a_redrive_under_the_same_operation_is_another_thing(letters: redis_py.Redis) -> None:
    assert given(letters) == LETTER
    assert dead_letters(letters).redrive_entries([REF], by=ANN, operation="op1").done == (REF,)
    assert letters.llen("emails") == 1


def test_what_is_not_here_is_missing_and_what_was_replaced_a_conflict(letters: redis_py.Redis) -> None:
    letters.zrem(keys.DEAD, LETTER)
    before = contents(letters)
    assert why_not(given(letters)) == {"missing": [REF]}
    assert changed(before, contents(letters)) == set()
    letters.zadd(keys.DEAD, {OTHER: DIED})
    before = contents(letters)
    assert why_not(given(letters)) == {"conflicts": [REF]}
    assert changed(before, contents(letters)) == set()


def test_one_that_leaves_while_it_is_looked_up_stays_untold(
    letters: redis_py.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    before_the_script(monkeypatch, lambda: letters.zrem(keys.DEAD, LETTER))
    assert why_not(given(letters)) == {"missing": [REF]}
    assert not letters.exists(keys.AUDIT)


def test_after_it_has_left_the_same_press_is_recorded_still_and_gives_nothing(letters: redis_py.Redis) -> None:
    assert given(letters) == LETTER
    letters.zrem(keys.DEAD, LETTER)
    assert why_not(given(letters)) == {"done": [REF]}


def test_without_an_audit_log_it_cannot_be_asked_for(letters: redis_py.Redis) -> None:
    with pytest.raises(ValueError, match="needs an audit log"):
        DeadLetterQueue(letters).unredacted(REF)
    with pytest.raises(ValueError, match="a digest is 64 hex digits"):
        given(letters, ref=EntryRef(DIED, REF.digest[:16], jid(1)))
    assert not letters.exists(keys.AUDIT)


def user(server: Server, *rights: str) -> redis_py.Redis:
    server.client.execute_command("ACL", "SETUSER", "u", "reset", "on", ">pw", *rights)
    return server.connect(username="u", password="pw")


def a_full_stream(server: Server) -> object:
    return server.client.xadd(keys.AUDIT, {"x": "y"}, id=f"{2**64 - 1}-{2**64 - 1}")


FAULTS: dict[str, tuple[str, Callable[[Server], object]]] = {
    "the audit log is a string": ("AUDIT_BROKEN", lambda server: server.client.set(keys.AUDIT, "x")),
    "the index is a string": ("AUDIT_BROKEN", lambda server: server.client.set(keys.AUDIT_INDEX, "x")),
    "the stream takes no more": ("AUDIT_BROKEN", a_full_stream),
    "out of memory": ("OOM", lambda server: server.client.config_set("maxmemory", "1mb")),
    "too few replicas": ("NOREPLICAS", lambda server: server.client.config_set("min-replicas-to-write", 1)),
    **{f"may not {name}": ("NOT_ALLOWED", lambda server, name=name: user(server, "~*", "+@all", f"-{name}"))
       for name in ("xadd", "zadd", "evalsha", "zscore", "zrange", "type")},
    **{f"no right to {key.decode()}": ("NOT_ALLOWED", lambda server, key=key: user(
        server, "+@all", *(f"~{other.decode()}" for other in (keys.DEAD, *LOG) if other != key)))
       for key in sorted((keys.DEAD, *LOG))},
    "may only read": ("NOT_ALLOWED", lambda server: user(server, "+@all", "%R~*")),
}  # fmt: skip


@pytest.fixture(scope="module", params=KINDS)
def fragile(request: pytest.FixtureRequest) -> Iterator[Server]:
    with Server(request.param) as server:
        yield server


@pytest.mark.parametrize("name", FAULTS)
def test_when_the_record_cannot_be_written_no_byte_leaves(fragile: Server, name: str) -> None:
    redis, (reason, strike) = fragile.client, FAULTS[name]
    redis.flushall()
    redis.zadd(keys.DEAD, {LETTER: DIED})
    struck = strike(fragile)
    client = struck if isinstance(struck, redis_py.Redis) else redis
    before = contents(redis)
    try:
        assert why_not(given(client)) == {"refused": [reason]}
        assert changed(before, contents(redis)) == set()
    finally:
        redis.config_set("maxmemory", 0)
        redis.config_set("min-replicas-to-write", 0)
    if client is not redis:
        assert given(redis) == LETTER


def test_a_replica_gives_nothing_and_never_says_gone(new_server: Callable[..., Server]) -> None:
    primary = new_server()
    primary.client.zadd(keys.DEAD, {LETTER: DIED})
    replica = new_server(replica_of=primary).client
    assert why_not(given(replica)) == {"refused": ["READONLY"]}
    assert why_not(given(replica, ref=EntryRef(DIED, digest(OTHER), jid(9)))) == {"refused": ["READONLY"]}
    call = scripts.UNREDACTED.call((keys.DEAD, *AuditLog.KEYS), (OTHER, "emails", "op1", digest(OTHER), "", ANN.id))
    assert scripts.write(replica, [call]) == [Refusal.READONLY]  # one that lags does not know what it holds


def test_a_lost_answer_gives_nothing_and_the_same_press_gives_them_recorded_once(
    server: Server, letters: redis_py.Redis, new_proxy: Callable[[Server], Proxy]
) -> None:
    for script in (scripts.UNREDACTED, scripts.TRIM_AUDIT, scripts.SEEK, scripts.RECORDS):
        letters.script_load(script.text)
    proxy = new_proxy(server)
    client = proxy.connect(socket_timeout=0.4)
    proxy.cut()
    assert why_not(given(client)) == {"unknown": [REF]}
    proxy.passes()
    assert given(client) == LETTER
    assert letters.xlen(keys.AUDIT) == 1


def test_a_log_at_its_cap_is_trimmed_behind_it(letters: redis_py.Redis) -> None:
    pipe = letters.pipeline()
    for number in range(1_200):
        pipe.xadd(keys.AUDIT, {"n": number})
    pipe.execute()
    queue = DeadLetterQueue(letters, AuditLog(letters, cap=100))
    assert queue.unredacted(REF, by=ANN, operation="op1") == LETTER
    assert letters.xlen(keys.AUDIT) == 1_001
