from datetime import timedelta

from redis import Redis

from joobq_admin.joobq import keys
from joobq_admin.joobq.audit import Actor, AuditLog
from joobq_admin.joobq.bin import Bin, BinPage
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.lookup import Cursor
from tests.support.letters import DIED, letter

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


def test_an_empty_bin(redis: Redis) -> None:
    page = Bin(redis, timedelta(hours=1), 1).page()
    assert page == BinPage((), None, None, 0, 0)
