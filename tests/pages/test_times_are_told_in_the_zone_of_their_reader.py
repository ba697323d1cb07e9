"""A moment in four ways: for machines, as a distance, by the clock, in full; in the zone that its reader chose."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from joobq_admin.joobq.redriven import Change
from joobq_admin.pages import times
from joobq_admin.pages.sends import changes
from tests.support import sources

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
    at = NOW - timedelta(seconds=21)
    when = times.when(at, NOW)
    assert when == times.When(at, "21 s ago", "02:21:19", "Sun 29 Nov 2026, 02:21:19 UTC")
    assert when.iso == "2026-11-29T02:21:19Z"


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
        (str(int(NOW.timestamp() * 1000) + 25 * 3_600_000), "in 25 h, 30 Nov, 03:21"),
        (str(int(NOW.timestamp() * 1000) + 5 * 3_600_000), "in 5 h, 07:21:40"),
        (str(int(NOW.timestamp() * 1000) + 20 * 60_000), "in 20 min, 02:41:40"),
    ],
)  # fmt: skip
def test_an_expiry_is_told_as_what_it_means(ms: str, said: str) -> None:
    assert changes([Change("expires", "null", ms)], NOW) == (("expires", "null", said),)


@pytest.mark.parametrize(
    ("zone", "clock", "named", "full"),
    [
        ("UTC", "02:21:40", "02:21:40 UTC", "Sun 29 Nov 2026, 02:21:40 UTC"),
        ("Europe/Berlin", "03:21:40", "03:21:40 CET", "Sun 29 Nov 2026, 03:21:40 CET. 02:21:40 UTC"),
        ("Europe/London", "02:21:40", "02:21:40 GMT", "Sun 29 Nov 2026, 02:21:40 GMT. 02:21:40 UTC"),
        ("America/New_York", "21:21:40", "21:21:40 EST",
         "Sat 28 Nov 2026, 21:21:40 EST. Sun 29 Nov, 02:21:40 UTC"),
        ("America/Sao_Paulo", "23:21:40", "23:21:40 UTC-3",
         "Sat 28 Nov 2026, 23:21:40 UTC-3. Sun 29 Nov, 02:21:40 UTC"),
        ("Asia/Kolkata", "07:51:40", "07:51:40 IST", "Sun 29 Nov 2026, 07:51:40 IST. 02:21:40 UTC"),
    ],
)  # fmt: skip
def test_in_a_zone_which_is_named_and_utc_beside(zone: str, clock: str, named: str, full: str) -> None:
    with timezone.override(zone):
        when = times.when(NOW, NOW)
        assert (when.iso, when.clock, when.full) == ("2026-11-29T02:21:40Z", clock, full)
        assert (times.named(NOW), times.in_full(NOW)) == (named, full)


def test_a_day_is_one_of_the_zone() -> None:
    before, after = NOW.replace(hour=22, minute=59), NOW.replace(hour=23, minute=1)
    with timezone.override("Europe/Berlin"):
        assert times.day(before, after) == "Yesterday, Sun 29 Nov"
        assert times.day(after, after) == "Today, Mon 30 Nov"
        assert times.clock(before, after) == "29 Nov, 23:59"
        assert times.clock(after, after) == "00:01:40"
        assert times.between(before, after, after) == "29 Nov, 23:59 to today, 00:01"


def test_in_summer_a_zone_has_another_name() -> None:
    with timezone.override("Europe/Berlin"):
        assert times.named(NOW.replace(month=7)) == "04:21:40 CEST"


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
@pytest.mark.parametrize("at", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
def test_where_calendars_end_it_is_utc(zone: str, at: datetime) -> None:
    with timezone.override(zone):
        assert times.when(at, NOW).full
        assert times.named(at)


@pytest.mark.parametrize("path", sources.modules("joobq_admin/pages"))
def test_no_other_module_writes_a_time_for_people(path: str) -> None:
    """With the year first it is one for machines, in UTC."""
    written = re.findall(r"strftime|\{[^{}:]*:%(?!Y)", sources.text(path))
    assert written == [] or path == "joobq_admin/pages/times.py"


def test_one_moment_told_to_two_readers() -> None:
    """What one of them was told is kept for a while, and nothing to the other."""
    since, until = NOW - timedelta(hours=4), NOW - timedelta(hours=3)
    told = []
    for zone in ("UTC", "Asia/Kolkata", "UTC"):
        with timezone.override(zone):
            told.append((times.between(since, until, NOW), times.day(since, NOW)))
    assert told == [
        ("28 Nov, 22:21 to 23:21", "Yesterday, Sat 28 Nov"),
        ("03:51 to 04:51", "Today, Sun 29 Nov"),
        ("28 Nov, 22:21 to 23:21", "Yesterday, Sat 28 Nov"),
    ]
