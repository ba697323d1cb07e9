"""No request reads more than it may: neither entries, nor bytes, nor whole sets for a rare queue."""

from dataclasses import dataclass, field
from functools import cache

import pytest
import redis as redis_py

from joobq_admin.joobq import keys, lookup
from joobq_admin.joobq.entry import Entry, EntryRef
from joobq_admin.joobq.lookup import BUDGET, CHUNK, REPLY_BYTES, Cursor
from tests.support.letters import DIED, NO_TIME, digest, jid, letter
from tests.support.operators import dead_letters, told

MANY = 6_000
LARGE = 1 << 19


@dataclass
class Read:
    """What came over the wire from the dead set."""

    entries: list[int] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Read:
    read, rows_of = Read(), lookup.rows_of

    def counted(reply):
        rows = rows_of(reply)
        read.entries.append(len(rows.entries))
        read.bytes.append(sum(len(entry.raw) for entry in rows.entries))
        return rows

    monkeypatch.setattr(lookup, "rows_of", counted)
    return read


@cache
def made() -> list[bytes]:
    return [letter(n, "rare" if n % 100 == 50 else "emails") for n in range(MANY)]


def fill(redis: redis_py.Redis) -> list[bytes]:
    """MANY entries, newest first; every 100th is of the queue `rare`."""
    members = made()
    for start in range(0, MANY, 1_000):
        redis.zadd(keys.DEAD, {raw: DIED - n for n, raw in enumerate(members[start : start + 1_000], start)})
    return members


@pytest.mark.parametrize("newer", [False, True])
def test_a_walk_stops_at_its_budget_and_goes_on_from_there(redis: redis_py.Redis, read: Read, newer: bool) -> None:
    fill(redis)
    queue, start = dead_letters(redis), Cursor(float("-inf")) if newer else None
    for budget in (1, 199, 200, 201, 1_000, BUDGET):
        read.entries.clear()
        page = queue.walk(start, 50, where=lambda entry: False, budget=budget, newer=newer)
        assert (page.entries, page.scanned, page.complete) == ((), budget, False)
        replies = -(-budget // CHUNK)
        assert len(read.entries) == replies
        assert sum(read.entries) == budget + replies  # each reply holds one more, to know the place behind the last
        further = queue.walk(page.newer if newer else page.older, 50, newer=newer)
        beyond = redis.zrange if newer else redis.zrevrange
        expected = beyond(keys.DEAD, budget, budget + 49)
        assert [entry.raw for entry in further.entries] == (expected[::-1] if newer else expected)


def test_a_rare_queue_ends_early_when_the_counts_are_exact(redis: redis_py.Redis, read: Read) -> None:
    members = [letter(n, "rare" if n in (3, 40) else "emails") for n in range(300)]
    redis.zadd(keys.DEAD, {raw: DIED - n for n, raw in enumerate(members)})
    queue = dead_letters(redis)
    assert queue.counts().exact
    page = queue.walk(queue="rare")
    assert [entry.raw for entry in page.entries] == [members[3], members[40]]
    assert (page.complete, page.older, page.scanned) == (True, None, CHUNK)
    assert read.entries == [CHUNK + 1]
    read.entries.clear()
    assert queue.walk(queue="no such queue").complete
    assert read.entries == []
    assert [entry.raw for entry in queue.walk(queue="rare", limit=1).entries] == [members[3]]
    rest = queue.walk(queue.walk(queue="rare", limit=1).older, queue="rare")
    assert [entry.raw for entry in rest.entries] == [members[40]]


def test_a_rare_queue_of_a_long_set_is_read_in_steps(redis: redis_py.Redis) -> None:
    members, queue = fill(redis), dead_letters(redis)
    found, cursor, steps = list[bytes](), None, 0
    while steps == 0 or cursor:
        page = queue.walk(cursor, 500, queue="rare", budget=1_000)
        assert page.scanned <= 1_000
        found, cursor, steps = found + [entry.raw for entry in page.entries], page.older, steps + 1
    assert found == [raw for raw in members if b'"rare"' in raw]
    assert steps == MANY / 1_000


def test_looking_for_what_is_gone_reads_a_bounded_part(redis: redis_py.Redis, read: Read) -> None:
    """At its score, at 604800 by the beginning of its bytes, and the newest 4,000."""
    fill(redis)
    redis.zadd(keys.DEAD, {letter(7, death=n): NO_TIME for n in range(1, 900)})
    queue = dead_letters(redis)
    for ref in (EntryRef(DIED, digest(b"gone"), jid(MANY + 1)), EntryRef(NO_TIME, digest(b"gone"), jid(7)),
                EntryRef(DIED, digest(b"gone"), None), EntryRef(1.5, digest(b"gone"), "x" * 2_000)):  # fmt: skip
        read.entries.clear()
        assert queue.look_up(ref) is None
        assert sum(read.entries) < 3 * BUDGET
        assert max(read.entries) <= CHUNK + 1
        read.entries.clear()
        assert next(iter(told(queue.redrive_entries([ref])))) in ("missing", "conflicts")
        assert sum(read.entries) < 3 * BUDGET
    read.entries.clear()
    assert len(queue.near(jid(7)).entries) == 900
    assert sum(read.entries) < 2 * BUDGET


def test_many_that_are_gone_share_one_budget(redis: redis_py.Redis, read: Read) -> None:
    """Deaths of three jobs that an upstream loop runs; none of those that are looked for."""
    for n in (7, 8, 9):
        redis.zadd(keys.DEAD, {letter(n, death=death): NO_TIME for death in range(3_000)})
    refs = [EntryRef(NO_TIME, digest(b"%d" % n), jid(n)) for n in (7, 8, 9)]
    assert lookup.find(redis, refs) == {}
    assert sum(read.entries) <= 2 * (BUDGET + CHUNK + 3 * lookup.FIRST_LOOK)  # so they begin, then in any other way


def test_a_walk_stops_after_so_many_bytes_too(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    members, queue = fill(redis), dead_letters(redis)
    monkeypatch.setattr(lookup, "BUDGET_BYTES", 3 * CHUNK * len(members[0]) - 1_000)
    page = queue.walk(where=lambda entry: False)
    assert (page.entries, page.scanned, page.complete) == ((), 3 * CHUNK, False)
    assert [entry.raw for entry in queue.walk(page.older, 3).entries] == members[3 * CHUNK :][:3]


def test_who_looks_near_is_told_where_to_look_on(redis: redis_py.Redis) -> None:
    """An older death lies below the newest 4,000; the walk from there finds it, and nothing twice."""
    members, queue = fill(redis), dead_letters(redis)
    older = [letter(9, death=n) for n in range(1, 4)]
    redis.zadd(keys.DEAD, dict.fromkeys(older, 5))
    near = queue.near(jid(9))
    assert near.entries == [Entry(members[9], DIED - 9)]
    assert near.older is not None
    found = queue.walk(near.older, where=lambda entry: entry.jid == jid(9))
    assert [entry.raw for entry in found.entries] == sorted(older, reverse=True)
    assert found.scanned == MANY + 3 - BUDGET
    redis.zremrangebyrank(keys.DEAD, 3, 3_000)
    assert queue.near(jid(9)).older is None
    assert [entry.raw for entry in queue.near(jid(9)).entries] == [members[9], *sorted(older, reverse=True)]


def test_no_more_is_read_than_is_shown(redis: redis_py.Redis, read: Read) -> None:
    members, queue = fill(redis), dead_letters(redis)
    for offset in (0, 5_000):
        read.entries.clear()
        assert [entry.raw for entry in queue.page(offset, 50)] == members[offset : offset + 50]
        assert read.entries == [51]
    read.entries.clear()
    assert queue.find(jid(150)) == Entry(members[150], DIED - 150)
    assert read.entries == [CHUNK + 1]
    read.entries.clear()
    jids = [jid(n) for n in (0, 399, 210)]
    assert told(queue.redrive(jids, operation="op1")) == {"done": jids}
    assert read.entries[:2] == [CHUNK + 1] * 2  # the walk; then each is looked up at its score
    assert sum(read.entries[2:]) <= 3 * 2


def test_replies_of_large_entries_end_early(redis: redis_py.Redis, read: Read) -> None:
    """A reply ends once it holds 4 MiB: a few entries more, since nobody knows their sizes beforehand."""
    redis.zadd(keys.DEAD, {b"%03d" % n + b"x" * LARGE: 1 for n in range(30)})
    queue = dead_letters(redis)
    page = queue.walk(limit=60)
    assert len(page.entries) == 8
    assert max(read.bytes) <= REPLY_BYTES + 8 * (LARGE + 3)
    seen = [entry.raw[:3] for entry in queue.page(limit=60)]
    assert seen == [b"%03d" % n for n in range(29, -1, -1)]
    assert len(queue.walk(limit=60, where=lambda entry: True).entries) == 30
    assert max(read.bytes) <= REPLY_BYTES + 8 * (LARGE + 3)


def test_large_entries_behind_small_ones_are_no_surprise_either(redis: redis_py.Redis, read: Read) -> None:
    """The small ones promise that the next will be small; no more than 50 are read on that promise."""
    redis.zadd(keys.DEAD, {b"%03d" % n: 2 for n in range(168)})
    redis.zadd(keys.DEAD, {b"%03d" % n + b"x" * LARGE: 1 for n in range(70)})
    queue = dead_letters(redis)
    pages = [queue.walk(limit=240)]
    while pages[-1].older:
        pages.append(queue.walk(pages[-1].older, limit=240))
    assert [entry.raw for page in pages for entry in page.entries] == redis.zrevrange(keys.DEAD, 0, -1)
    assert max(read.bytes) <= REPLY_BYTES + 50 * (LARGE + 3)


def test_an_entry_of_ten_megabytes(redis: redis_py.Redis) -> None:
    """It is listed, opened, purged, restored and redriven as any other."""
    raw = letter(1, text="x" * 10_000_000)
    queue = dead_letters(redis)
    assert queue.add(DIED, [letter(2), raw, letter(3)]) == 3
    (entry,) = [entry for entry in queue.page() if entry.jid == jid(1)]
    assert queue.look_up(entry.ref) == entry
    assert len(queue.walk(limit=1, where=lambda entry: len(entry.raw) > 9_000_000).entries) == 1
    assert told(queue.purge_entries([entry.ref])) == {"done": [entry.ref]}
    assert told(queue.restore([entry.digest])) == {"done": [entry.digest]}
    assert queue.page().count(entry) == 1
    assert told(queue.redrive_entries([entry.ref])) == {"done": [entry.ref]}
    pushed = redis.lpop("emails")
    assert len(pushed) > 10_000_000
    assert pushed.endswith(b'"error":null,"text":"%s"}' % (b"x" * 10_000_000))


def test_an_entry_too_large_for_the_bin_stays(redis: redis_py.Redis) -> None:
    raw = letter(1, text="x" * 100_000)
    queue = dead_letters(redis, room=50_000)
    queue.add(DIED, [raw])
    outcome = queue.purge([jid(1)])
    assert [refused.reason for refused in outcome.refused] == ["BIN_FULL"]
    assert redis.zcard(keys.DEAD) == 1
