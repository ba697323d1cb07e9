"""The slip: the one place where an entry is acted on and where the answer appears. Each function is one answer.

It says what happened, who and when, and where the job is now; never more than Redis confirmed.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from joobq_admin.connection import redaction
from joobq_admin.joobq.audit import Record
from joobq_admin.joobq.entry import Entry, EntryRef, score_text
from joobq_admin.joobq.outcome import Refusal, Refused
from joobq_admin.pages import links, times, words
from joobq_admin.pages.follow import Follow
from joobq_admin.pages.links import Link
from joobq_admin.pages.looked import Looked
from joobq_admin.pages.outlook import Outlook
from joobq_admin.pages.sends import Sent, changes, in_one_line, name_of, receipt
from joobq_admin.pages.tokens import plain
from joobq_admin.pages.undo import Undo
from joobq_admin.sso.roles import Action, User
from joobq_admin.triage import history
from joobq_admin.triage.preflight import Preflight
from joobq_admin.triage.versions import Version, differences, same_job

#: What is said of the front of a queue is of the moment of the redrive: later others may stand there.
JUST_NOW = timedelta(seconds=10)
NO_RECORD = "the audit log has no record of these bytes"


class Form(NamedTuple):
    """The hidden fields of a press: which exact entry, as what operation, and what its presser had before them."""

    score: str
    digest: str
    jid: str
    operation: str
    reviewed: str
    older: str
    reason: str  # of a purge
    for_good: bool  # a purge that keeps no copy


def form(
    ref: EntryRef, operation: str, reviewed: str = "", older: str = "", reason: str = "", for_good: bool = False
) -> Form:
    jid = ref.jid if ref.jid and links.is_plain(ref.jid) else ""
    return Form(score_text(ref.score), ref.digest, jid, operation, reviewed, older, reason, for_good)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slip:
    """What a slip may say. Each template of dead_letters/actions/ prints what it has."""

    template: str
    status: int
    verb: str
    digest: str
    at: str
    heading: str = ""
    text: str = ""
    next: str = ""
    safe: str = ""
    foot: str = ""
    outlook: Outlook | None = None
    sends: tuple[Sent, ...] | None = None
    line: str = ""
    queue: str = ""
    follow: Follow | None = None
    same_job: str = ""
    differ: str = ""
    diff: tuple[Sent, ...] = ()
    url: str = ""
    new_short: str = ""
    reason: str = ""
    again: bool = False
    copyable: bool = False
    link: str = ""
    links: tuple[Link, ...] = ()
    receipt: str = ""
    operation: str = ""
    form: Form | None = None
    action: str = "redrive"
    press_url: str = ""
    purge_url: str = ""
    for_good: bool = False  # a purge may be tried again that keeps no copy
    undo: Undo | None = None
    check_url: str = ""
    tone: str = "mute"
    icon: str = "unknown"

    @property
    def short(self) -> str:
        return short(self.digest)


def short(digest: str) -> str:
    return f"{digest[:4]}…{digest[-4:]}"


def _slip(name: str, status: int, ref: EntryRef, at: datetime, *, reading: bool = False, **said: Any) -> Slip:
    """`reading`: told before a press."""
    verb, when = ("Reviewing", f"as read {times.time(at)}") if reading else ("Reviewed", times.time(at))
    template = f"dead_letters/actions/_{name}.html"
    return Slip(template=template, status=status, verb=verb, at=when, digest=ref.digest, **said)


def before_the_press(
    entry: Entry,
    flight: Preflight,
    user: User,
    form: Form,
    at: datetime,
    outlook: Outlook | None = None,
    waiting: int | None = None,
) -> Slip:
    """The slip of an entry that is here: ready, cannot be redriven, or not for this role. `waiting`: in its queue."""
    if not user.can(Action.REDRIVE):
        return replace(denied(entry.ref, user, at), outlook=outlook)
    if flight.refused:
        return replace(refused(flight.refused, entry.ref, plain(entry.queue), at), form=form)
    assert flight.push
    sends = changes(flight.push.changes, at)
    return _slip(
        "ready", 200, entry.ref, at, reading=True,
        outlook=outlook, sends=sends, line=in_one_line(sends), queue=plain(entry.queue), form=form,
        press_url=links.press(entry.ref, "redrive"), purge_url=links.press(entry.ref, "purge"),
        foot=had_waiting(plain(entry.queue), waiting, at),
    )  # fmt: skip


def had_waiting(queue: str, waiting: int | None, at: datetime) -> str:
    return f"{queue} had {waiting:,} waiting at {times.time(at)}." if waiting is not None else ""


def redriven(
    record: Record,
    ref: EntryRef,
    user: User,
    now: datetime,
    *,
    older: str = "",
    job: Follow | None = None,
    checked: bool = False,
) -> Slip:
    """Done. What was sent is read from the record, written in the same step. `checked`: found by "check again"."""
    queue, at = plain(record.queue), record.at or now
    by = f" by {name_of(record, user)}" if record.by else ""
    if checked:
        heading = f"Done at {times.time(at)}{by}" if record.at else f"Done{by}"
        text = f"Your first press arrived, only its answer was lost. The job was added to {queue or 'its queue'} once."
    else:
        heading = f"Redriven. The job is next to run in {queue}" if now - at < JUST_NOW and queue else f"Redriven{by}"
        text = "It left dead letters and was added to the queue in one step."
    did = (links.operation(record.operation), "What it did", "quiet")
    onward: tuple[Link, ...] = ((older, "Older entry", ""), did) if older else (did,)
    return _slip(
        "redriven", 200, ref, at, heading=heading, text=text, follow=job, queue=queue,
        sends=changes(record.changes, at) if record.sent else None, receipt=receipt(record),
        operation=record.operation[:8], foot=f"{by}, in the audit log" if record.at else "", links=onward,
    )  # fmt: skip


def already(record: Record, ref: EntryRef, user: User, at: datetime, job: Follow | None) -> Slip:
    """Somebody was there first: a record of these very bytes says who."""
    did = history.did(record.action)
    text = "These bytes were sent" if record.action == "redrive" else f"It was {did}"
    if record.at:
        text += f" at {times.clock(record.at, at)}, {apart(at - record.at)} before you"
    return _slip(
        "already", 409, ref, at, heading=f"Already {did} by {name_of(record, user)}",
        text=f"{text}. Your press did nothing.",
        follow=job, links=((links.operation(record.operation), "What it did", ""),),
    )  # fmt: skip


def apart(gap: timedelta) -> str:
    seconds = max(0, int(gap.total_seconds()))
    return times.span(seconds) if seconds < 60 or seconds >= 3_600 else f"{seconds // 60} min {seconds % 60} s"


def changed(
    new: Entry, reviewed: Version | None, now: Version, ref: EntryRef, at: datetime, action: str = "redrive"
) -> Slip:
    """Those bytes are gone, another entry of the job is here. `reviewed`: what the presser's page had carried."""
    since = f" since {times.clock(new.died_at, at)}" if new.died_at else ""
    found = differences(reviewed, now) if reviewed else []
    rows = tuple((plain(d.field.removeprefix("system_context.")), plain(d.was), plain(d.now)) for d in found)
    same = reviewed is not None and same_job(reviewed, now)
    least = "At least " if reviewed and not (reviewed.whole and now.whole) else ""
    count = f"{least}{len(rows)} field{'s differ' if len(rows) != 1 else ' differs'}"
    return _slip(
        "changed", 409, ref, at, heading="Changed since you reviewed it",
        text=f"Another version of it stands here{since}. Nothing was {history.did(action)}."
        + ("" if same or not reviewed else " The job itself is not the same bytes: look before you press."),
        same_job="The job itself is unchanged: arguments, retries and expiry are the same bytes." if same else "",
        differ=f"{count}, all written by the failure" if same else f"{count} in the error",
        diff=rows, url=links.entry(new.ref), new_short=short(new.digest),
    )  # fmt: skip


def refused(
    what: Refused, ref: EntryRef, queue: str, at: datetime, pressed: Form | None = None, action: str = "redrive"
) -> Slip:
    """`pressed` None: told before a press. Nothing was changed."""
    detail = Refused(what.what, what.reason, plain(redaction().redacted_text(what.detail), 400))
    said = words.refusal(detail, queue or "of this job")
    return _slip(
        "refused", (503 if what.reason.by_server else 422) if pressed else 200, ref, at, queue=queue,
        reading=pressed is None,
        heading=("Refused: " if pressed else "Cannot be redriven: ") + said.heading, text=said.text, next=said.next,
        again=said.again and pressed is not None, copyable=what.reason is Refusal.PLACEHOLDER and not pressed,
        reason=what.reason.value, operation=pressed.operation[:8] if pressed else "", form=pressed,
        press_url=links.press(ref, action), purge_url=links.press(ref, "purge") if action == "redrive" else "",
    )  # fmt: skip


def not_sent(ref: EntryRef, pressed: Form, at: datetime, said: str = "", action: str = "redrive") -> Slip:
    """The entry could not even be looked up, so nothing was sent. `said`: Redis's own words, if it answered."""
    return _slip(
        "refused", 503, ref, at, heading="Redis does not let us read" if said else "Redis does not answer",
        text=f"Redis said: {plain(said)}. Nothing was done." if said else "Nothing was sent, so nothing was done.",
        next="Try again when it answers.", again=True, operation=pressed.operation[:8], form=pressed,
        press_url=links.press(ref, action),
    )  # fmt: skip


def still_unknown(now: Slip, ref: EntryRef, at: datetime, action: str) -> Slip:
    """Pressed again in vain: what became of the press before is not known any better."""
    assert now.form
    foot = f"Pressed again at {times.time(at)}: {now.heading}."
    return unknown(ref, now.queue, now.form, at, foot=foot, action=action)


def unknown(
    ref: EntryRef,
    queue: str,
    pressed: Form,
    at: datetime,
    *,
    answered: bool = True,
    foot: str = "",
    action: str = "redrive",
) -> Slip:
    """Nobody knows yet. `answered` False: not even the dashboard answered (the slip lies in the page for that)."""
    lost = "The connection to Redis was lost" if answered else "No answer came"
    where = "The job may or may not be " + (f"in queue {queue}" if queue else "in its queue")
    if action == "purge":
        where = "The entry may or may not be purged"
    return _slip(
        "unknown", 503, ref, at, heading="Outcome unknown", safe="Pressing again is safe: it cannot run twice.",
        queue=queue, foot=foot, operation=pressed.operation, form=pressed,
        text=f"{lost} after the operation was sent. {where}.", action=action,
        press_url=links.press(ref, action), check_url=links.operation(pressed.operation, action, ref),
    )  # fmt: skip


def not_done(ref: EntryRef, pressed: Form, at: datetime, action: str = "redrive") -> Slip:
    """'Check again' found no record, and the entry is here. The same operation stays on the button."""
    return _slip(
        "unknown", 200, ref, at, heading=f"Not done as of {times.time(at)}",
        text="Redis answers again and has no record of this operation. The entry is still here.",
        safe="A late arrival and a new press are one: it cannot run twice.",
        foot=f"Checked on the primary at {times.time(at)}.", operation=pressed.operation, form=pressed,
        action=action,
        press_url=links.press(ref, action), check_url=links.operation(pressed.operation, action, ref),
    )  # fmt: skip


def denied(ref: EntryRef, user: User, at: datetime) -> Slip:
    """A viewer's slip."""
    link = links.absolute(links.job(ref.jid) if ref.jid and links.is_plain(ref.jid) else links.entry(ref))
    return _slip("denied", 403, ref, at, reading=True, heading=words.reads_only(), text=words.may_not(user), link=link)


def gone(ref: EntryRef, at: datetime, far: Looked, last: Record | None, user: User, action: str = "redrive") -> Slip:
    """Not found, nor another entry of the job, and no record says that it left; `last`: what a record does say."""
    where = "No entry with these bytes is in dead letters" if far.whole else f"It was not found among {far.at}"
    said = f"the last record of it is: {history.did(last.action)} by {name_of(last, user)}" if last else NO_RECORD
    return _slip(
        "told", 409, ref, at, text=f"{where}, and {said}. Nothing was {history.did(action)}.", links=far.onward,
        heading="Gone, and not by this dashboard" if far.whole else "Not found, and not taken by this dashboard",
    )  # fmt: skip
