"""A job that is not dead is looked for where JoobQ keeps it, a few jobs deep, and nothing is said that was not seen."""

from datetime import UTC, datetime

from redis import Redis

from joobq_admin.joobq.queues import LOOK, Whereabouts, trace
from tests.support.letters import jid, letter

JOB, OTHER = letter(1), letter(2, about=jid(1))  # the other one only mentions it


def seen(redis: Redis) -> Whereabouts:
    return trace(redis, "emails", jid(1)).job


def test_nowhere(redis: Redis) -> None:
    redis.rpush("emails", OTHER)
    at = seen(redis)
    assert (at.waiting, at.place, at.processing, at.delayed, at.due, at.whole) == (1, None, False, False, None, True)


def test_next_to_run_is_the_right_end(redis: Redis) -> None:
    redis.rpush("emails", OTHER, JOB)
    assert seen(redis).place == 1
    redis.rpush("emails", OTHER)
    assert (seen(redis).place, seen(redis).waiting) == (2, 3)


def test_being_processed(redis: Redis) -> None:
    redis.lpush("joobq:processing:emails", OTHER, JOB)
    assert seen(redis).processing


def test_delayed_until(redis: Redis) -> None:
    redis.zadd("joobq:delayed_jobs", {OTHER: 1000, JOB: 1_795_955_390_000})
    at = seen(redis)
    assert at.delayed
    assert at.due == datetime.fromtimestamp(1_795_955_390, UTC)


def test_delayed_by_a_score_that_is_no_time(redis: Redis) -> None:
    redis.zadd("joobq:delayed_jobs", {JOB: 2000})
    at = seen(redis)
    assert at.delayed
    assert at.due is None


def test_too_deep_to_be_seen_is_told(redis: Redis) -> None:
    redis.rpush("emails", JOB, *([OTHER] * LOOK))
    at = seen(redis)
    assert (at.place, at.whole) == (None, False)
    redis.lpop("emails")
    assert seen(redis).whole


def test_too_many_in_processing_or_delayed_is_told_too(redis: Redis) -> None:
    redis.rpush("joobq:processing:emails", *([OTHER] * LOOK), JOB)
    at = seen(redis)
    assert (at.processing, at.whole) == (False, False)
    redis.delete("joobq:processing:emails")
    redis.zadd("joobq:delayed_jobs", {letter(2, n=n): n for n in range(LOOK)} | {JOB: LOOK})
    at = seen(redis)
    assert (at.delayed, at.whole) == (False, False)
    redis.zpopmin("joobq:delayed_jobs")
    at = seen(redis)
    assert (at.delayed, at.whole) == (True, True)


def test_large_jobs_end_the_look(redis: Redis) -> None:
    large = letter(3, text="x" * 2_000_000)
    redis.rpush("emails", JOB, large, letter(4))
    at = seen(redis)
    assert (at.waiting, at.place, at.whole) == (3, None, False)
    redis.delete("emails")
    redis.zadd("joobq:delayed_jobs", {large: 1, JOB: 2})
    at = seen(redis)
    assert (at.delayed, at.whole) == (False, False)


def test_keys_of_other_types(redis: Redis) -> None:
    for key in ("emails", "joobq:processing:emails", "joobq:delayed_jobs"):
        redis.set(key, JOB)
    at = seen(redis)
    assert (at.waiting, at.place, at.processing, at.delayed) == (None, None, False, False)
