"""A trend has as many slots as fit a page, each as long as people count time, and its numbers add up."""

from datetime import UTC, datetime, timedelta

import pytest

from joobq_admin.joobq.spread import Spread
from joobq_admin.triage.trend import Period, Trend, edges, trend

NOW = datetime(2026, 11, 29, 2, 21, 40, tzinfo=UTC)


def of(period: Period, *counts: int, below: int = 0, total: int | None = None, now: datetime = NOW) -> Trend:
    """`counts`: from the newest slot back; the rest are empty."""
    slots = [*reversed(counts)]
    between = (3, *[0] * (period.slots - len(slots)), *slots, 1)
    found = Spread(below + sum(between) if total is None else total, below, between, now)
    return trend(found, period, now)


@pytest.mark.parametrize(
    ("period", "slots", "first", "last"),
    [
        (Period.DAY, 96, datetime(2026, 11, 28, 2, 30, tzinfo=UTC), datetime(2026, 11, 29, 2, 15, tzinfo=UTC)),
        (Period.WEEK, 84, datetime(2026, 11, 22, 4, 0, tzinfo=UTC), datetime(2026, 11, 29, 2, 0, tzinfo=UTC)),
        (Period.MONTH, 90, datetime(2026, 10, 30, 8, 0, tzinfo=UTC), datetime(2026, 11, 29, 0, 0, tzinfo=UTC)),
    ],
)
def test_slots_begin_at_whole_ones_and_the_last_holds_now(
    period: Period, slots: int, first: datetime, last: datetime
) -> None:
    told = of(period)
    assert len(told.slots) == slots == len(edges(period, NOW)) - 3
    assert (told.slots[0].since, told.slots[-1].since) == (first, last)
    assert told.slots[-1].since <= NOW < told.slots[-1].until
    assert all(one.until == other.since for one, other in zip(told.slots, told.slots[1:], strict=False))
    assert edges(period, NOW) == sorted(edges(period, NOW))


def test_a_slot_that_begins_now() -> None:
    at = datetime(2026, 11, 29, 2, 15, tzinfo=UTC)
    assert of(Period.DAY, now=at).slots[-1].since == at
    assert of(Period.DAY, now=at - timedelta(microseconds=1)).slots[-1].until == at


def test_the_peak_is_the_first_of_the_highest() -> None:
    told = of(Period.DAY, 5, 96, 96, 7)
    assert told.peak is not None
    assert (told.peak.count, told.peak.since) == (96, datetime(2026, 11, 29, 1, 45, tzinfo=UTC))
    assert of(Period.DAY).peak is None


def test_the_numbers_add_up() -> None:
    told = of(Period.WEEK, 5, 6, below=4, total=4 + 3 + 11 + 1 + 2)
    assert (told.before, told.died, told.ahead, told.undated, told.total) == (3, 11, 1, 6, 21)
