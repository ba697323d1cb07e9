"""What a list shows, in one round trip: a page of entries, the counts, and whatever else is asked for beside them."""

from collections.abc import Sequence
from time import monotonic
from typing import Any, NamedTuple

from redis import Redis

from joobq_admin.joobq import lookup, scripts
from joobq_admin.joobq.counting import Counting, Counts
from joobq_admin.joobq.entry import TIMES_FROM
from joobq_admin.joobq.filters import ANY_TIME, Span, Where, in_queue
from joobq_admin.joobq.lookup import BUDGET, TOP, Cursor, Page
from joobq_admin.joobq.scripts import Call

NOTHING = Page((), newer=None, older=None, scanned=0, scanned_to=None, complete=True, above=0)


class Numbers(NamedTuple):
    """Entries per queue, and how many purged ones are in the bin; None without a bin, or when it may not be read."""

    counts: Counts
    binned: int | None = None


class Wanted(NamedTuple):
    """Which entries are looked for, of those of a queue or of all, as `lookup.walk` has it, and how long.

    `seconds`: from the first answer on, so that a slow server is no reason to throw away what it gave.
    """

    where: Where | None = None
    span: Span = ANY_TIME
    budget: int = BUDGET
    seconds: float = float("inf")


ANY = Wanted()


class Overview(NamedTuple):
    """A page of entries, and what stands around it. `dated`: how many of the total have a score that is a time."""

    counts: Counts
    page: Page
    dated: int
    binned: int | None = None  # as in Numbers
    beside: Sequence[Any] = ()  # the replies to the calls beside


def overview(
    redis: Redis,
    counting: Counting,
    in_bin: Sequence[Call],
    cursor: Cursor | None,
    limit: int,
    queue: str | None,
    newer: bool,
    wanted: Wanted,
    beside: Sequence[Call],
) -> Overview:
    """One round trip, unless a filter has to read on. `beside`: calls that change nothing."""
    where, span, budget, seconds = wanted
    if queue is not None:
        where = in_queue(queue, where)
    start = lookup.within(span, cursor or TOP, newer)
    first = lookup.first_call(start, limit, where is not None, budget, newer)
    dated = lookup.seek_call(Cursor(TIMES_FROM), "older", 0)
    calls = [Counting.CALL, first, dated, *beside]
    counted, entries, ranks, *replies = scripts.read(redis, calls, in_bin)
    counts, times, enough = counting.counts(counted), lookup.rows_of(ranks), None
    if queue is not None and wanted == ANY and cursor is None and not newer:
        enough = counting.certain(queue, counted)
    page = NOTHING
    if enough != 0:
        rows, deadline = lookup.rows_of(entries), monotonic() + seconds
        page = lookup.walk(redis, cursor or TOP, limit, where, budget, newer, enough, rows, span, deadline)
    return Overview(
        counts=counts,
        page=page,
        dated=max(0, counts.total - times.below),
        binned=replies[len(beside)] if in_bin else None,
        beside=replies[: len(beside)],
    )
