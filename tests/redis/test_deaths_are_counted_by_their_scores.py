"""Between any edges, in one moment, without reading an entry."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
import redis as redis_py

from joobq_admin.joobq import keys
from joobq_admin.joobq.spread import spread
from joobq_admin.triage.lately import Lately
from joobq_admin.triage.redact import Redaction
from joobq_admin.triage.trend import Period, edges, trend
from tests.support.letters import DIED, NO_TIME, letter
from tests.support.operators import dead_letters
from tests.support.servers import KINDS, Server

NOW = datetime.fromtimestamp(DIED / 1000, UTC)


def test_any_edges(redis: redis_py.Redis) -> None:
    dice = random.Random(3)
    scores = [
        dice.choice((NO_TIME, -1, 0.5, DIED, DIED + 0.5, 9e15, float("inf"), dice.randrange(100))) for _ in range(200)
    ]
    redis.zadd(keys.DEAD, {b"%d" % n: score for n, score in enumerate(scores)})
    for _ in range(20):
        edges = sorted(
            dice.sample([-5, 0, 0.5, 10, 50, NO_TIME, DIED, DIED + 0.5, DIED + 1, 1e15], dice.randrange(1, 6))
        )
        found = spread(redis, edges)
        between = [sum(low <= score < high for score in scores) for low, high in pairwise(edges)]
        assert list(found.between) == between
        assert (found.below, found.total) == (sum(score < edges[0] for score in scores), 200)
        assert found.beyond == sum(score >= edges[-1] for score in scores)
    assert abs(found.as_of - datetime.now(UTC)) < timedelta(seconds=10)


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_server_tells_as_much(new_server: Callable[..., Server], kind: str) -> None:
    redis = new_server(kind).client
    redis.zadd(keys.DEAD, {letter(n): DIED + n for n in range(10)})
    redis.config_set("maxmemory", "1")
    with pytest.raises(redis_py.exceptions.OutOfMemoryError):
        redis.set("more", "x" * 1_000)
    assert spread(redis, [DIED, DIED + 5]).between == (5,)
    assert Lately(dead_letters(redis), Redaction()).look().newest == ()


@pytest.mark.parametrize("period", Period)
def test_a_trend_of_all_that_is_here(redis: redis_py.Redis, period: Period) -> None:
    ago = {"now": 0, "an hour": 3_600, "a day": 86_400, "a week": 7 * 86_400, "a year": 365 * 86_400, "ahead": -90_000}
    members = {letter(n): DIED - seconds * 1000 for n, seconds in enumerate(ago.values())}
    redis.zadd(keys.DEAD, {**members, letter(90): NO_TIME, letter(91): NO_TIME, b"beyond": 1e16})
    told = trend(spread(redis, edges(period, NOW)), period, NOW)
    within = {Period.DAY: 2, Period.WEEK: 3, Period.MONTH: 4}[period]
    assert told.died == within
    assert (told.ahead, told.undated, told.total) == (1, 3, 9)
    assert told.before == 5 - within
    for slot in told.slots:
        died = [
            score
            for score in members.values()
            if slot.since.timestamp() * 1000 <= score < slot.until.timestamp() * 1000
        ]
        assert slot.count == len(died)


def test_a_key_of_another_type_is_told(redis: redis_py.Redis) -> None:
    redis.set(keys.DEAD, "x")
    with pytest.raises(redis_py.ResponseError, match="WRONGTYPE"):
        spread(redis, [0])
