"""What became of an entry and of its job.

Told from two sources and from nothing else: the entries of the job that are in the dead set now, and the audit log. A
death whose entry left before the log began, or was taken away by another tool, is not known and not told.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from joobq_admin.joobq.audit import Record
from joobq_admin.joobq.entry import TIMES_FROM, TIMES_TO, Entry, Score

LONG_AGO = datetime.min.replace(tzinfo=UTC)


class StepKind(StrEnum):
    DIED = "died"
    REDRIVEN = "redriven"
    PURGED = "purged"
    RESTORED = "restored"


#: What of the audit log belongs to the life of an entry.
KIND_OF = {"redrive": StepKind.REDRIVEN, "purge": StepKind.PURGED, "restore": StepKind.RESTORED}
LEFT_WITH = (StepKind.REDRIVEN, StepKind.PURGED)
_DID = {action: kind.value for action, kind in KIND_OF.items()}
_DID |= {"purge_all": StepKind.PURGED.value, "empty": "purged for good", "unredacted": "downloaded"}


def did(action: str) -> str:
    """What a record of this action says was done: "redriven"."""
    return _DID.get(action, action)


@dataclass(frozen=True, slots=True)
class Step:
    """A death (`entry` while it is here, else `record` = what it left with), or what an operator did (`record`)."""

    kind: StepKind
    at: datetime | None
    entry: Entry | None = None
    record: Record | None = None


def history(here: Iterable[Entry], records: Iterable[Record]) -> list[Step]:
    """All that is known of a job, the newest first. `here`: its entries; `records`: what was done to any of them."""
    records = [record for record in records if record.action in KIND_OF]
    deaths = {entry.digest: Step(StepKind.DIED, entry.died_at, entry=entry) for entry in here}
    for record in records:  # the newest first: an entry that came back and left again left with the newest
        if record.digest not in deaths and KIND_OF[record.action] in LEFT_WITH:
            deaths[record.digest] = Step(StepKind.DIED, time_of(record), record=record)
    done = [Step(KIND_OF[record.action], record.at, record=record) for record in records]
    return sorted([*deaths.values(), *done], key=_when, reverse=True)


def _when(step: Step) -> tuple[datetime, bool]:
    """A death whose time is not known stands right before what it left with."""
    at = step.at or (step.record and step.record.at) or LONG_AGO
    return at, step.kind is not StepKind.DIED


def time_of(record: Record) -> datetime | None:
    """When the entry of this record had died, as far as its score says."""
    return time_told_by(record.score)


def time_told_by(score: Score | None) -> datetime | None:
    """When an entry with this score died; None for a score that is no time."""
    return datetime.fromtimestamp(score / 1000, UTC) if score and TIMES_FROM <= score < TIMES_TO else None


def last_move(records: Iterable[Record]) -> Record | None:
    """What was last done to an entry, by the records of its bytes, newest first; who only looked moved nothing."""
    return next((record for record in records if record.action in KIND_OF), None)


def fate(records: Iterable[Record]) -> Record | None:
    """How an entry that is not here left, by the records of its bytes, newest first; None when no record says."""
    last = last_move(records)
    return last if last and KIND_OF[last.action] in LEFT_WITH else None


def redriven_before(entry: Entry, records: Iterable[Record]) -> Record | None:
    """The last redrive of this job before it died as this entry: it died again. `records` of the job, newest first."""
    died = entry.died_at
    return next((r for r in records if r.action == "redrive" and died and r.at and r.at < died), None)


def redriven_since(entry: Entry, records: Iterable[Record]) -> Record | None:
    """The last redrive of another entry of this job after this death: a copy of the job is under way, or was."""
    died, others = entry.died_at, (r for r in records if r.action == "redrive" and r.digest != entry.digest)
    return next((r for r in others if r.at and (died is None or r.at >= died)), None)


def next_death(record: Record, here: Iterable[Entry]) -> Entry | None:
    """The newest entry of the job that died after it was redriven."""
    at = record.at
    later = [entry for entry in here if entry.digest != record.digest and at and _died_after(entry, at)]
    return max(later, key=lambda entry: entry.died_at or LONG_AGO, default=None)


def _died_after(entry: Entry, at: datetime) -> bool:
    """A time that is told by the entry itself is one of whole seconds."""
    since = at if entry.died_at_source == "score" else at.replace(microsecond=0)
    return entry.died_at is not None and entry.died_at >= since


def went_with_all(purges: Sequence[Record], died: datetime | None, last: Record | None, queue: str) -> Record | None:
    """The first purge of everything that an entry may have gone with. `purges`: of the whole set or of one queue.

    `died`: when, as far as that is known; `last`: the newest record of it, when it was here; `queue`: '' = not known.
    One that must have taken it goes before one that took a queue that was perhaps its own.
    """
    later = [purge for purge in purges if died is None or (purge.at and purge.at >= died)]
    if last:
        later = [purge for purge in later if _place(purge) > _place(last)]
    sure = [purge for purge in later if purge.everything or (queue and purge.queue == queue)]
    perhaps = [purge for purge in later if not queue]
    return min(sure or perhaps, key=_place, default=None)


def _place(record: Record) -> tuple[int, ...]:
    """In the log."""
    return tuple(map(int, record.id.split("-")))
