"""Where a redriven job is now: what one bounded look saw of it, and no more."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from joobq_admin import connection
from joobq_admin.connection import TROUBLE
from joobq_admin.joobq import keys, refusals
from joobq_admin.joobq.audit import Record, as_recorded
from joobq_admin.joobq.entry import Entry, EntryRef
from joobq_admin.joobq.queues import LOOK, Trace
from joobq_admin.pages import links, times
from joobq_admin.pages.rows import error_of
from joobq_admin.pages.tokens import plain
from joobq_admin.pages.words import nth
from joobq_admin.triage import history

FOR = timedelta(minutes=1)  # after a redrive the slip asks again and again for so long
GONE = "not waiting, no further trace"
HASHED = "sha256:"  # so begins a jid in a record when it was too long for it


class Step(NamedTuple):
    state: str  # "done", "now", "bad", or "" = not seen
    text: str


@dataclass(frozen=True, slots=True)
class Follow:
    """`url`: its new entry; `poll_url`: where to ask again; `say`: what is read out, once it has come that far."""

    text: str
    steps: tuple[Step, ...] = ()
    url: str = ""
    poll_url: str = ""
    say: str = ""


def follow(record: Record, *, here: Sequence[Entry] = (), poll: bool = False) -> Follow | None:
    """None where nothing was sent, or no record says what. `here`: entries of the job that were found already."""
    if record.action != "redrive" or not record.queue:
        return None
    if not record.jid:
        return Follow("It has no jid, so it cannot be followed.")
    if as_recorded(record.jid) != record.jid or record.jid.startswith(HASHED):
        return Follow("Its jid is too long for it to be followed.")
    try:
        seen = connection.trace(record.queue, record.jid)
    except TROUBLE as trouble:
        return untold(refusals.said(trouble), times.now())
    again = history.next_death(record, [*here, *seen.dead])
    if again:
        return _died_again(record, again, seen)
    told = _not_dead(record, seen)
    if not (poll and record.at and seen.job.as_of - record.at < FOR):
        return told
    return Follow(told.text, told.steps, poll_url=_poll_url(record), say=told.say)


def now_of(queue: str, jid: str) -> tuple[str, str]:
    """Where a job is now that nobody here has sent, and what was looked at to say so."""
    try:
        told = _not_dead(Record("0-0", "", "", queue=queue), connection.trace(queue, jid))
    except TROUBLE as trouble:
        return "Not known", untold(refusals.said(trouble), times.now()).text
    (now,) = (step.text for step in told.steps if step.state == "now")
    return f"{now[:1].upper()}{now[1:]}", told.text


def untold(said: str, at: datetime) -> Follow:
    """`said`: Redis's own words; '' = it did not answer."""
    why = f"Redis said {plain(said).removesuffix('.')}" if said else "Redis did not answer"
    return Follow(f"Where the job is now is not known: {why}, at {times.time(at)}.")


def _poll_url(record: Record) -> str:
    ref = EntryRef(record.score, record.digest, record.jid) if record.score is not None else None
    return links.operation(record.operation, "redrive" if ref else "", ref)


def _died_again(record: Record, again: Entry, seen: Trace) -> Follow:
    cls, message = error_of(again)
    at = f" {times.clock(again.died_at, seen.job.as_of)}" if again.died_at else ""
    last = Step("bad", f"died again{at}")
    text = f"It died again: {cls}, {message}." if message else f"It died again: {cls}."
    return Follow(text, _steps(record, last), url=links.entry(again.ref), say=last.text)


def _not_dead(record: Record, seen: Trace) -> Follow:
    job, queue, at = seen.job, plain(record.queue), f"at {times.time(seen.job.as_of)}"
    processing = plain(keys.processing(b"").decode()) + queue
    if job.place:
        front = f"front of {queue}" if job.place == 1 else f"{nth(job.place)} from the front of {queue}"
        first = "Next to run in" if job.place == 1 else f"{nth(job.place)} from the front of"
        text = f"{first} {queue}, {job.waiting:,} waiting, {at}."
        return Follow(text, (Step("now", front), Step("", "being processed"), Step("", GONE)))
    if job.processing:
        text = f"In {processing} {at}: a worker has it, or left it behind."
        return Follow(text, (Step("done", f"front of {queue}"), Step("now", "being processed"), Step("", GONE)))
    if job.delayed:
        due = f"until {times.clock(job.due, job.as_of)}" if job.due else "until a time that is not told"
        last = Step("now", f"delayed {due}")
        return Follow(f"In {keys.DELAYED.decode()} {at}: to run again later.", _steps(record, last))
    dead = "not dead" + (" again" if seen.dead else "")
    if not _saw_all_deaths(record, seen):
        dead += f" among the newest {seen.looked:,} entries"
    if not job.whole:
        of = f"{queue}, {processing} and {keys.DELAYED.decode()}"
        text = f"Not seen among the nearest {LOOK} (or the nearest MiB) of {of}, and {dead}, {at}."
        return Follow(text, _steps(record, Step("now", f"not seen among the nearest {LOOK}")))
    text = f"Not waiting in {queue}, not being processed, {dead}, {at}. Redis keeps no record of jobs that ended well."
    return Follow(text, _steps(record, Step("now", GONE)), say=GONE)


def _saw_all_deaths(record: Record, seen: Trace) -> bool:
    """Of those after the redrive."""
    return seen.back_to is None or (record.at is not None and seen.back_to < record.at.timestamp() * 1000)


def _steps(record: Record, last: Step) -> tuple[Step, ...]:
    """It was at the front: the redrive put it there. Whether a worker had it was not seen."""
    return Step("done", f"front of {plain(record.queue)}"), Step("", "being processed"), last
