"""The 76 dead letters that real workers wrote."""

import json
import time
from datetime import UTC, datetime

import redis as redis_py

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import EntryRef, Kind
from joobq_admin.joobq.outcome import Refused
from tests.support.database import changed, contents
from tests.support.letters import EXPIRES, NO_TIME, Real, real_letters
from tests.support.operators import ANN, dead_letters

LETTERS = real_letters()
KINDS = {
    "retry_exhaustion RedisStore.move_to_dead_letter": Kind.JOB,
    "ErrorHandler.send_to_dead_letter": Kind.JOB,
    "timeout_middleware DeadLetterManager.add": Kind.EXPIRED,
    "expired_job_reaper": Kind.EXPIRED,
    "worker.move_unparseable_job_to_dead_letter": Kind.PLACEHOLDER,
}
HOUR = 3_600_000


def fill(redis: redis_py.Redis) -> None:
    """As JoobQ 0.4.2 does it: nothing is counted."""
    for letter in LETTERS:
        redis.zadd(keys.DEAD, {letter.raw: letter.score})


def test_all_are_listed_newest_first(redis: redis_py.Redis) -> None:
    fill(redis)
    stored = [raw for raw, _ in redis.zrevrange(keys.DEAD, 0, -1, withscores=True)]
    assert len(stored) == len(LETTERS) == 76
    queue = dead_letters(redis)
    assert [entry.raw for entry in queue.page(limit=100)] == stored
    assert [entry.raw for entry in queue.walk(limit=100).entries] == stored
    scores = {letter.raw: letter.entry.score for letter in LETTERS}
    assert {entry.raw: entry.score for entry in queue.page(limit=100)} == scores


def test_each_has_the_kind_and_the_time_that_its_writer_gave_it(redis: redis_py.Redis) -> None:
    fill(redis)
    entries = {entry.raw: entry for entry in dead_letters(redis).page(limit=100)}
    for letter in LETTERS:
        entry = entries[letter.raw]
        assert entry.kind is KINDS[letter.path]
        if entry.score == NO_TIME:
            failed_at = json.loads(letter.raw.decode(errors="replace"))["error"]["failed_at"]
            assert entry.died_at == datetime.strptime(failed_at, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
            assert entry.died_at_source == "error.failed_at"
        else:
            assert entry.died_at is not None
            assert round(entry.died_at.timestamp() * 1000) == int(letter.score)
            assert entry.died_at_source == "score"


def test_each_is_opened_by_its_identity_in_full_or_short(redis: redis_py.Redis) -> None:
    fill(redis)
    before, queue = contents(redis), dead_letters(redis)
    for letter in LETTERS:
        ref = letter.entry.ref
        for jid in (ref.jid, None):
            for digest in (ref.digest, ref.digest[:16]):
                found = queue.look_up(EntryRef(ref.score, digest, jid))
                assert found is not None
                assert found.raw == letter.raw
    assert contents(redis) == before


def test_each_is_redriven_with_the_expected_bytes_or_refused_for_the_expected_reason(redis: redis_py.Redis) -> None:
    """One press an entry: what moved, and that nothing else did."""
    fill(redis)
    queue, redriven, refused = dead_letters(redis), 0, 0
    assert queue.counts().exact  # the hash is filled
    for letter in LETTERS:
        entry, now = letter.entry, int(time.time() * 1000)
        lock = keys.retry_lock((entry.jid or "").encode())
        redis.set(lock, "retrying", ex=100)
        before, said = contents(redis), queue.refusal(entry)
        outcome = queue.redrive_entries([entry.ref], by=ANN, reason="again", operation=f"press-{entry.digest[:8]}")
        after = contents(redis)
        if letter.pushed is None:
            assert said == Refused(entry.ref, outcome.refused[0].reason, outcome.refused[0].detail)
            assert outcome.refused[0].reason == letter.refusal
            assert after == before
            refused += 1
            continue
        assert outcome.done == (entry.ref,)
        assert said is None
        assert changed(before, after) == {
            keys.DEAD, keys.COUNTS, keys.AUDIT, keys.AUDIT_INDEX, letter.queue.encode(), lock
        }  # fmt: skip
        check_the_move(redis, letter, now)
        redriven += 1
    assert (redriven, refused) == (67, 9)
    assert redis.zcard(keys.DEAD) == 9
    assert {q: n for q, n in queue.counts().items() if n} == still_there()


def check_the_move(redis: redis_py.Redis, letter: Real, now: int) -> None:
    entry, pushed = letter.entry, redis.lindex(letter.queue, -1)  # the right end runs next
    assert letter.pushed is not None
    head, tail = letter.pushed.split(EXPIRES)
    assert pushed.startswith(head)
    assert pushed.endswith(tail)
    expires = int(pushed[len(head) : len(pushed) - len(tail)])
    if entry.expires is not None and entry.expires >= now + HOUR:
        assert expires == entry.expires
    else:
        assert now + 72 * HOUR <= expires <= now + 73 * HOUR
    assert redis.zscore(keys.DEAD, letter.raw) is None
    assert not redis.exists(keys.retry_lock((entry.jid or "").encode()))
    ((id_, record),) = redis.xrevrange(keys.AUDIT, count=1)
    wanted = {b"action": b"redrive", b"digest": entry.digest.encode(), b"jid": (entry.jid or "").encode(),
              b"queue": letter.queue.encode(), b"by": b"u-1", b"name": ANN.name.encode(), b"reason": b"again",
              b"score": str(entry.score).encode()}  # fmt: skip
    assert wanted.items() <= record.items()
    job = entry.job_key
    members = [f"s:press-{entry.digest[:8]}\0{job}"] if job else []
    members += [f"o:press-{entry.digest[:8]}\0redrive\0{entry.digest}", f"d:{entry.digest}", f"j:{entry.jid}"]
    for member in members:
        assert redis.zscore(keys.AUDIT_INDEX, member.encode() + b"\0" + id_) == 0


def still_there() -> dict[str, int]:
    left: dict[str, int] = {}
    for letter in LETTERS:
        if letter.pushed is None:
            left[letter.entry.queue] = left.get(letter.entry.queue, 0) + 1
    return left
