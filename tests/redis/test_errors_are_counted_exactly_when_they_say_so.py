"""Random writers between any two calls of a count by error: whenever it says exact, every number of it is right."""

import random
from collections import Counter
from datetime import UTC, datetime
from math import inf
from typing import Any

import pytest
import redis as redis_py

from joobq_admin.joobq import keys, tally
from joobq_admin.joobq.entry import Entry, read_score
from joobq_admin.triage import error_tally, groups
from joobq_admin.triage.error_tally import ErrorTally
from joobq_admin.triage.fingerprint import fingerprint
from joobq_admin.triage.groups import HOURS, Group, Groups, groups_of
from joobq_admin.triage.redact import Redaction
from tests.support.letters import ERROR, NO_TIME, jid, letter
from tests.support.operators import dead_letters
from tests.support.servers import Server
from tests.support.writers import Writers, interrupted

SEEDS = [*range(24), 1234]  # the last joins a block with one that has always been empty
REDACTION = Redaction()
CLOCK = 1_769_000_000_000  # where the writers begin, unix ms
MESSAGES = ["limit of merchant {} reached", "Read timed out", "no user '{}'", "password=hunter{} is wrong"]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing that depends on time: these trials are the same each time."""
    for name, value in {"BLOCK": 20, "SURVEY": 5, "GRACE": 300, "GRACE_TIME": inf, "BYTES": 1 << 14}.items():
        monkeypatch.setattr(tally, name, value)


class Deaths(Writers):
    """Jobs that die again and again, of a few errors; some without a time, some of which it is told by the error."""

    def member(self) -> bytes:
        self.written += 1
        dice = self.random
        at = datetime.fromtimestamp(CLOCK / 1000 - dice.choice((0, 90, 3_599, 40_000, 86_399, 90_000)), UTC)
        message = dice.choice(MESSAGES).format(dice.randrange(9))
        error = {**ERROR, "failed_at": at.isoformat(), "message": message, "error_class": dice.choice(("A", "B"))}
        fields: dict[str, Any] = {"error": dice.choice((error, error, error, None)), "n": self.written}
        if dice.random() < 0.1:
            return dice.choice((b"%d", b'{"n":%d}', b'{"original_job_data":%d}')) % self.written
        return letter(jid(dice.randrange(60)), dice.choice(("emails", "réports", "")), **fields)


def plainly(redis: redis_py.Redis, as_of: datetime) -> dict[str, Group]:
    """The errors, by reading all entries into Python."""
    found = [Entry(raw, read_score(b"%.17g" % score)) for raw, score in redis.zrange(keys.DEAD, 0, -1, withscores=True)]
    deaths, of = Counter(entry.job_key for entry in found if entry.job_key), dict[str, list[Entry]]()
    for entry in found:
        of.setdefault(fingerprint(entry, REDACTION).id, []).append(entry)
    groups = {}
    for name, entries in of.items():
        seconds = [int(entry.died_at.timestamp()) for entry in entries if entry.died_at]
        ago = [int(as_of.timestamp()) - at for at in seconds]
        groups[name] = Group(
            error=fingerprint(entries[0], REDACTION),
            count=len(entries),
            queues=tuple(sorted(Counter(entry.queue for entry in entries).items())),
            first=datetime.fromtimestamp(min(seconds), UTC) if seconds else None,
            last=datetime.fromtimestamp(max(seconds), UTC) if seconds else None,
            again=sum(deaths[entry.job_key] > 1 for entry in entries if entry.job_key),
            hours=tuple(sum(3600 * n <= back < 3600 * (n + 1) for back in ago) for n in reversed(range(HOURS))),
        )
    return groups


def told(groups: Groups) -> dict[str, Group]:
    return {
        group.error.id: Group(
            **{name: getattr(group, name) for name in ("error", "count", "first", "last", "again", "hours")},
            queues=tuple(sorted(group.queues)),
        )
        for group in groups.groups
    }


def agree(found: Groups, redis: redis_py.Redis, where: object) -> None:
    want = plainly(redis, found.as_of)
    assert told(found).keys() == want.keys(), where
    for name, group in told(found).items():
        # parts name what was set aside as it was in the first that was seen
        assert [getattr(group, field) for field in Group.__slots__ if field != "error"] == [
            getattr(want[name], field) for field in Group.__slots__ if field != "error"
        ], where


def summed(counted: ErrorTally) -> Groups:
    """As if it had been counted when the writers began to write."""
    return groups_of(counted, counted.total, datetime.fromtimestamp(CLOCK / 1000 + 30, UTC))


@pytest.mark.parametrize("batch", range(2))
def test_random_writers_between_any_two_calls(server: Server, batch: int) -> None:
    seen = Counter[str]()
    for seed in SEEDS[batch::2]:
        one_trial(server, seed, seen)
    assert min(seen["exact"], seen["complete"], seen["partial"]) > 2
    assert seen["complete, other names"], "the trials must be hard enough to tell complete from exact"


def one_trial(server: Server, seed: int, seen: Counter[str]) -> None:
    server.client.flushall()
    dice = random.Random(seed)
    writers = Deaths(server.client, seed, legacy=0.33)
    for _ in range(dice.choice((0, 5, 100, 300))):
        writers.write()
    client = interrupted(server.port, writers)
    counted = ErrorTally(dead_letters(client), REDACTION)
    for step in range(5):
        writers.busy = dice.choice((0, 0.02, 0.1, 0.3))
        counted.refresh(budget=dice.choice((100, 400, 1500, 1500)), prove=dice.random() < 0.7)
        writers.busy = 0
        found = summed(counted)
        assert sum(group.count for group in found.groups) == found.counted == counted.total, (seed, step)
        if found.exact:
            seen["exact"] += 1
            agree(found, server.client, (seed, step))
        elif found.complete:
            seen["complete"] += 1
            seen["complete, other names"] += told(found) != plainly(server.client, found.as_of)
            assert found.total == server.client.zcard(keys.DEAD), (seed, step)
        else:
            seen["partial"] += 1
        for _ in range(dice.choice((0, 0, 1, 5, 50))):
            writers.write()
        if dice.random() < 0.04:
            server.client.unlink(keys.DEAD, keys.COUNTS)
    assert counted.refresh()
    assert counted.exact, seed
    agree(summed(counted), server.client, seed)
    client.close()


def test_jobs_that_died_again_are_found_in_parts(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "JOBS", 16)
    members = {letter(n % 90, death=n): CLOCK + n for n in range(120)}
    redis.zadd(keys.DEAD, members | {b'{"n":1}': 1, b'{"n":2}': 2, letter(5).replace(b'"0', b'"urn:uuid:0'): 3})
    counted = ErrorTally(dead_letters(redis), REDACTION)
    assert counted.refresh()
    found = summed(counted)
    assert {group.again for group in found.groups} == {0, 61}
    agree(found, redis, "parts")


def test_a_time_beyond_its_room_is_the_last_that_has_some(redis: redis_py.Redis) -> None:
    redis.zadd(keys.DEAD, {letter(1): 9e13, letter(2, error=ERROR | {"failed_at": "1931-01-01T00:00:00Z"}): NO_TIME})
    counted = ErrorTally(dead_letters(redis), REDACTION)
    counted.refresh()
    assert sorted(row[2] for block in counted.blocks for row in block.names) == [
        error_tally.NEVER,
        error_tally.DOOMSDAY,
    ]


def test_an_error_that_came_too_late_stays_among_others(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else it would be told apart, and only what came of it since then would be counted."""
    monkeypatch.setattr(error_tally, "MOST_ERRORS", 2)
    first, second, *third = (letter(n, error=ERROR | {"message": "abcc"[n]}) for n in range(4))
    redis.zadd(keys.DEAD, {first: CLOCK, second: CLOCK + 1, third[0]: CLOCK + 2})
    counted = ErrorTally(dead_letters(redis), REDACTION)
    counted.refresh()
    assert (len(summed(counted).groups), summed(counted).others) == (2, 1)
    redis.zrem(keys.DEAD, first)
    counted.refresh()
    assert (len(summed(counted).groups), summed(counted).others) == (1, 1)
    redis.zadd(keys.DEAD, {third[1]: CLOCK + 3})
    counted.refresh()
    assert (len(summed(counted).groups), summed(counted).others) == (1, 2)
