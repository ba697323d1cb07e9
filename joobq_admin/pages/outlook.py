"""Whether a job may die again, as its slip says it: each line with the keys or the fields that say so."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import Entry, Kind, to_bytes, to_text
from joobq_admin.joobq.queues import LOOK
from joobq_admin.pages import times
from joobq_admin.pages.sends import name_of
from joobq_admin.pages.tokens import plain
from joobq_admin.pages.words import joined, nth
from joobq_admin.triage import preflight
from joobq_admin.triage.history import LONG_AGO
from joobq_admin.triage.preflight import Fact, Preflight, Sign

AUDIT, DEAD, DELAYED = (to_text(key) for key in (keys.AUDIT, keys.DEAD, keys.DELAYED))
SECOND = "This one would be a second copy."
MOST_NAMED = 5


class Line(NamedTuple):
    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Outlook:
    """What speaks against a redrive now; where nothing does, `nothing` says how far that was looked for."""

    against: list[Line]
    nothing: Line


def outlook(entry: Entry, flight: Preflight, seen: preflight.Outlook, here: Sequence[Entry], now: datetime) -> Outlook:
    """`here`: the entries of its job that were found."""
    lines = (*_before(entry, flight, seen, here, now), *_now(entry, seen, now), *_itself(entry))
    return Outlook([Line(text, plain(source, 400)) for text, source in lines], _nothing(entry, seen))


def _before(
    entry: Entry, flight: Preflight, seen: preflight.Outlook, here: Sequence[Entry], now: datetime
) -> Iterator[Line]:
    if before := flight.redriven_before:
        ago = times.distance(before.at, now) if before.at else "before"
        fact = seen.of(Sign.SINCE)
        since = f" Since then {_entries(fact)} of {_queue(entry)} died with the same error." if fact else ""
        yield Line(f"Redriven {ago} and died again.{since}", f"{AUDIT}, {fact.source}" if fact else AUDIT)
    if fact := seen.of(Sign.DEATHS):
        newest = max(here, key=lambda other: other.died_at or LONG_AGO)
        yield Line(_deaths(fact, entry.digest == newest.digest), fact.source)
    if since := flight.redriven_since:
        ago = times.distance(since.at, now) if since.at else "before"
        yield Line(f"Another death of this job was redriven {ago} by {name_of(since)}. {SECOND}", AUDIT)


def _entries(fact: Fact) -> str:
    least = "" if fact.whole else "at least "
    return f"{least}{fact.count:,} {'entry' if fact.count == 1 else 'entries'}"


def _deaths(fact: Fact, is_newest: bool) -> str:
    assert fact.count
    least = "" if fact.whole else "at least "
    text = f"{least}{nth(fact.count)} death" if is_newest else f"One of {least}{fact.count:,} deaths of this job"
    by = f"; redriven by {joined([plain(name, 80) for name in fact.names], MOST_NAMED)}" if fact.names else ""
    return f"{text[0].upper()}{text[1:]}{by}."


def _now(entry: Entry, seen: preflight.Outlook, now: datetime) -> Iterator[Line]:
    queue = _queue(entry)
    if fact := seen.of(Sign.WAITING):
        place = "next to run" if fact.count == 1 else f"{nth(fact.count or 0)} from the front"
        yield Line(f"A copy of this job waits in {queue}, {place}. {SECOND}", fact.source)
    if fact := seen.of(Sign.PROCESSING):
        yield Line(f"A worker has a copy of this job, or left it behind. {SECOND}", fact.source)
    if fact := seen.of(Sign.DELAYED):
        until = times.clock(fact.at, now) if fact.at else "a time that is not told"
        yield Line(f"A copy of this job is delayed until {until}. {SECOND}", fact.source)
    if fact := seen.of(Sign.ARRIVING):
        n = f"{'' if fact.whole else 'At least '}{fact.count:,} other{'s' * (fact.count != 1)}"
        last = f", the last {times.distance(fact.at, now)}" if fact.at else ""
        yield Line(f"{n} died of this error in the last 5 minutes{last}.", fact.source)
    if fact := seen.of(Sign.NO_WORKER):
        idle = f"{fact.count:,} wait in {queue}" if fact.count else f"nothing of {queue} was ever counted as run"
        yield Line(f"No sign of a worker: {idle}, and nothing of it is being run.", fact.source)


def _itself(entry: Entry) -> Iterator[Line]:
    if entry.kind is Kind.EXPIRED:
        text = "It never failed: it had expired before a worker took it. It is sent with a new expiry."
        yield Line(text, "status, expires")
    if entry.max_retries == 0:
        yield Line("It runs once: its max_retries is 0, so a failure is a death at once.", "max_retries")
    if entry.jid is None:
        yield Line("It has no jid: a worker gives it a new one, and this dashboard cannot follow it.", "jid")


def _nothing(entry: Entry, seen: preflight.Outlook) -> Line:
    found, sources = list[str](), list[str]()
    if seen.job:
        places = [entry.queue, to_text(keys.processing(to_bytes(entry.queue))), DELAYED]
        near = "" if seen.job.whole else f" among the nearest {LOOK} of each"
        found.append(f"no copy of this job waits, runs or is delayed{near}")
        sources += places
    among = "in the last 5 minutes" if seen.lately else "among the newest that died"
    found.append(f"no other died of this error {among}")
    return Line(f"Nothing seen that says so: {', and '.join(found)}.", plain(", ".join([*sources, DEAD]), 400))


def _queue(entry: Entry) -> str:
    return plain(entry.queue, 200)
