"""The dead letters by error: how many of each, where, since when, and how many died again."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from joobq_admin.connection import grouping
from joobq_admin.pages import answer, errors, forms, links, times
from joobq_admin.pages.counts import letters, queue_name, rail_now
from joobq_admin.pages.not_understood import tells_what_is_wrong
from joobq_admin.pages.times import When
from joobq_admin.pages.tokens import Tokens
from joobq_admin.pages.trend import Box, path
from joobq_admin.sso.roles import Action, needs
from joobq_admin.triage.groups import HOURS, Group, Groups

MOST_SHOWN, MOST_QUEUES = 100, 6
BAR, WIDE, HIGH = 4, 5, 24  # of a bar of an hour, from one to the next, at most; in the drawing


@dataclass(frozen=True, slots=True)
class Row:
    """One error. `bars`: a path; `deaths`: what it says. `again`: how many died again, and which share that is."""

    id: str
    n: str
    cls: str
    pattern: Tokens
    unsendable: bool
    queues: list[tuple[str, str]]
    more_queues: str
    again: str
    bars: str
    deaths: str
    peak: str
    last: When | None
    first: When | None
    url: str


@needs(Action.VIEW)
@require_safe
@tells_what_is_wrong("groups", "By error")
def groups(request: HttpRequest) -> HttpResponse:
    """Most entries first. While they are counted it asks for itself again and again."""
    if unknown := list(forms.query(request)):
        raise BadRequest(f"There is no filter “{unknown[0][:80]}” by error.")
    found, now = grouping().groups(), times.now()
    shown, told = found.groups[:MOST_SHOWN], bool(found.groups) or found.complete  # else none is known yet
    n, words = (f"{len(found.groups):,}", f"error{'s' * (len(found.groups) != 1)}") if told else ("", "Errors")
    context = {
        "title": f"{n} {words}".strip(),
        "n": n,
        "words": words,
        "letters": f"{found.total:,} {letters(found.total)}",
        "sure": errors.how_sure(found),
        "counting": not found.complete,
        "rows": [_row(group, found, now) for group in shown],
        "more": _more(found.groups[MOST_SHOWN:], found.others),
    }
    if answer.wants(request, "groups"):
        return answer.fragment(request, "dead_letters/_groups.html", context)
    return answer.page(request, "dead_letters/groups.html", context, nav="entries", rail=rail_now())


def _more(groups: Sequence[Group], others: int) -> str:
    n = sum(group.count for group in groups) + others
    if not n:
        return ""
    errors_ = f"{len(groups):,}{' or more' if others else ''} other errors" if groups else "other errors"
    return f"and {n:,} entries of {errors_}"


def _row(group: Group, found: Groups, now: datetime) -> Row:
    error, most = group.error, max(group.hours)
    queues = [("others" if queue is None else queue_name(queue), f"{n:,}") for queue, n in group.queues]
    left = len(queues) - MOST_QUEUES
    return Row(
        id=f"g-{error.id}",
        n=f"{group.count:,}",
        cls=errors.name(error),
        pattern=errors.pattern(error),
        unsendable=error.kind in errors.NEVER_SENT,
        queues=queues[:MOST_QUEUES],
        more_queues=f"and {left:,} other queue{'s' * (left > 1)}" if left > 0 else "",
        again=f"{group.again:,} died again, {_share(group.again, group.count)}" if group.again else "",
        bars="".join(path(_bar(hour, n, most)) for hour, n in enumerate(group.hours) if n),
        deaths=_deaths(group, found.as_of, now),
        peak=f"peak {most:,} an hour" if most else "none in 24 h",
        last=times.when(group.last, now) if group.last else None,
        first=times.when(group.first, now) if group.first else None,
        url=links.entries(group=error.id),
    )


def _bar(hour: int, n: int, most: int) -> Box:
    """What is not 0 is seen."""
    high = max(1, round(HIGH * n / most))
    return WIDE * hour, HIGH - high, BAR, high


def _share(some: int, all_: int) -> str:
    return f"{max(1, 100 * some // all_)} %"


def _deaths(group: Group, as_of: datetime, now: datetime) -> str:
    total, most = sum(group.hours), max(group.hours)
    if not total:
        return "None died in the last 24 h"
    until = as_of - timedelta(hours=HOURS - 1 - group.hours.index(most))
    return (
        f"{total:,} died in the last 24 h, most from {times.between(until - timedelta(hours=1), until, now)}: {most:,}"
    )
