"""By operation, by the bytes, by the job: everything that was done, and nothing that was not."""

import json
from datetime import UTC, datetime

import pytest
import redis as redis_py

from joobq_admin.joobq import keys
from joobq_admin.joobq.audit import Actor, AuditLog, Record
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.entry import Entry
from joobq_admin.joobq.redriven import Change
from tests.support.letters import DIED, NO_TIME, digest, jid, letter
from tests.support.operators import ANN, BOB, dead_letters

ODD_JIDS = ["a\0b", "a", "a\0", "a\x001", "x" * 128, "x" * 129, "ü" * 64, "ü" * 65, "\udcff\udcfe", "\udcff",
            "sha256:ab", "1795955390586-0", '"', "\r\n", "a\0b\0c"]  # fmt: skip


def log_of(queue: DeadLetterQueue) -> AuditLog:
    assert queue.audit is not None
    return queue.audit


def test_a_record_tells_everything(redis: redis_py.Redis) -> None:
    queue, raw = dead_letters(redis), letter(1)
    queue.add(NO_TIME, [raw])
    actor = Actor("iss#sub 'x'", "Zoë\n\x1b[31m")
    (entry,) = queue.page()
    sent = queue.preview(entry)
    queue.redrive_entries([entry.ref], by=actor, reason="bug №5\nfixed", operation="op1")
    (record,) = log_of(queue).of_operation("op1")
    ((id_, _),) = redis.xrange(keys.AUDIT)
    assert (record.id, record.action, record.operation) == (id_.decode(), "redrive", "op1")
    assert (record.digest, record.jid, record.queue, record.score) == (digest(raw), jid(1), "emails", NO_TIME)
    assert (record.by, record.name, record.reason) == (actor.id, actor.name, "bug №5\nfixed")
    assert record.sent == digest(redis.lindex("emails", 0))
    assert [change.field for change in record.changes] == ["retries", "expires", "status", "error"]
    assert record.changes[0] == Change("retries", "0", "3")
    assert record.changes[3] == Change("error", "this one", "null")
    assert [change.field for change in sent.changes] == [change.field for change in record.changes]
    assert record.at is not None
    assert abs((record.at - datetime.now(UTC)).total_seconds()) < 60


def test_what_each_action_records(redis: redis_py.Redis) -> None:
    queue = dead_letters(redis)
    queue.add(DIED, [letter(n, "a b") for n in range(1, 6)])
    newest = queue.page()[0]
    queue.purge_entries([newest.ref], by=ANN, reason="r", operation="op1")
    queue.restore([newest.digest], by=BOB, operation="op2")
    queue.redrive_entries([newest.ref], operation="op3")
    queue.purge_all("a b", by=ANN, operation="op4")
    queue.purge_all(by=ANN, operation="op5")
    told = [
        (record.action, record.by, record.queue, record.score, record.jid, record.fields.get("entries"))
        for n in range(1, 6)
        for record in log_of(queue).of_operation(f"op{n}")
    ]
    assert told == [
        ("purge", "u-1", "a b", DIED, newest.jid, None),
        ("restore", "u-2", "a b", DIED, newest.jid, None),
        ("redrive", "", "a b", DIED, newest.jid, None),
        ("purge_all", "u-1", "a b", None, "", "4"),
        ("purge_all", "u-1", "", None, "", "0"),
    ]
    assert [record.action for record in log_of(queue).of_digest(newest.digest)] == ["redrive", "restore", "purge"]
    assert [record.action for record in log_of(queue).of_digest(newest.digest[:16])] == ["redrive", "restore", "purge"]
    assert [record.action for record in log_of(queue).of_jid(newest.jid or "")] == ["redrive", "restore", "purge"]
    assert [record.action for record in log_of(queue).of_jid(newest.jid or "", most=2)] == ["redrive", "restore"]
    assert [record.action for record in log_of(queue).of_operation("op1", "purge")] == ["purge"]
    assert log_of(queue).of_operation("op1", "redrive") == []


def test_jids_of_any_kind_are_told_apart(redis: redis_py.Redis) -> None:
    """A zero byte ends a jid in the index, long ones stand there as digests: none takes another's records."""
    queue, wanted = dead_letters(redis), {}
    for number, odd in enumerate(ODD_JIDS):
        for death in range(1 + number % 3):
            raw = letter(odd, death=death)
            queue.add(DIED, [raw])
            (entry,) = queue.page()
            assert entry.jid == odd
            assert queue.purge_entries([entry.ref], operation=f"op{number}-{death}").done
            wanted.setdefault(odd, []).insert(0, entry.digest)
    found = log_of(queue).of_jids(ODD_JIDS)
    assert {odd: [record.digest for record in records] for odd, records in found.items()} == wanted
    for odd in ODD_JIDS:
        assert [record.digest for record in log_of(queue).of_jid(odd, most=1)] == wanted[odd][:1]
    for stranger in ("", "b", "a\0b\0", "x" * 127, "x" * 130, "sha256:", "*", "\udcfe"):
        assert log_of(queue).of_jid(stranger) == []
    assert max(map(len, redis.zrange(keys.AUDIT_INDEX, 0, -1))) < 250


def test_many_records_of_one_jid_do_not_hide_those_of_another(redis: redis_py.Redis) -> None:
    queue = dead_letters(redis)
    queue.add(DIED, [letter("a")])
    queue.purge(["a"], operation="op1")
    queue.add(DIED, [letter("a\x001795955390586", death=n) for n in range(50)])
    queue.purge_entries([entry.ref for entry in queue.page()], operation="op2")
    assert [record.operation for record in log_of(queue).of_jid("a", most=10)] == ["op1"]


def test_a_hundred_and_more_jobs_in_one_round_trip(redis: redis_py.Redis) -> None:
    queue = dead_letters(redis)
    queue.add(DIED, [letter(n) for n in range(250)])
    queue.purge_entries([entry.ref for entry in queue.page(limit=250)], operation="op1")
    redis.config_resetstat()
    found = log_of(queue).of_jids(jid(n) for n in range(300))
    assert redis.info("commandstats")["cmdstat_evalsha_ro"]["calls"] == 3
    assert [len(found[jid(n)]) for n in range(300)] == [1] * 250 + [0] * 50
    assert len(log_of(queue).of_operation("op1")) == 250
    assert log_of(queue).of_jids([]) == {}


def test_an_empty_log(redis: redis_py.Redis) -> None:
    log = log_of(dead_letters(redis))
    assert log.oldest() is None
    assert log.of_operation("op1") == log.of_digest("0" * 64) == log.of_jid("x") == []
    assert log.recorded("op1", "redrive", "0" * 64) is None
    assert redis.keys() == []


def test_the_oldest_record(redis: redis_py.Redis) -> None:
    redis.xadd(keys.AUDIT, {"x": "y"}, id="1795955390586-3")
    assert log_of(dead_letters(redis)).oldest() == datetime.fromtimestamp(DIED / 1000, UTC)


@pytest.mark.parametrize(
    "fields",
    [{"action": "redrive"}, {"changes": "no JSON", "score": "5"}, {"changes": "[[1]]", "score": "5"}, {"score": "nan"},
     {"changes": "5", "score": "1"}, {"name": b"\xff\xfe"}],
)  # fmt: skip
def test_records_of_another_version_are_told_as_far_as_they_are_known(redis: redis_py.Redis, fields: dict) -> None:
    id_ = redis.xadd(keys.AUDIT, fields)
    redis.zadd(keys.AUDIT_INDEX, {b"o:op1\0redrive\0\0" + id_: 0, b"j:x\0" + id_: 0, b"d:%064d\0%s" % (0, id_): 0})
    log = log_of(dead_letters(redis))
    for (record,) in (log.of_operation("op1"), log.of_jid("x"), log.of_digest("0" * 64)):
        assert (record.id, record.score, record.changes) == (id_.decode(), None, ())


def test_a_record_that_the_stream_did_not_take_still_says_done(redis: redis_py.Redis) -> None:
    queue, raw = dead_letters(redis), letter(1)
    queue.add(DIED, [raw])
    redis.xadd(keys.AUDIT, {"x": "y"}, id=f"{2**64 - 1}-{2**64 - 1}")
    ref = Entry(raw, DIED).ref
    assert queue.redrive_entries([ref], operation="op1").done
    record = log_of(queue).recorded("op1", "redrive", ref.digest)
    assert record == Record("0-0", "redrive", "op1", ref.digest)
    assert record.at is None
    assert log_of(queue).of_digest(ref.digest) == log_of(queue).of_jid(jid(1)) == []


def test_without_a_log_nothing_is_recorded(redis: redis_py.Redis) -> None:
    """The only keys then are JoobQ's own; an operation has no effect."""
    queue = DeadLetterQueue(redis)
    queue.add(DIED, [letter(1), letter(2), letter(3), letter(4, "other")])
    redis.set(keys.retry_lock(jid(1).encode()), "x")
    assert queue.redrive([jid(1)], by=ANN, operation="op1").done
    assert queue.purge([jid(2)], by=ANN, operation="op1").done
    assert queue.redrive([jid(1)], by=ANN, operation="op1").missing
    assert queue.purge_all("other", operation="op1") == 1
    assert set(redis.keys()) == {keys.DEAD, keys.COUNTS, b"emails"}
    assert queue.purge_all(operation="op1") == 1
    assert redis.keys() == [b"emails"]


def test_what_is_pushed_stands_in_no_record(redis: redis_py.Redis) -> None:
    """A record holds digests and the replaced values: no argument of the job, no error."""
    queue = dead_letters(redis)
    queue.add(DIED, [letter(1, card="4242 4242", error={"message": "SECRET"})])
    queue.redrive([jid(1)], by=ANN, operation="op1")
    whole = json.dumps([[str(value) for value in record.values()] for _, record in redis.xrange(keys.AUDIT)])
    assert "4242" not in whole
    assert "SECRET" not in whole
