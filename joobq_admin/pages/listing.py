"""The list, as its page prints it: read with all that stands around it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any
from uuid import uuid4

from django.http import HttpRequest

from joobq_admin.connection import dead_letters, grouping, lately, redaction
from joobq_admin.joobq.audit import Record
from joobq_admin.joobq.counting import Counts
from joobq_admin.joobq.overview import Overview
from joobq_admin.joobq.spread import spread_call, spread_of
from joobq_admin.pages import incident, links, rows, times, trend
from joobq_admin.pages.counts import number, queue_name, rail
from joobq_admin.pages.fresh import watch
from joobq_admin.pages.links import Link
from joobq_admin.pages.list_bar import bar
from joobq_admin.pages.list_forms import Listing
from joobq_admin.pages.list_head import Found, head
from joobq_admin.pages.records import of_jobs
from joobq_admin.pages.sends import of_any
from joobq_admin.pages.sift import classes, sift
from joobq_admin.sso.roles import Action
from joobq_admin.triage import news, search
from joobq_admin.triage import trend as counted


@dataclass(frozen=True, slots=True)
class Ticking:
    """For those who may act on ticked rows: the operation that a press will be, when they were read, what is sent."""

    operation: str
    back: str
    at: str
    line: str


def read(request: HttpRequest, asked: Listing) -> dict[str, Any]:
    """The list as it is now, by two round trips, unless a filter has to read on. Raises TROUBLE."""
    now, user = times.now(), request.user
    of_all = asked.only("since", "until")  # as the trend is
    period, question = trend.period(asked, now), lately().question()
    calls = {
        "newest": [news.newest(now)],
        "within": [spread_call(asked.wanted.span)] if of_all and asked.filters else [],
        "trend": [spread_call(counted.edges(period, now))] if of_all else [],
        "lately": question.calls if question else [],
    }
    overview, replies = _overview(asked, calls)
    records, unread = of_jobs(entry.jid for entry in overview.page.entries if entry.jid)
    found = Found(
        asked, overview.counts, overview.page, overview.dated, now,
        within=spread_of(*replies["within"]) if calls["within"] else None,
        groups=grouping().groups(wait=0) if asked.wanted.group else None,
    )  # fmt: skip
    seen = news.seen(*replies["newest"])
    context = _context(found, overview.binned, records) | {"unread": unread, "watch": watch(request, asked, seen, now)}
    most = lately().look(question, replies["lately"]).incident
    if most and most.error.id != asked.wanted.group:
        context["incident"] = incident.line(most, now)
    if of_all:
        context["trend"] = trend.figure(counted.trend(spread_of(*replies["trend"]), period, now), asked, now)
    if user.can(Action.PURGE_ALL):
        context["purge_all"] = _purge_all(asked, overview.counts)
    if found.entries and user.can(Action.REDRIVE):
        context["ticking"] = _ticking(asked, now)
    return context


def _overview(asked: Listing, calls: Mapping[str, Sequence[Any]]) -> tuple[Overview, dict[str, list[Any]]]:
    """With the replies to each of the calls."""
    beside = [call for some in calls.values() for call in some]
    place = (asked.cursor, asked.limit, asked.newer)
    overview = search.overview(dead_letters(), asked.wanted, redaction(), *place, beside)
    replies = iter(overview.beside)
    return overview, {name: list(islice(replies, len(some))) for name, some in calls.items()}


def _context(found: Found, binned: int | None, records: Mapping[str, Sequence[Record]]) -> dict[str, Any]:
    asked, counts = found.asked, found.counts
    told = head(found)
    heading = rows.BY_JID if asked.undated else rows.UNDATED
    kept = {key: value for key, value in asked.filters.items() if key not in ("queue", "unknown", "undated")}
    return {
        "title": f"{told.n} {told.words}".strip() if counts.total else "No dead letters",
        "head": told,
        "asked": asked,
        "bar": bar(found, told.say),
        "days": rows.days(found.entries, records, found.now, heading),
        "rail": rail(counts, binned, asked.queue, all_shown=asked.queue is None and not asked.undated, kept=kept),
        "sift": sift(asked, found.now),
        "classes": classes(found.entries),
        "some": bool(counts.total or found.entries),
    }


def _ticking(asked: Listing, now: datetime) -> Ticking:
    line = of_any(dead_letters().lifetime)
    return Ticking(str(uuid4()), url(asked).partition("?")[2], times.time(now), line)


def _purge_all(asked: Listing, counts: Counts) -> Link | None:
    """To purge all of this list, where a queue is all that it looks for; the number is as well known as its own."""
    queue = asked.queue
    if asked.sifted or not counts.total:
        return None
    if queue is None:
        return links.purge_all(None), f"Purge all {counts.total:,}…", ""
    n = f"{number(counts, queue)} " if counts.complete or counts.bounded else ""
    if n == "0 ":
        return None
    return links.purge_all(queue), f"Purge all {n}{f'of {queue_name(queue)}' if queue else 'without a queue name'}…", ""


def url(asked: Listing) -> str:
    """Where this very page is."""
    return links.entries(**asked.filters, **asked.place)
