"""Newest first: by score, then by the bytes of the member, both descending, as Redis orders a sorted set."""

import random
from collections.abc import Iterator

import pytest
import redis as redis_py

from joobq_admin.joobq import keys, lookup
from joobq_admin.joobq.cjson import queue_of
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.entry import Entry
from joobq_admin.joobq.lookup import TOP, Cursor, Page
from tests.support.letters import DIED, NO_TIME, jid, letter
from tests.support.operators import dead_letters

SCORES = ["604800", str(DIED), str(DIED + 1), "0", "-1", "0.1", "-3.5", "1795955390586.25", "1e300", "-1e300", "5e-324",
          "9007199254740993", "+inf", "-inf"]  # fmt: skip
QUEUES = ["emails", "réports", "a b", '"', "\\", "\udcff", ""]


def scatter(redis: redis_py.Redis, seed: int, many: int) -> list[bytes]:
    """Random entries at few scores, so that many are equal; returned as Redis has them, newest first."""
    dice = random.Random(seed)
    for n in range(many):
        raw = letter(dice.randrange(9), dice.choice(QUEUES), death=n)
        if dice.random() < 0.2:
            raw = dice.choice([b"", b"\0", b"\xff", b"{", b'{"queue":"emails"', b'{"jid":', b"[]", b"emails"]) + bytes(
                dice.choices(range(256), k=dice.randrange(4))
            )
        redis.execute_command("ZADD", keys.DEAD, dice.choice(SCORES), raw)
    return redis.zrevrange(keys.DEAD, 0, -1)


def raws(entries: object) -> list[bytes]:
    return [entry.raw for entry in entries]


@pytest.mark.parametrize("seed", range(3))
def test_any_slice_of_any_queue(redis: redis_py.Redis, seed: int) -> None:
    whole, queue = scatter(redis, seed, 300), dead_letters(redis)
    dice = random.Random(seed)
    names = {name: [raw for raw in whole if queue_of(raw) == name] for name in {queue_of(raw) for raw in whole}}
    assert len(names) > 5
    for _ in range(40):
        offset, limit = dice.choice([0, 1, 7, 199, 200, 201, 299, 300, 10**15]), dice.choice([0, 1, 50, 10**9])
        assert raws(queue.page(offset, limit)) == whole[offset : offset + limit]
        name = dice.choice(list(names))
        wanted = names[name][offset : offset + limit]
        assert raws(queue.page(offset, limit, name.decode("utf-8", "surrogateescape"))) == wanted
    assert queue.page(0, 50, "no such queue") == []


@pytest.mark.parametrize("seed", range(2))
def test_the_library_reads_scores_as_redis_has_them(redis: redis_py.Redis, seed: int) -> None:
    scatter(redis, seed, 200)
    stored = dict(redis.zrange(keys.DEAD, 0, -1, withscores=True))
    for entry in dead_letters(redis).page(limit=200):
        assert entry.score == stored[entry.raw]
        assert isinstance(entry.score, int) == float(entry.score).is_integer()
        assert dead_letters(redis).look_up(entry.ref) == entry


@pytest.mark.parametrize("limit", [1, 7, 50, 250])
def test_walking_down_and_up_again_shows_the_same(redis: redis_py.Redis, limit: int) -> None:
    whole, queue = scatter(redis, 5, 400), dead_letters(redis)
    down = list(walk_down(queue, limit))
    assert [raw for page in down for raw in raws(page.entries)] == whole
    assert [page.above for page in down] == list(range(0, len(whole), limit))
    assert [page.complete for page in down] == [False] * (len(down) - 1) + [True]
    assert down[0].newer is None

    up = [queue.walk(down[-1].newer, limit, newer=True)]
    while up[-1].newer:
        up.append(queue.walk(up[-1].newer, limit, newer=True))
    assert [raw for page in reversed(up) for raw in raws(page.entries)] == whole[: len(whole) - len(down[-1].entries)]
    assert up[-1].above == 0
    for page, below in zip(reversed(up), down, strict=False):
        assert raws(page.entries) == raws(below.entries)
        assert page.above == below.above
    assert raws(queue.walk(up[0].older, limit).entries) == raws(down[-1].entries)


def walk_down(queue: DeadLetterQueue, limit: int, by_text: bool = True) -> Iterator[Page]:
    page = queue.walk(limit=limit)
    yield page
    while page.older:
        page = queue.walk(Cursor.parse(str(page.older)) if by_text else page.older, limit)
        yield page


def test_from_the_very_bottom_up(redis: redis_py.Redis) -> None:
    whole, queue = scatter(redis, 6, 120), dead_letters(redis)
    page = queue.walk(Cursor(float("-inf")), 200, newer=True)
    assert raws(page.entries) == whole
    assert (page.newer, page.older, page.complete) == (None, None, True)


@pytest.mark.parametrize("newer", [False, True])
def test_with_a_filter_and_a_small_budget_nothing_is_lost(redis: redis_py.Redis, newer: bool) -> None:
    whole, queue = scatter(redis, 7, 400), dead_letters(redis)
    wanted = [raw for raw in whole if b"emails" in raw]
    cursor, found, scanned, pages = (Cursor(float("-inf")) if newer else None), list[bytes](), 0, 0
    while True:
        page = queue.walk(cursor, 7, where=lambda entry: b"emails" in entry.raw, budget=30, newer=newer)
        found = raws(page.entries) + found if newer else found + raws(page.entries)
        scanned, pages = scanned + page.scanned, pages + 1
        assert page.scanned <= 30
        cursor = page.newer if newer else page.older
        if cursor is None:
            break
    assert found == wanted
    assert scanned == len(whole)
    assert pages >= 400 / 30


def test_a_filter_of_a_queue_and_one_of_ones_own(redis: redis_py.Redis) -> None:
    whole, queue = scatter(redis, 8, 300), dead_letters(redis)
    page = queue.walk(limit=300, queue="emails", where=lambda entry: entry.score == NO_TIME)
    scores = dict(redis.zrange(keys.DEAD, 0, -1, withscores=True))
    assert raws(page.entries) == [raw for raw in whole if queue_of(raw) == b"emails" and scores[raw] == NO_TIME]


def test_entries_that_share_more_than_a_kilobyte(redis: redis_py.Redis) -> None:
    base = b'{"jid":"a","pad":"' + b"\xff" * 3 + b"y" * 1500
    twins = [base + b"%05d" % n for n in range(500)]
    redis.zadd(keys.DEAD, dict.fromkeys(twins, NO_TIME))
    redis.zadd(keys.DEAD, {b"a": NO_TIME, b"z": NO_TIME, b"{": NO_TIME})
    whole, queue = redis.zrevrange(keys.DEAD, 0, -1), dead_letters(redis)
    for limit in (1, 50, 200):
        pages = list(walk_down(queue, limit))
        assert [raw for page in pages for raw in raws(page.entries)] == whole
        assert max(len(str(page.older)) for page in pages) < 1_500
        last = queue.walk(Cursor.parse(str(pages[-1].newer)), limit, newer=True)
        assert raws(last.entries) == raws(pages[-2].entries)


def test_such_twins_may_change_while_this_process_walks_among_them(redis: redis_py.Redis) -> None:
    base = b'{"jid":"a","pad":"' + b"y" * 1500
    twins, dice, queue = [base + b"%05d" % n for n in range(400)], random.Random(9), dead_letters(redis)
    redis.zadd(keys.DEAD, dict.fromkeys(twins, NO_TIME))
    gone, seen = set[bytes](), list[bytes]()
    for page in walk_down(queue, 9, by_text=False):
        seen += raws(page.entries)
        leaving = {*dice.sample(twins, 3), page.entries[-1].raw}
        gone |= leaving
        redis.zrem(keys.DEAD, *leaving)
        redis.zadd(keys.DEAD, {dice.choice(twins) + b"+%d" % dice.randrange(9): NO_TIME for _ in range(4)})
    assert len(seen) == len(set(seen))
    assert set(twins) - gone <= set(seen)


def test_a_reply_that_ended_early_loses_nothing(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replies end at so many bytes; pages and walks go on from there."""
    whole, queue, seek_call = scatter(redis, 10, 300), dead_letters(redis), lookup.seek_call
    monkeypatch.setattr(lookup, "seek_call", lambda *args: seek_call(*args, most=900))
    for limit in (1, 20, 300):
        assert [raw for page in walk_down(queue, limit) for raw in raws(page.entries)] == whole
    assert raws(queue.page(limit=300)) == whole
    assert raws(queue.page(100, 100)) == whole[100:200]
    assert queue.walk(TOP, 300).older is not None


def test_all_deaths_of_a_job_and_those_of_one_score(redis: redis_py.Redis) -> None:
    redis.zadd(keys.DEAD, {letter(job, death=n): n % 3 for job in (1, 2) for n in range(6)})
    queue = dead_letters(redis)
    theirs = [entry for entry in queue.page() if entry.jid == jid(1)]
    assert queue.find_all(jid(1)) == theirs
    assert queue.find(jid(1)) == theirs[0]
    for score in (0, 1, 2, 3):
        assert queue.find_all(jid(1), at=score) == [entry for entry in theirs if entry.score == score]


def test_nothing_at_all(redis: redis_py.Redis) -> None:
    queue = dead_letters(redis)
    for newer in (False, True):
        for cursor in (None, TOP, Cursor(0, b"x", 5), Cursor(float("-inf"))):
            assert queue.walk(cursor, newer=newer) == Page((), None, None, 0, None, True, 0)
    assert queue.walk(queue="emails") == Page((), None, None, 0, None, True, 0)
    assert (queue.page(), queue.page(5, 5, ""), queue.count(), dict(queue.counts())) == ([], [], 0, {})


def test_one_entry(redis: redis_py.Redis) -> None:
    redis.zadd(keys.DEAD, {b"": 0})
    page = dead_letters(redis).walk()
    assert page.entries == (Entry(b"", 0),)
    assert (page.newer, page.older, page.scanned, page.scanned_to, page.complete, page.above) == (
        None,
        None,
        1,
        0,
        True,
        0,
    )
    assert dead_letters(redis).look_up(page.entries[0].ref) == page.entries[0]
