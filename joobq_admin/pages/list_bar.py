"""The bar above the rows of a list and the line below: what is shown, how far a look came, and where to go on."""

from datetime import UTC, datetime

from django.urls import reverse

from joobq_admin.joobq.entry import TIMES_FROM, TIMES_TO
from joobq_admin.joobq.lookup import Cursor
from joobq_admin.pages import links, times
from joobq_admin.pages.bar import Bar
from joobq_admin.pages.counts import number, queue_name
from joobq_admin.pages.list_forms import Listing
from joobq_admin.pages.list_head import Found


def _url(asked: Listing, **place: Cursor | None) -> str:
    """This list; `before` or `after`: from there on."""
    limit = {key: value for key, value in asked.place.items() if key == "limit"}
    return links.entries(**asked.filters, **{way: str(at) for way, at in place.items() if at}, **limit)


def bar(found: Found, say: str) -> Bar:
    asked, page = found.asked, found.page
    onward = page.newer if asked.newer else page.older
    stopped = asked.reads_on and len(page.entries) < asked.limit and not page.complete and onward is not None
    order = "last jid first" if asked.undated else "newest first"
    return Bar(
        shown=_shown(found),
        tail=f", {order}" if page.entries else "",
        order=order,
        say=say,
        undated=f"{found.undated:,}",
        undated_url=links.entries(undated="1") if _hides_undated(found) else "",
        back_url=_url(asked, before=page.newer) if page.newer and not (stopped and asked.newer) else "",
        older_url=_url(asked, after=page.older) if page.older and not (stopped and not asked.newer) else "",
        end=_end(found, stopped),
        continue_url=_url(asked, **{"before" if asked.newer else "after": onward}) if stopped else "",
        clear="All dead letters",
        clear_url=reverse("entries") if asked.sifted else "",
    )


def _hides_undated(found: Found) -> bool:
    """Are there entries without a death time that this page does not come to?"""
    if not found.undated or not found.asked.only("since", "until"):
        return False
    return not found.entries or found.entries[-1].score >= TIMES_FROM


def _shown(found: Found) -> str:
    asked, page, n = found.asked, found.page, len(found.entries)
    if not n:
        return "none"
    if found.within:
        first = page.above + 1 - found.within.beyond
        return f"{_range(first, first + n - 1)} of {sum(found.within.between):,}"
    if not asked.only("undated"):
        return _sifted(found)
    undated, dated = found.undated, found.counts.total - found.undated
    first, last = page.above + 1, page.above + n
    if first > dated or asked.undated:
        begin = max(1, first - dated)
        what = "" if asked.undated else " without a death time"  # that is its title
        return f"{_range(begin, begin + n - 1)} of {undated:,}{what}"
    if last <= dated:
        return f"{_range(first, last)} of {dated:,}"
    return f"{_range(first, dated)} of {dated:,}, then {last - dated:,} of {undated:,} without a death time"


def _sifted(found: Found) -> str:
    """How many there are is told when this page is all, or by the counts."""
    asked, n = found.asked, len(found.entries)
    here = f"1–{n:,}" if asked.cursor is None and n > 1 else f"{n:,}"
    if not asked.sifted:
        return f"{here} of {number(found.counts, asked.queue or '')}"
    if found.all_here:
        return f"{here} of {n:,}"
    if asked.of_one_error and found.group:
        return f"{here} of {found.group.count:,}"
    return here


def _range(first: int, last: int) -> str:
    return f"{first:,}–{last:,}" if last > first else f"{first:,}"


def _end(found: Found, stopped: bool) -> str:
    asked, to, n = found.asked, found.page.scanned_to, len(found.entries)
    if stopped:
        dated = to is not None and TIMES_FROM <= to < TIMES_TO
        place = times.clock(datetime.fromtimestamp(to / 1000, UTC), found.now) if dated and to else "the undated ones"
        so_far = f"{n:,} found so far" if n else "None found so far"
        return f"{so_far}, read {'up' if asked.newer else 'down'} to {place}."
    if n:
        return ""
    if asked.only("undated"):
        return "No entry is here."
    return "No entry matches." if asked.sifted else f"No entry of {queue_name(asked.queue)} is here."
