"""When the dead letters died, as a page prints it: bars, what they say in words, and links that narrow the list."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from django.urls import reverse

from joobq_admin.pages import links, times
from joobq_admin.pages.list_forms import Listing
from joobq_admin.triage.search import PRESETS
from joobq_admin.triage.trend import Period, Slot, Trend

SLOT, BAR, HEIGHT = 10, 8, 64  # in the drawing
WORDS = {Period.DAY: ("24 h", "15 min"), Period.WEEK: ("7 d", "2 h"), Period.MONTH: ("30 d", "8 h")}
LINKED = {Period.DAY: 4, Period.WEEK: 3, Period.MONTH: 3}  # slots that one link narrows to: bars are too thin to hit
MARKS = 4
MINUTE = "%Y-%m-%dT%H:%M"
A_WHILE = timedelta(minutes=1)  # between the two looks at a clock

Box = tuple[int, int, int, int]  # x, y, width, height


@dataclass(frozen=True, slots=True)
class Figure:
    """`bars`: a path of all but `hot`, the one with most; `chosen`: what the list is narrowed to.

    `slots`: address and words of each link over the bars. `besides`: entries that are in none of them.
    """

    last: str
    per: str
    sum: str
    most: str
    peak: str
    peak_url: str
    besides: str
    width: int
    bars: str
    hot: Box | None
    chosen: Box | None
    top: str
    middle: str
    marks: list[str]
    slots: list[tuple[str, str]]
    periods: list[tuple[str, str, bool]]


def period(asked: Listing, now: datetime) -> Period:
    """The shortest that holds the time of the list."""
    since = asked.wanted.since or asked.wanted.until or now
    return next((each for each in Period if now - since <= PRESETS[each] + A_WHILE), Period.MONTH)


def figure(found: Trend, asked: Listing, now: datetime) -> Figure:
    (last, per), peak, slots = WORDS[found.period], found.peak, found.slots
    linked = [slots[n : n + LINKED[found.period]] for n in range(0, len(slots), LINKED[found.period])]
    narrowed = partial(_narrowed, reverse("entries"))
    top = _round(peak.count if peak else 1)
    bars = {n: _bar(n, slot.count, top) for n, slot in enumerate(slots) if slot.count}
    hot = bars.pop(slots.index(peak)) if peak else None
    return Figure(
        last=last,
        per=per,
        sum=f"{found.died:,}",
        most=f"{peak.count:,}" if peak else "",
        peak=times.between(peak.since, peak.until, now) if peak else "",
        peak_url=narrowed(peak.since, peak.until) if peak else "",
        besides=_besides(found),
        width=SLOT * len(slots),
        bars="".join(map(path, bars.values())),
        hot=hot,
        chosen=_chosen(found, asked),
        top=f"{top:,}",
        middle=f"{top // 2:,}" if top % 2 == 0 else "",
        marks=[_mark(slots[n * len(slots) // MARKS].since, found.period, first=n == 0) for n in range(MARKS)],
        slots=[(narrowed(some[0].since, some[-1].until), _told(some, now)) for some in linked],
        periods=[(links.entries(since=each), WORDS[each][0], each is found.period) for each in Period],
    )


def path(bar: Box) -> str:
    """As a part of the path that draws many: from where it stands up, and down again."""
    x, y, width, height = bar
    return f"M{x} {y + height}v-{height}h{width}v{height}"


def _bar(n: int, count: int, top: int) -> Box:
    """That of the n-th slot, rounded up: one entry is seen too."""
    height = -(-HEIGHT * count // top)
    return SLOT * n + (SLOT - BAR) // 2, HEIGHT - height, BAR, height


def _narrowed(base: str, since: datetime, until: datetime) -> str:
    """Short: there are many of them. A `:` is nothing that must be encoded."""
    return f"{base}?since={since:{MINUTE}}&until={until:{MINUTE}}"


def _told(slots: Sequence[Slot], now: datetime) -> str:
    return f"{times.between(slots[0].since, slots[-1].until, now)}: {sum(slot.count for slot in slots):,}"


def _round(most: int) -> int:
    """The next of 1, 2, 5, 10, 20, 50 …"""
    power = 10 ** (len(str(most)) - 1)
    return next(times * power for times in (1, 2, 5, 10) if times * power >= most)


def _mark(at: datetime, period: Period, first: bool) -> str:
    """Below the bars: an hour of the day, or a date."""
    weekday, day, month, _, clock = times.in_full(at).split()[:5]
    if period is not Period.DAY:
        return f"{day} {month}"
    return f"{clock[:5]} {weekday}" if first else clock[:5]


def _chosen(found: Trend, asked: Listing) -> Box | None:
    if not asked.filters:
        return None
    width, begin = found.period.width, found.slots[0].since
    since, until = asked.wanted.since or begin, asked.wanted.until or found.slots[-1].until
    left, right = (min(max(round(SLOT * (at - begin) / width), 0), SLOT * len(found.slots)) for at in (since, until))
    return (left, 0, right - left, HEIGHT) if right > left else None


def _besides(found: Trend) -> str:
    told = {
        "before": found.before,
        "without a death time": found.undated,
        "in times to come, by a clock that is wrong": found.ahead,
    }
    return ", ".join(f"{n:,} {where}" for where, n in told.items() if n)
