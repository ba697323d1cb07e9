"""The list, as its page prints it: title, toolbar, where to go on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from joobq_admin.connection import dead_letters
from joobq_admin.joobq.audit import Record
from joobq_admin.joobq.counting import Counts
from joobq_admin.joobq.entry import TIMES_FROM, TIMES_TO
from joobq_admin.joobq.lookup import Cursor, Page
from joobq_admin.pages import links, rows, times
from joobq_admin.pages.bar import Bar
from joobq_admin.pages.counts import NO_NAME, how_sure, number, rail
from joobq_admin.pages.forms import ROWS, Listing
from joobq_admin.pages.links import Link
from joobq_admin.pages.records import of_jobs
from joobq_admin.pages.sends import of_any
from joobq_admin.pages.tokens import plain
from joobq_admin.sso.roles import Action, User


@dataclass(frozen=True, slots=True)
class Head:
    n: str
    words: str
    sub: str


@dataclass(frozen=True, slots=True)
class Ticking:
    """For those who may act on ticked rows: the operation that a press will be, when they were read, what is sent."""

    operation: str
    back: str
    at: str
    line: str


def read(asked: Listing, user: User) -> dict[str, Any]:
    """The list as it is now. Raises TROUBLE."""
    now = times.now()
    counts, page, dated, binned, _ = dead_letters().overview(asked.start, asked.limit, asked.queue, asked.newer)
    records, unread = of_jobs(entry.jid for entry in page.entries if entry.jid)
    acts = page.entries and user.can(Action.REDRIVE)
    back, line = url(asked).partition("?")[2], of_any(dead_letters().lifetime)
    return context(asked, page, counts, dated, records, now) | {
        "unread": unread,
        "rail": rail(counts, binned, asked.queue, all_shown=asked.queue is None and not asked.undated),
        "purge_all": _purge_all(asked, counts) if user.can(Action.PURGE_ALL) else None,
        "ticking": Ticking(str(uuid4()), back, f"{now:%H:%M:%S}", line) if acts else None,
        "some": bool(counts.total or page.entries),
    }


def _purge_all(asked: Listing, counts: Counts) -> Link | None:
    """To purge all of this list; the number is as well known as the list's own."""
    queue = asked.queue
    if asked.undated or not counts.total:
        return None
    if queue is None:
        return links.purge_all(None), f"Purge all {counts.total:,}…", ""
    n = f"{number(counts, queue)} " if counts.complete or counts.bounded else ""
    if n == "0 ":
        return None
    return links.purge_all(queue), f"Purge all {n}{f'of {_name(queue)}' if queue else 'without a queue name'}…", ""


def url(asked: Listing) -> str:
    """Where this very page is."""
    return _url(asked, **{"before" if asked.newer else "after": asked.cursor})


def context(
    asked: Listing,
    page: Page,
    counts: Counts,
    dated: int,
    records: Mapping[str, Sequence[Record]],
    now: datetime,
) -> dict[str, Any]:
    """`dated`: how many entries have a score that is a time."""
    if asked.undated:
        page = _undated_only(page)
    undated = max(0, counts.total - dated)
    head = _head(asked, counts, undated)
    return {
        "title": f"{head.n} {head.words}" if counts.total else "No dead letters",
        "head": head,
        "bar": _bar(asked, page, counts, min(dated, counts.total), undated, now),
        "days": rows.days(page.entries, records, now, rows.BY_JID if asked.undated else rows.UNDATED),
    }


def _undated_only(page: Page) -> Page:
    """Walking up from them one comes to those with a time, which this list leaves out."""
    kept = tuple(entry for entry in page.entries if entry.score < TIMES_FROM)
    at_top = len(kept) < len(page.entries) or page.newer is None or page.newer == Cursor(TIMES_FROM)
    return replace(page, entries=kept, newer=None if at_top else page.newer)


def _head(asked: Listing, counts: Counts, undated: int) -> Head:
    if asked.undated:
        of = f" in {_name(asked.queue)}" if asked.queue is not None else ""
        n = f"{undated:,}" if asked.queue is None else ""
        return Head(n, f"{_letters(undated)} without a death time{of}", rows.NO_TIME_NOTE)
    if asked.queue is None:
        return Head(f"{counts.total:,}", _letters(counts.total), how_sure(counts, None))
    n = counts.get(asked.queue, 0)
    so_far = "" if counts.complete or counts.bounded else " so far"
    of = f"in {_name(asked.queue)}" if asked.queue else "without a queue name"
    return Head(number(counts, asked.queue), f"{_letters(n)} {of}{so_far}", how_sure(counts, asked.queue))


def _letters(n: int) -> str:
    return "dead letter" if n == 1 else "dead letters"


def _name(queue: str | None) -> str:
    return plain(queue or "", 80) or NO_NAME


def _bar(asked: Listing, page: Page, counts: Counts, dated: int, undated: int, now: datetime) -> Bar:
    short = asked.queue is not None and len(page.entries) < asked.limit
    onward = page.newer if asked.newer else page.older
    way = "before" if asked.newer else "after"
    stopped = short and not page.complete and onward is not None
    order = "last jid first" if asked.undated else "newest first"
    return Bar(
        shown=_shown(asked, page, counts, dated, undated),
        tail=f", {order}" if page.entries else "",
        order=order,
        say=_say(asked, counts, undated),
        undated=f"{undated:,}",
        undated_url=links.entries(undated="1") if _hides_undated(asked, page, undated) else "",
        back_url=_url(asked, before=page.newer) if page.newer and not (stopped and asked.newer) else "",
        older_url=_url(asked, after=page.older) if page.older and not (stopped and not asked.newer) else "",
        end=_end(asked, page, stopped, now),
        continue_url=_url(asked, **{way: onward}) if stopped else "",
    )


def _hides_undated(asked: Listing, page: Page, undated: int) -> bool:
    """Are there entries without a death time that this page does not come to?"""
    if asked.queue is not None or asked.undated or not undated:
        return False
    return not page.entries or page.entries[-1].score >= TIMES_FROM


def _shown(asked: Listing, page: Page, counts: Counts, dated: int, undated: int) -> str:
    n = len(page.entries)
    if not n:
        return "none"
    if asked.queue is not None:
        first = "1–" if asked.cursor is None and n > 1 else ""
        return f"{first}{n:,} of {number(counts, asked.queue)}" if not asked.undated else f"{n:,}"
    first, last = page.above + 1, page.above + n
    if first > dated or asked.undated:
        return f"{_range(max(1, first - dated), max(1, first - dated) + n - 1)} of {undated:,} without a death time"
    if last <= dated:
        return f"{_range(first, last)} of {dated:,}"
    return f"{_range(first, dated)} of {dated:,}, then {last - dated:,} of {undated:,} without a death time"


def _range(first: int, last: int) -> str:
    return f"{first:,}–{last:,}" if last > first else f"{first:,}"


def _say(asked: Listing, counts: Counts, undated: int) -> str:
    if asked.undated:
        return f"{undated:,} without a death time"
    if asked.queue is None:
        return f"{counts.total:,} {_letters(counts.total)}"
    return f"{number(counts, asked.queue)} in {_name(asked.queue)}"


def _end(asked: Listing, page: Page, stopped: bool, now: datetime) -> str:
    if stopped:
        to = page.scanned_to
        dated = to is not None and TIMES_FROM <= to < TIMES_TO
        place = times.clock(datetime.fromtimestamp(to / 1000, UTC), now) if dated and to else "the undated ones"
        found = f"{len(page.entries):,} found so far" if page.entries else "None found so far"
        return f"{found}, read {'up' if asked.newer else 'down'} to {place}."
    if not page.entries:
        return "No entry is here." if asked.queue is None else f"No entry of {_name(asked.queue)} is here."
    return ""


def _url(asked: Listing, before: Cursor | None = None, after: Cursor | None = None) -> str:
    return links.entries(
        queue=asked.queue or "",
        unknown="1" if asked.queue == "" else "",
        undated="1" if asked.undated else "",
        before=str(before) if before else "",
        after=str(after) if after else "",
        limit=str(asked.limit) if asked.limit != ROWS else "",
    )
