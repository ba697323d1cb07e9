from datetime import timedelta

from redis import Redis

from joobq_admin.joobq import keys
from joobq_admin.joobq.audit import Actor, AuditLog
from joobq_admin.joobq.bin import Bin, BinPage
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.entry import Entry
from joobq_admin.joobq.lookup import REPLY_BYTES, Cursor
from tests.support.letters import DIED, digest, letter
from tests.support.operators import dead_letters

ANN = Actor("ann", "Ann")


def purged(redis: Redis, entries: int) -> Bin:
    bin_ = Bin(redis, keep=timedelta(hours=1), room=1 << 20)
    queue = DeadLetterQueue(redis, AuditLog(redis), bin_)
    queue.add(DIED, [letter(n) for n in range(entries)])
    for at, entry in enumerate(queue.page(limit=entries)):
        queue.purge_entries([entry.ref], by=ANN, reason="load test", operation=f"p{at}")
        redis.zadd(keys.BIN_TIMES, {entry.digest: 4_000_000_000_000 + at // 3})  # three at one instant
    return bin_


def operations(page: BinPage) -> list[str]:
    return [binned.operation for binned in page.entries]


def test_pages_join_up_both_ways(redis: Redis) -> None:
    bin_ = purged(redis, 25)
    pages, cursor = [bin_.page(limit=7)], None
    while cursor := pages[-1].older:
        pages.append(bin_.page(Cursor.parse(str(cursor)), limit=7))
    seen = [digest for page in pages for digest in page.entries]
    in_order = redis.zrange(keys.BIN_TIMES, 0, -1, desc=True)
    assert [binned.entry.digest.encode() for binned in seen] == in_order
    assert (pages[0].newer, pages[-1].older) == (None, None)
    assert (pages[0].total, pages[0].bytes) == (25, int(redis.hget(keys.BIN, "bytes")))
    back = bin_.page(pages[2].newer, limit=7, newer=True)
    assert operations(back) == operations(pages[1])
    assert back.older == pages[2].newer


def test_what_is_kept_is_the_entry_and_who_purged_it_and_why(redis: Redis) -> None:
    (binned,) = purged(redis, 1).page().entries
    assert (binned.entry.raw, binned.entry.score) == (letter(0), DIED)
    assert (binned.by, binned.name, binned.reason, binned.operation) == ("ann", "Ann", "load test", "p0")


def test_a_page_of_large_entries_ends_early_and_the_next_goes_on(redis: Redis) -> None:
    """However large they are, a page, a question or a press holds few of them at once."""
    queue = dead_letters(redis, room=1 << 26)
    letters = [letter(n, blob="x" * (REPLY_BYTES // 3 + 1)) for n in range(7)]
    queue.add(DIED, letters)
    for at, raw in enumerate(letters):
        queue.purge_entries([Entry(raw, DIED).ref], operation=f"p{at}")
        redis.zadd(keys.BIN_TIMES, {digest(raw): 4_000_000_000_000 + at})
    bin_ = queue.bin
    assert bin_
    first = bin_.page()
    second, cut = bin_.page(first.older), bin_.page(first.older, limit=2)
    last = bin_.page(second.older)
    assert [len(page.entries) for page in (first, second, last)] == [3, 3, 1]
    assert [binned.entry.raw for page in (first, second, last) for binned in page.entries] == letters[::-1]
    assert (len(cut.entries), first.newer, last.older) == (2, None, None)
    assert [binned.entry.raw for binned in bin_.page(last.newer, newer=True).entries] == letters[3:0:-1]
    redis.config_resetstat()
    names = [*map(digest, letters), "0" * 64]
    assert [name for name, _ in bin_.each(names)] == names[:-1]
    assert redis.info("commandstats")["cmdstat_hmget"]["calls"] == 3


def test_an_empty_bin(redis: Redis) -> None:
    page = Bin(redis, timedelta(hours=1), 1).page()
    assert page == BinPage((), None, None, 0, 0)
