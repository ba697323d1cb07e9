"""When the dead letters died that are here: counted from their scores, without reading one.

Those whose score is no time are told apart: when they died is told by themselves alone.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from joobq_admin.joobq.entry import TIMES_FROM, TIMES_TO, Score
from joobq_admin.joobq.spread import Spread


class Period(StrEnum):
    """How far a trend goes back. Its slots are as long as people count time, and nearly as many for each."""

    DAY = "24h"
    WEEK = "7d"
    MONTH = "30d"

    @property
    def slots(self) -> int:
        return {Period.DAY: 96, Period.WEEK: 84, Period.MONTH: 90}[self]

    @property
    def width(self) -> timedelta:
        """Of a slot; slots begin at whole ones since midnight, UTC."""
        hours = {Period.DAY: 0.25, Period.WEEK: 2, Period.MONTH: 8}[self]
        return timedelta(hours=hours)


@dataclass(frozen=True, slots=True)
class Slot:
    """Deaths from `since` to before `until`."""

    since: datetime
    until: datetime
    count: int


@dataclass(frozen=True, slots=True)
class Trend:
    """`slots`: the oldest first; the last one holds now, and is not over yet. Source: the scores of the dead set.

    They add up: `total` = `before` + those of all slots (`died`) + `ahead` (of clocks that are wrong) + `undated`
    (their score is no time). `as_of`: the server's clock.
    """

    period: Period
    slots: tuple[Slot, ...]
    before: int
    ahead: int
    undated: int
    total: int
    as_of: datetime

    @property
    def died(self) -> int:
        return sum(slot.count for slot in self.slots)

    @property
    def peak(self) -> Slot | None:
        """The first of those in which most died; None when none did."""
        most = max(self.slots, key=lambda slot: slot.count)
        return most if most.count else None


def edges(period: Period, now: datetime) -> list[Score]:
    """The scores between which entries are to be counted (by a `spread`). `now`: where the last slot is."""
    return [TIMES_FROM, *(round(at.timestamp() * 1000) for at in _bounds(period, now)), TIMES_TO]


def trend(found: Spread, period: Period, now: datetime) -> Trend:
    """`found`: between the edges of this period and this moment."""
    bounds = _bounds(period, now)
    before, *counts, ahead = found.between
    slots = zip(bounds, bounds[1:], counts, strict=False)
    return Trend(
        period=period,
        slots=tuple(Slot(*slot) for slot in slots),
        before=before,
        ahead=ahead,
        undated=found.below + found.beyond,
        total=found.total,
        as_of=found.as_of,
    )


def _bounds(period: Period, now: datetime) -> list[datetime]:
    """Of the slots: one more than there are."""
    seconds = period.width.total_seconds()
    end = (now.timestamp() // seconds + 1) * seconds
    return [datetime.fromtimestamp(end - n * seconds, UTC) for n in range(period.slots, -1, -1)]
