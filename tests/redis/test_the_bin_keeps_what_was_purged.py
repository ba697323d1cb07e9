"""A purge can be undone for a while, with exactly the bytes and the score. The bin drops nothing to make room."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import redis as redis_py

from joobq_admin.joobq import bin as bin_module
from joobq_admin.joobq import keys, scripts
from joobq_admin.joobq.bin import Bin
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.entry import Entry
from joobq_admin.joobq.outcome import Refusal
from tests.support.database import changed, contents
from tests.support.eventually import eventually
from tests.support.letters import DIED, NO_TIME, digest, letter, real_letters
from tests.support.operators import ANN, BOB, dead_letters, told
from tests.support.trips import sends


@pytest.fixture(autouse=True)
def adds_up(redis: redis_py.Redis) -> Iterator[None]:
    """After each test: `bytes` is the sum, and each binned entry has its time."""
    yield
    if redis.type(keys.BIN) == b"hash":
        values = redis.hgetall(keys.BIN)
        assert int(values.pop(b"bytes", 0)) == sum(map(len, values.values()))
        assert set(redis.zrange(keys.BIN_TIMES, 0, -1)) == values.keys()


def bin_of(queue: DeadLetterQueue) -> Bin:
    assert queue.bin is not None
    return queue.bin


def test_the_real_entries_come_back_byte_for_byte(redis: redis_py.Redis) -> None:
    queue = dead_letters(redis)
    for real in real_letters():
        redis.zadd(keys.DEAD, {real.raw: real.score})
    assert queue.counts().exact
    before = contents(redis)
    refs = [entry.ref for entry in queue.page(limit=100)]
    assert told(queue.purge_entries(refs, by=ANN, operation="op1")) == {"done": refs}
    assert redis.zcard(keys.DEAD) == 0
    digests = [ref.digest for ref in refs]
    assert told(queue.restore(digests, by=BOB, operation="op2")) == {"done": digests}
    after = contents(redis)
    assert changed(before, after) == {keys.AUDIT, keys.AUDIT_INDEX, keys.BIN}  # of the bin its size is left: 0
    assert redis.hgetall(keys.BIN) == {b"bytes": b"0"}


@pytest.mark.parametrize("score", ["+inf", "-inf", "0", "-1.5", "0.1", "1e300", "5e-324", "1795955390586.25",
                                   "9007199254740993"])  # fmt: skip
@pytest.mark.parametrize("raw", [b"", b"\0", b"\n", b"a\nb", b'{"queue":"emails"}\n', b"\xff\xfe", b" 1 2 {}\n"])
def test_any_bytes_with_any_score(redis: redis_py.Redis, score: str, raw: bytes) -> None:
    queue = dead_letters(redis)
    redis.execute_command("ZADD", keys.DEAD, score, raw)
    stored = redis.execute_command("ZSCORE", keys.DEAD, raw)
    (entry,) = queue.page()
    assert queue.purge_entries([entry.ref], operation="op1").done
    assert bin_of(queue).get([entry.digest])[entry.digest].entry == entry
    assert queue.restore([entry.digest], operation="op2").done
    assert redis.execute_command("ZSCORE", keys.DEAD, raw) == stored
    assert redis.zrange(keys.DEAD, 0, -1) == [raw]


def test_a_binned_entry_tells_who_when_and_why(redis: redis_py.Redis) -> None:
    queue, raw = dead_letters(redis), letter(1)
    queue.add(NO_TIME, [raw])
    queue.purge_entries([Entry(raw, NO_TIME).ref], by=ANN, reason='no "use"\n', operation="op1")
    binned = bin_of(queue).get([digest(raw), "0" * 64])
    assert list(binned) == [digest(raw)]
    (one,) = binned.values()
    assert one.entry == Entry(raw, NO_TIME)
    assert (one.by, one.name, one.reason, one.operation) == (ANN.id, ANN.name, 'no "use"\n', "op1")
    assert abs((one.purged_at - datetime.now(UTC)).total_seconds()) < 60
    assert bin_of(queue).get([]) == {}


def test_of_records_it_says_which_purges_can_be_undone(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = dead_letters(redis)
    queue.add(DIED, [letter(n) for n in range(6)])
    refs = [Entry(letter(n), DIED).ref for n in range(6)]
    queue.purge_entries(refs[:3], by=ANN, operation="three")
    queue.purge_entries(refs[3:4], by=ANN, operation="back")
    queue.restore([refs[3].digest, refs[2].digest], by=ANN, operation="restore")
    queue.purge_entries(refs[3:4], by=ANN, operation="again")
    queue.purge_entries(refs[4:5], by=ANN, operation="for-good", for_good=True)
    queue.redrive_entries(refs[5:], by=ANN, operation="redrive")
    assert queue.audit
    records, bin_ = queue.audit.page(limit=100).records, bin_of(queue)
    assert bin_.copies("three").keys() == {ref.digest for ref in refs[:2]}
    with sends(redis) as count:
        told = bin_.undoable(records)
    assert count() == 1
    ids = {(record.operation, record.digest): record.id for record in records}
    three = {ids["three", ref.digest]: 2 for ref in refs[:2]}
    assert told == three | {ids["again", refs[3].digest]: 1}
    assert bin_.undoable([]) == {}
    assert bin_.copies("back") == bin_.copies("for-good") == bin_.copies("none") == {}
    with monkeypatch.context() as few:
        few.setattr(bin_module, "LOOK_STEP", 1)
        assert bin_.copies("three").keys() == {ref.digest for ref in refs[:2]}
        assert bin_.undoable(records) == dict.fromkeys(told)


def test_whose_a_copy_is_is_told_without_reading_it(redis: redis_py.Redis) -> None:
    """A copy may be as large as the bin."""
    queue, large = dead_letters(redis), letter(1, pad="x" * 8_000_000)
    queue.add(DIED, [large])
    queue.purge_entries([Entry(large, DIED).ref], by=ANN, operation="op1")
    redis.config_resetstat()
    assert bin_of(queue).copies("op1").keys() == {digest(large)}
    assert not {f"cmdstat_{name}" for name in ("hget", "hmget", "hgetall")} & redis.info("commandstats").keys()


def test_a_log_that_no_clock_has_written_takes_no_copy_from_its_purge(redis: redis_py.Redis) -> None:
    for last in ("9999999999999-1", f"{2**64 - 1}-{2**64 - 1}"):
        redis.flushall()
        queue = dead_letters(redis)
        redis.xadd(keys.AUDIT, {"x": "y"}, id=last)
        queue.add(DIED, [letter(1)])
        queue.purge_entries([Entry(letter(1), DIED).ref], by=ANN, operation="op1")
        (at,) = bin_of(queue).copies("op1").values()
        assert abs((at - datetime.now(UTC)).total_seconds()) < 60


def test_a_full_bin_refuses_and_drops_nothing(redis: redis_py.Redis) -> None:
    queue = dead_letters(redis)
    letters = [letter(n) for n in range(30)]
    queue.add(DIED, letters)
    refs = [Entry(raw, DIED).ref for raw in letters]
    assert queue.purge_entries(refs[:1], operation="op1").done
    one = int(redis.hget(keys.BIN, "bytes"))
    small = dead_letters(redis, room=one * 10 + 50)
    outcome = small.purge_entries(refs, operation="op1")
    assert outcome.done == tuple(refs[:10])
    assert [refused.reason for refused in outcome.refused] == [Refusal.BIN_FULL] * 20
    assert int(redis.hget(keys.BIN, "bytes")) <= one * 10 + 50
    assert redis.zcard(keys.DEAD) == 20
    assert redis.xlen(keys.AUDIT) == 10

    before = contents(redis)
    assert [refused.reason for refused in small.purge_entries(refs[10:], operation="op1").refused] == ["BIN_FULL"] * 20
    assert contents(redis) == before
    assert small.restore([refs[0].digest], operation="op2").done  # room again, for one
    again = small.purge_entries(refs[10:], operation="op1")
    assert (len(again.done), len(again.refused)) == (1, 19)


def test_room_to_the_byte(redis: redis_py.Redis) -> None:
    queue, raw = dead_letters(redis), letter(1)
    queue.add(DIED, [raw])
    assert queue.purge_entries([Entry(raw, DIED).ref], operation="op1").done
    size = int(redis.hget(keys.BIN, "bytes"))
    assert queue.restore([digest(raw)]).done
    tight = dead_letters(redis, room=size - 1)
    assert tight.purge_entries([Entry(raw, DIED).ref], operation="op2").refused
    assert dead_letters(redis, room=size).purge_entries([Entry(raw, DIED).ref], operation="op2").done


def test_the_same_bytes_purged_again_stand_there_once(redis: redis_py.Redis) -> None:
    queue, raw = dead_letters(redis), letter(1)
    for number, score in enumerate((DIED, NO_TIME, DIED + 5)):
        queue.add(score, [raw])
        assert queue.purge_entries([Entry(raw, score).ref], reason="x" * number, operation=f"op{number}").done
    assert redis.zcard(keys.BIN_TIMES) == 1
    (one,) = bin_of(queue).get([digest(raw)]).values()
    assert (one.entry.score, one.reason, one.operation) == (DIED + 5, "xx", "op2")
    room = int(redis.hget(keys.BIN, "bytes"))
    queue.add(DIED, [raw])  # what it replaces makes room for it
    assert dead_letters(redis, room=room).purge_entries([Entry(raw, DIED).ref], operation="op9").done


def test_a_restore_of_what_came_back_meanwhile_counts_once(redis: redis_py.Redis) -> None:
    queue, raw = dead_letters(redis), letter(1)
    queue.add(DIED, [raw, letter(2)])
    queue.purge_entries([Entry(raw, DIED).ref], operation="op1")
    queue.add(NO_TIME, [raw])
    assert told(queue.restore([digest(raw)], by=ANN, operation="op2")) == {"done": [digest(raw)]}
    assert redis.zscore(keys.DEAD, raw) == NO_TIME  # it stays as it is
    assert redis.hgetall(keys.COUNTS) == {b"emails": b"2"}
    assert redis.hexists(keys.BIN, digest(raw)) == 0
    _, record = redis.xrevrange(keys.AUDIT, count=1)[0]
    assert (record[b"there"], record[b"score"]) == (b"1", b"604800")
    after = contents(redis)
    assert told(queue.restore([digest(raw)], by=ANN, operation="op2")) == {"done": [digest(raw)]}
    assert told(queue.restore([digest(raw)], by=ANN, operation="op3")) == {"missing": [digest(raw)]}
    assert contents(redis) == after


def test_after_its_time_it_is_missing(redis: redis_py.Redis) -> None:
    queue, raw = dead_letters(redis, keep=timedelta(milliseconds=150)), letter(1)
    queue.add(DIED, [raw, letter(2)])
    queue.purge_entries([Entry(raw, DIED).ref], operation="op1")
    assert redis.zcard(keys.BIN_TIMES) == 1
    eventually(lambda: scripts.send(redis, [bin_of(queue).trim_call()]) == [1])
    assert told(queue.restore([digest(raw)], operation="op2")) == {"missing": [digest(raw)]}
    assert redis.zrange(keys.DEAD, 0, -1) == [letter(2)]


def test_what_is_old_goes_behind_the_next_purge_the_rest_stays(redis: redis_py.Redis) -> None:
    queue = dead_letters(redis)
    letters = [letter(n) for n in range(6)]
    queue.add(DIED, letters)
    queue.purge_entries([Entry(raw, DIED).ref for raw in letters[:5]], operation="op1")
    old = [digest(raw) for raw in letters[:3]]
    redis.zadd(keys.BIN_TIMES, dict.fromkeys(old, redis.time()[0] * 1000 - 86_400_000 - 1))
    queue.purge_entries([Entry(letters[5], DIED).ref], operation="op2")
    assert set(redis.zrange(keys.BIN_TIMES, 0, -1)) == {digest(raw).encode() for raw in letters[3:]}


def test_trimming_goes_in_steps_of_entries_and_bytes(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = dead_letters(redis)
    letters = [letter(n) for n in range(60)]
    queue.add(DIED, letters)
    queue.purge_entries([Entry(raw, DIED).ref for raw in letters], operation="op1")
    redis.zadd(keys.BIN_TIMES, {digest(raw): n for n, raw in enumerate(letters)})
    monkeypatch.setattr(bin_module, "TRIM_STEP", 25)
    assert scripts.send(redis, [bin_of(queue).trim_call()]) == [25]
    assert set(redis.zrange(keys.BIN_TIMES, 0, -1)) == {digest(raw).encode() for raw in letters[25:]}
    monkeypatch.setattr(bin_module, "TRIM_BYTES", 1)
    assert scripts.send(redis, [bin_of(queue).trim_call()]) == [1]  # the one that passes the limit still goes
    monkeypatch.setattr(bin_module, "TRIM_BYTES", 1 << 20)
    assert [scripts.send(redis, [bin_of(queue).trim_call()])[0] for _ in range(3)] == [25, 9, 0]


NOT_OURS = [b"", b"no newline", b"\n{}", b"x 1 {}\n{}", b"1 x {}\n{}", b"nan? 1 {}\n{}", b"nan 1 {}\n{}",
            b"9" * 5_000 + b" 1 {}\n{}"]  # fmt: skip


@pytest.mark.parametrize("value", NOT_OURS)
def test_a_value_that_is_not_ours_is_left_alone(redis: redis_py.Redis, value: bytes) -> None:
    name = digest(b"{}")
    redis.hset(keys.BIN, mapping={name: value, "bytes": len(value)})
    redis.zadd(keys.BIN_TIMES, {name: 2**52})
    before = contents(redis)
    queue = dead_letters(redis)
    assert bin_of(queue).get([name]) == {}
    assert [refused.reason for refused in queue.restore([name], operation="op1").refused] == [Refusal.BIN_BROKEN]
    assert contents(redis) == before


def test_without_a_bin_a_purge_is_for_good(redis: redis_py.Redis) -> None:
    with_bin = dead_letters(redis)
    queue = DeadLetterQueue(redis, with_bin.audit)
    queue.add(DIED, [letter(1)])
    assert queue.purge_entries([Entry(letter(1), DIED).ref], operation="op1").done
    assert redis.exists(keys.BIN, keys.BIN_TIMES) == 0
    _, record = redis.xrevrange(keys.AUDIT, count=1)[0]
    assert record[b"bin"] == b"0"
    assert told(with_bin.restore([digest(letter(1))])) == {"missing": [digest(letter(1))]}


def test_many_are_restored_in_one_call(redis: redis_py.Redis) -> None:
    queue = dead_letters(redis)
    letters = [letter(n, "a" if n % 2 else "b") for n in range(130)]
    queue.add(DIED, letters)
    queue.purge_entries([Entry(raw, DIED).ref for raw in letters], operation="op1")
    digests = [*map(digest, letters), "0" * 64]
    assert told(queue.restore(digests, operation="op2")) == {"done": digests[:-1], "missing": digests[-1:]}
    assert redis.hgetall(keys.COUNTS) == {b"a": b"65", b"b": b"65"}
    assert redis.zcard(keys.DEAD) == 130
