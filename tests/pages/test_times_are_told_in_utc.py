"""A moment in four ways: for machines, as a distance, by the clock, in full. All of it is UTC and says so."""

from datetime import UTC, datetime, timedelta

import pytest

from joobq_admin.joobq.redriven import Change
from joobq_admin.pages import times
from joobq_admin.pages.sends import changes

NOW = datetime(2026, 11, 29, 2, 21, 40, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-90, "in 1 min"), (-3, "just now"), (0, "just now"), (21, "21 s ago"), (59, "59 s ago"), (60, "1 min ago"),
        (3_600, "1 h ago"), (4_320, "1 h 12 min ago"), (36_000, "10 h ago"), (86_399, "23 h ago"), (86_400, "1 d ago"),
        (10**8, "1,157 d ago"),
    ],
)  # fmt: skip
def test_how_long_ago(seconds: int, said: str) -> None:
    assert times.distance(NOW - timedelta(seconds=seconds), NOW) == said


@pytest.mark.parametrize(
    ("at", "said"),
    [
        (NOW, "02:21:40"),
        (NOW - timedelta(hours=3), "28 Nov, 23:21"),
        (NOW - timedelta(days=400), "25 Oct 2025"),
    ],
)
def test_by_the_clock(at: datetime, said: str) -> None:
    assert times.clock(at, NOW) == said


def test_in_full_and_for_machines() -> None:
    when = times.when(NOW - timedelta(seconds=21), NOW)
    assert when == times.When("2026-11-29T02:21:19Z", "21 s ago", "02:21:19", "Sun 29 Nov 2026, 02:21:19 UTC")


@pytest.mark.parametrize(
    ("days", "said"), [(0, "Today, Sun 29 Nov"), (1, "Yesterday, Sat 28 Nov"), (400, "Sat 25 Oct 2025")]
)
def test_a_day_is_a_heading(days: int, said: str) -> None:
    assert times.day(NOW - timedelta(days=days), NOW) == said


@pytest.mark.parametrize(
    ("ms", "said"),
    [
        ("5", "past"), ("-1", "past"), ("-" + "9" * 18, "past"), ("9" * 18, "9" * 18),
        (str(int(NOW.timestamp() * 1000) + 72 * 3_600_000 - 900), "in 3 days, 2 Dec, 02:21"),
        (str(int(NOW.timestamp() * 1000) + 24 * 3_600_000), "in 1 day, 30 Nov, 02:21"),
        (str(int(NOW.timestamp() * 1000) + 5 * 3_600_000), "in 5 h, 07:21:40"),
    ],
)  # fmt: skip
def test_an_expiry_is_told_as_what_it_means(ms: str, said: str) -> None:
    assert changes([Change("expires", "null", ms)], NOW) == (("expires", "null", said),)
