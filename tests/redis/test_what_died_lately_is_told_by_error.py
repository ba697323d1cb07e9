"""One error that makes up most of the last hour is told, with what it was counted from; and whether one goes on."""

from datetime import UTC, datetime, timedelta, tzinfo

import pytest
import redis as redis_py

from joobq_admin.joobq import keys
from joobq_admin.triage import lately
from joobq_admin.triage.lately import Lately, Look
from joobq_admin.triage.redact import Redaction
from tests.support.letters import ERROR, NO_TIME, digest, letter
from tests.support.operators import dead_letters
from tests.support.trips import sends

TIMEOUT, LIMIT = ERROR | {"message": "Read timed out"}, ERROR | {"message": "limit of merchant 7 reached"}


def now(redis: redis_py.Redis) -> int:
    seconds, micros = redis.time()
    return int(seconds * 1000 + micros // 1000)


def die(redis: redis_py.Redis, n: int, error: object, ago: float, queue: str = "emails") -> bytes:
    raw = letter(n, queue, error=error)
    redis.zadd(keys.DEAD, {raw: now(redis) - round(ago * 1000)})
    return raw


def look(redis: redis_py.Redis) -> Look:
    return Lately(dead_letters(redis), Redaction()).look()


def test_most_of_the_hour_is_one_error(redis: redis_py.Redis) -> None:
    for n in range(30):
        die(redis, n, TIMEOUT, 60 + n, "invoices" if n % 3 else "emails")
    for n in range(30, 50):
        die(redis, n, LIMIT, 61 + n)
    for n in range(50, 200):
        die(redis, n, LIMIT, 3_700 + n)
    redis.zadd(keys.DEAD, {letter(n, error=LIMIT): NO_TIME for n in range(200, 300)})
    incident = look(redis).incident
    assert incident is not None
    assert [part.text for part in incident.error.parts] == ["Read timed out"]
    assert (incident.count, incident.looked, incident.deaths, incident.percent) == (30, 50, 50, 60)
    assert incident.whole
    assert incident.queues == (("invoices", 20), ("emails", 10))
    assert abs(incident.first - datetime.now(UTC) + timedelta(seconds=89)) < timedelta(seconds=10)


def test_what_it_was_counted_from_is_said(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lately, "LOOK", 20)
    for n in range(60):
        die(redis, n, TIMEOUT if n < 15 else LIMIT, 60 + n)
    incident = look(redis).incident
    assert incident is not None
    assert (incident.count, incident.looked, incident.deaths, incident.percent) == (15, 20, 60, 75)
    assert not incident.whole


def test_a_look_ends_in_time_and_says_how_far_it_came(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lately, "SECONDS", 0)
    for n in range(20):
        die(redis, n, TIMEOUT, 60 + n)
    seen = look(redis)
    assert (len(seen.newest), seen.deaths, seen.incident) == (1, 20, None)
    arriving = seen.arriving(seen.newest[0].error)
    assert arriving is not None
    assert (arriving.count, arriving.whole) == (1, False)


@pytest.mark.parametrize(("of_one", "of_others"), [(9, 0), (12, 13), (0, 0)], ids=["few", "less than half", "nothing"])
def test_no_incident(redis: redis_py.Redis, of_one: int, of_others: int) -> None:
    for n in range(of_one + of_others):
        die(redis, n, TIMEOUT if n < of_one else ERROR | {"message": "other " + "abcdefghijklm"[n - of_one]}, 60 + n)
    assert look(redis).incident is None


def test_an_error_that_still_arrives(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = die(redis, 1, TIMEOUT, 10)
    for n in range(2, 5):
        die(redis, n, TIMEOUT, 60 * n)
    die(redis, 9, TIMEOUT, 400)
    seen = look(redis)
    error = seen.newest[0].error
    arriving = seen.arriving(error, besides=digest(mine))
    assert arriving is not None
    assert (arriving.count, arriving.whole) == (3, True)
    assert abs(arriving.last - datetime.now(UTC) + timedelta(seconds=120)) < timedelta(seconds=10)
    assert seen.arriving("1-0123456789abcdef") is None
    monkeypatch.setattr(lately, "LOOK", 2)
    assert (at_least := look(redis).arriving(error)) is not None
    assert (at_least.count, at_least.whole) == (2, False)


def test_what_is_dated_later_did_not_die_within_the_hour(redis: redis_py.Redis) -> None:
    for n in range(20):
        die(redis, n, TIMEOUT, -3_600 * (n + 1))
    die(redis, 20, LIMIT, -20)
    die(redis, 21, LIMIT, 400)
    seen = look(redis)
    assert (seen.deaths, seen.incident) == (2, None)
    arriving = seen.arriving(seen.newest[0].error)
    assert arriving is not None
    assert (arriving.count, arriving.last, arriving.whole) == (1, seen.as_of, True), "a clock is a little ahead"


@pytest.mark.parametrize("hours", [-2, 2])
def test_an_hour_is_one_of_the_servers_clock(
    redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    class Wrong(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            return datetime.now(tz) + timedelta(hours=hours)

    monkeypatch.setattr(lately, "datetime", Wrong)
    monkeypatch.setattr(lately, "LOOK_AGAIN", 0.0)
    for n in range(20):
        die(redis, n, TIMEOUT, 60)
    die(redis, 20, TIMEOUT, 3_700)
    kept = Lately(dead_letters(redis), Redaction())
    with sends(redis) as count:
        assert (kept.look().deaths, kept.look().deaths) == (20, 20)
    assert count() == 3, "it asks twice once"
    assert (seen := kept.look()).arriving(seen.newest[0].error) is not None


def test_it_is_looked_at_every_few_seconds_only(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Lately(dead_letters(redis), Redaction())
    first = kept.look()
    die(redis, 1, TIMEOUT, 10)
    assert kept.look() is first
    monkeypatch.setattr(lately, "LOOK_AGAIN", 0.0)
    assert Lately(dead_letters(redis), Redaction()).look().deaths == 1
