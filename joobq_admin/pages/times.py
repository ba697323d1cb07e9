"""Moments as a reader sees them. Everything here is UTC, and says so."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta


@dataclass(frozen=True, slots=True)
class When:
    """One moment in four ways: for machines, as a distance, by the clock, and in full."""

    iso: str
    rel: str
    clock: str
    full: str


def now() -> datetime:
    return datetime.now(UTC)


def when(at: datetime, now: datetime) -> When:
    return When(at.strftime("%Y-%m-%dT%H:%M:%SZ"), distance(at, now), clock(at, now), in_full(at))


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


def clock(at: datetime, now: datetime) -> str:
    """The time of day; with its date when that is not today's."""
    if at.date() == now.date():
        return at.strftime("%H:%M:%S")
    return at.strftime("%-d %b, %H:%M") if at.year == now.year else at.strftime("%-d %b %Y")


def minute(at: datetime, now: datetime) -> str:
    """The same without seconds."""
    text = clock(at, now)
    return text[:-3] if at.date() == now.date() else text


def between(since: datetime, until: datetime, now: datetime) -> str:
    """'02:00 to 02:15', each with its date when that is not today's; one that both share is said once."""
    first, last = minute(since, now), minute(until, now)
    date, _, clock = last.rpartition(", ")
    return f"{first} to {clock if date and first.startswith(f'{date}, ') else last}"


def in_full(at: datetime) -> str:
    return at.strftime("%a %-d %b %Y, %H:%M:%S UTC")


def day(at: datetime, now: datetime) -> str:
    """A heading: 'Today, Sun 29 Nov'."""
    names: dict[date, str] = {now.date(): "Today, ", now.date() - timedelta(days=1): "Yesterday, "}
    return names.get(at.date(), "") + at.strftime("%a %-d %b" if at.year == now.year else "%a %-d %b %Y")
