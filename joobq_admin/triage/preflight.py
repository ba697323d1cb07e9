"""Before a redrive: what would be sent, and what an operator should know before they press.

`preflight` tells what the entry and the audit log say; `outlook` looks further: will it die again? Each of its facts
names the key or the field that it was read from, and what was seen there, never more.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from joobq_admin.joobq import keys, queues
from joobq_admin.joobq.audit import Record
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.entry import Entry, to_bytes, to_text
from joobq_admin.joobq.outcome import Refused
from joobq_admin.joobq.queues import Whereabouts, Workers
from joobq_admin.joobq.redriven import CannotRedrive, Redriven
from joobq_admin.triage.fingerprint import id_of, key_of
from joobq_admin.triage.history import StepKind, history, redriven_before, redriven_since
from joobq_admin.triage.lately import MINUTES, Arriving, Lately, Look
from joobq_admin.triage.redact import Redaction


@dataclass(frozen=True, slots=True)
class Preflight:
    """Either what a redrive would push now, or why it would be refused. Source: the entry's bytes and the audit log.

    `redriven_before`: the redrive after which it died again; `redriven_since`: of another death of its job, after this.
    """

    push: Redriven | None
    refused: Refused | None
    redriven_before: Record | None
    redriven_since: Record | None


def preflight(queue: DeadLetterQueue, entry: Entry, records: Iterable[Record]) -> Preflight:
    """`records`: what was done to entries of this job, the newest first."""
    records = list(records)
    before, since = redriven_before(entry, records), redriven_since(entry, records)
    try:
        push = queue.preview(entry)
    except CannotRedrive as no:
        return Preflight(None, Refused(entry.ref, no.reason, no.detail), before, since)
    return Preflight(push, None, before, since)


class Sign(StrEnum):
    """What bears on whether it dies again."""

    WAITING = "waiting"  # a copy of the job waits in its queue: `count` = its place from the front
    PROCESSING = "processing"  # a worker has a copy of it, or left it behind
    DELAYED = "delayed"  # a copy of it will be retried: `at`, where that is told
    SINCE = "since"  # it died again: `count` others of its queue died of this error since it was redriven
    DEATHS = "deaths"  # it died before: `count` deaths are known, this one among them; `names`: who redrove it
    ARRIVING = "arriving"  # others died of this error within five minutes: `count`, the last one `at`
    NO_WORKER = "no worker"  # no sign of one in its queue: `count` jobs wait there


@dataclass(frozen=True, slots=True)
class Fact:
    """`source`: the key or the field that says so. `whole`: not so = at least so many, since not all was looked at."""

    sign: Sign
    source: str
    count: int | None = None
    at: datetime | None = None
    names: tuple[str, ...] = ()
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Outlook:
    """The facts, and what they were told from: of its job (None: it has no jid) and of its queue's workers.

    `lately`: whether all that died within five minutes was looked at.
    """

    facts: tuple[Fact, ...]
    job: Whereabouts | None
    workers: Workers | None
    lately: bool

    def of(self, sign: Sign) -> Fact | None:
        return next((fact for fact in self.facts if fact.sign is sign), None)


def outlook(
    queue: DeadLetterQueue,
    entry: Entry,
    flight: Preflight,
    here: Sequence[Entry],
    records: Iterable[Record],
    lately: Lately,
    redaction: Redaction,
    all_here: bool = True,
) -> Outlook:
    """At most one round trip. `here`: the entries of its job that were found (`all_here`: there are no more);
    `records`: what was done to any of them. Raises Unreachable, or what Redis says.
    """
    question, seen = lately.question(), None
    if flight.push:
        seen = queues.outlook(queue.redis, entry.queue, entry.jid, question.calls if question else ())
    look, error = lately.look(question, seen.beside if seen else ()), id_of(key_of(entry, redaction))
    job, workers = (seen.job, seen.workers) if seen else (None, None)
    facts = (
        *_since(entry, flight, look, error),
        *_deaths(here, records, all_here),
        *_alive(entry, job),
        *_arriving(look.arriving(error, entry.digest)),
        *_without_workers(entry, workers),
    )
    return Outlook(facts, job, workers, look.covers(look.as_of - MINUTES))


def _since(entry: Entry, flight: Preflight, look: Look, error: str) -> Iterator[Fact]:
    before = flight.redriven_before
    if before and before.at and (found := look.died(error, before.at, entry.digest, entry.queue)):
        yield Fact(Sign.SINCE, _name(keys.DEAD), count=found.count, at=before.at, whole=found.whole)


def _alive(entry: Entry, job: Whereabouts | None) -> Iterator[Fact]:
    name = to_bytes(entry.queue)
    if job and job.place:
        yield Fact(Sign.WAITING, _name(name), count=job.place)
    if job and job.processing:
        yield Fact(Sign.PROCESSING, _name(keys.processing(name)))
    if job and job.delayed:
        yield Fact(Sign.DELAYED, _name(keys.DELAYED), at=job.due)


def _arriving(found: Arriving | None) -> Iterator[Fact]:
    if found:
        yield Fact(Sign.ARRIVING, _name(keys.DEAD), count=found.count, at=found.last, whole=found.whole)


def _without_workers(entry: Entry, workers: Workers | None) -> Iterator[Fact]:
    if workers and not workers.seen:
        name = to_bytes(entry.queue)
        sources = [name if workers.waiting else keys.PROCESSED, keys.processing(name)]
        yield Fact(Sign.NO_WORKER, ", ".join(map(_name, sources)), count=workers.waiting)


def _deaths(here: Sequence[Entry], records: Iterable[Record], all_here: bool) -> Iterator[Fact]:
    steps = history(here, records)
    deaths = sum(step.kind is StepKind.DIED for step in steps)
    told = [step.record for step in reversed(steps) if step.record]
    if deaths > 1:
        names = dict.fromkeys(record.name or record.by for record in told if record.action == "redrive")
        sources = [keys.DEAD, *([keys.AUDIT] if told else [])]
        yield Fact(Sign.DEATHS, ", ".join(map(_name, sources)), count=deaths, names=tuple(names), whole=all_here)


def _name(key: bytes) -> str:
    return to_text(key)
