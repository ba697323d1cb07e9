"""Moments as a reader sees them: in the zone that they chose (to Django the current one), with UTC beside in full."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

from django.utils.timezone import get_current_timezone, get_current_timezone_name


@dataclass(frozen=True, slots=True)
class When:
    """One moment in four ways: for machines, as a distance, by the clock, and in full."""

    at: datetime
    rel: str
    clock: str
    full: str

    @property
    def iso(self) -> str:
        return self.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def now() -> datetime:
    return datetime.now(UTC)


def at(ms: int | None) -> datetime | None:
    """A moment in unix ms; None for one that no calendar knows."""
    try:
        return datetime.fromtimestamp(ms / 1000, UTC) if ms is not None else None
    except (ValueError, OverflowError, OSError):
        return None


def when(at: datetime, now: datetime) -> When:
    local = here(at)
    return When(at, distance(at, now), _clock(local, here(now).date()), _in_full(local))


def distance(at: datetime, now: datetime) -> str:
    """'21 s ago', '1 h 12 min ago', 'in 3 d'. A moment that is just ahead is a clock that differs: 'just now'."""
    seconds = int((now - at).total_seconds())
    if -5 <= seconds < 1:
        return "just now"
    return f"{span(seconds)} ago" if seconds > 0 else f"in {span(-seconds)}"


def span(seconds: int) -> str:
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3_600:
        return f"{seconds // 60} min"
    if seconds < 36_000:
        hours, minutes = seconds // 3_600, seconds % 3_600 // 60
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{seconds // 3_600} h" if seconds < 86_400 else f"{seconds // 86_400:,} d"


def ago(ms: int) -> str:
    """How long it was that long ago."""
    return span(max(0, ms) // 1_000)


def ahead(ms: int) -> str:
    """How long it still is, rounded up: what is left is never said to be over."""
    return span(-(-max(0, ms) // 1_000))


def here(at: datetime) -> datetime:
    """The same moment in the reader's zone; in UTC where calendars end."""
    try:
        return at.astimezone(get_current_timezone())
    except OverflowError:
        return at.astimezone(UTC)


def time(at: datetime) -> str:
    return here(at).strftime("%H:%M:%S")


def named(at: datetime) -> str:
    """The time with its zone: '02:21:40 UTC'."""
    return f"{time(at)} {zone(at)}"


def zone(at: datetime) -> str:
    """What the reader's zone is called then: 'UTC', 'CET', or 'UTC+3' where it has no name but its distance."""
    return _zone(here(at))


def zone_name() -> str:
    """'Europe/Berlin'."""
    return get_current_timezone_name()


def zone_in_full(at: datetime) -> str:
    """'Europe/Berlin (UTC+1)'."""
    return f"{zone_name()} ({_distance(here(at))})" if zone_name() != "UTC" else "UTC"


def clock(at: datetime, now: datetime) -> str:
    """The time of day; with its date when that is not today's."""
    return _clock(here(at), here(now).date())


def minute(at: datetime, now: datetime) -> str:
    """The same without seconds."""
    return _minute(here(at), here(now).date())


def between(since: datetime, until: datetime, now: datetime) -> str:
    """'02:00 to 02:15', each with its date when that is not today's; one that both share is said once."""
    first, last = here(since).replace(tzinfo=None), here(until).replace(tzinfo=None)
    return _between(first, last, here(now).date())


def in_full(at: datetime) -> str:
    """'Sun 29 Nov 2026, 02:21:40 CET. 01:21:40 UTC'; with the date there too when it is another."""
    return _in_full(here(at))


def until(at: datetime) -> str:
    """'Mon 30 Nov, 02:21 UTC'."""
    return f"{here(at):%a %-d %b, %H:%M} {zone(at)}"


def short_date(at: datetime) -> str:
    """'29 Nov 2026'."""
    return here(at).strftime("%-d %b %Y")


def date_of(at: datetime) -> str:
    """'Sun 29 Nov 2026'."""
    return here(at).strftime("%a %-d %b %Y")


def day(at: datetime, now: datetime) -> str:
    """A heading: 'Today, Sun 29 Nov'."""
    return _day(here(at).date(), here(now).date())


# -- of moments that are in the reader's zone: a list has many


def _clock(at: datetime, today: date) -> str:
    if at.date() == today:
        return at.strftime("%H:%M:%S")
    return at.strftime("%-d %b, %H:%M") if at.year == today.year else at.strftime("%-d %b %Y")


def _minute(at: datetime, today: date) -> str:
    text = _clock(at, today)
    return text[:-3] if at.date() == today else text


@lru_cache(maxsize=1024)  # a trend tells the same ones again and again
def _between(since: datetime, until: datetime, today: date) -> str:
    """Of moments without a zone: equal moments of two zones are told in two ways."""
    first, last = _minute(since, today), _minute(until, today)
    date, _, clock = last.rpartition(", ")
    if date and first.startswith(f"{date}, "):
        last = clock
    elif until.date() == today != since.date():
        last = f"today, {last}"
    return f"{first} to {last}"


@lru_cache(maxsize=64)
def _day(day: date, today: date) -> str:
    names = {today: "Today, ", today - timedelta(days=1): "Yesterday, "}
    return names.get(day, "") + day.strftime("%a %-d %b" if day.year == today.year else "%a %-d %b %Y")


def _in_full(at: datetime) -> str:
    told = at.strftime("%a %-d %b %Y, %H:%M:%S ")
    if at.tzname() == "UTC":
        return f"{told}UTC"
    there = at.astimezone(UTC)
    other = there.strftime("%H:%M:%S UTC" if there.date() == at.date() else "%a %-d %b, %H:%M:%S UTC")
    return f"{told}{_zone(at)}. {other}"


def _zone(at: datetime) -> str:
    name = at.tzname() or ""
    return _distance(at) if name[:1] in ("+", "-") else name


def _distance(at: datetime) -> str:
    text = at.strftime("%z")
    minutes = f":{text[3:5]}" if text[3:5] != "00" else ""
    return f"UTC{text[0]}{int(text[1:3])}{minutes}"
