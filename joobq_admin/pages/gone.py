"""Addresses of what is not here: 410 with what became of it where that is known, else 404."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse

from joobq_admin.connection import audit_log, dead_letters
from joobq_admin.joobq.audit import Record
from joobq_admin.joobq.entry import Entry, EntryRef
from joobq_admin.joobq.lookup import Near
from joobq_admin.pages import answer, links, slip, times
from joobq_admin.pages.answer import Problem
from joobq_admin.pages.counts import in_queue, rail_now
from joobq_admin.pages.deaths import deaths
from joobq_admin.pages.follow import Follow, follow, now_of
from joobq_admin.pages.links import Link
from joobq_admin.pages.looked import Looked, looked
from joobq_admin.pages.purged import ref_of
from joobq_admin.pages.rows import error_of
from joobq_admin.pages.sends import name_of, receipt, why
from joobq_admin.pages.tokens import plain
from joobq_admin.pages.undo import Kept, Undo, kept
from joobq_admin.sso.roles import User
from joobq_admin.triage import history

Fact = tuple[str, str, str]  # name, value, small print
THEN = {
    "purge": "Purged. This job will not run",
    "restore": "Back in dead letters: same bytes, same death time",
    "empty": "Its copy left the bin for good",
    "unredacted": "Its exact bytes were downloaded, with what is hidden here. Nothing was changed",
}
TONES = {"redrive": ("done", "check"), "restore": ("done", "undo"), "unredacted": ("mute", "eye")}
OVER = "The entry this link points to is no longer in dead letters"
NO_MORE = "No entry of this job is in dead letters any more"


class Lost(NamedTuple):
    """What is not here. `died` None, `queue` '' = not known; `last`: its newest record, of when it was here."""

    what: str
    digest: str
    jid: str
    queue: str
    died: datetime | None
    last: Record | None

    @property
    def since(self) -> datetime | None:
        """When it was last known to be here."""
        return self.last.at if self.last else self.died


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What became of an entry that is not here."""

    over: str
    heading: str
    tone: str
    icon: str
    ref: str
    facts: tuple[Fact, ...]
    jid: str = ""
    queue: str = ""
    queue_url: str = ""
    note: str = ""
    note_tone: str = ""
    follow: Follow | None = None
    undo: Undo | None = None
    links: tuple[Link, ...] = ()
    receipt: str = ""


def entry(request: HttpRequest, ref: EntryRef) -> HttpResponse:
    """An entry that was looked up by its identity and is not here."""
    log, now = audit_log(), times.now()
    of_bytes = log.of_digest(ref.digest)
    jid = ref.jid or next((record.jid for record in of_bytes), "")
    near = dead_letters().near(jid) if jid else None
    here = near.entries if near else []
    records = log.of_jid(jid) if jid else of_bytes
    if left := history.fate(of_bytes):
        stone = tombstone(left, here, request.user, now)
        return _tombstone(request, stone, here, records, now)
    far = looked(jid, near)
    died, last = history.time_told_by(ref.score), of_bytes[0] if of_bytes else None
    what = Lost("these bytes", ref.digest, jid, _queue(here, records), died, last)
    swept = _went_with_all(what) if far.whole else None
    if swept and (what.since or here or records):
        return _tombstone(request, with_all(swept, what, request.user, now), here, records, now)
    if here or records:
        stone = untold(what, here, of_bytes, log.oldest(), far, request.user)
        return _tombstone(request, stone, here, records, now, 410 if far.whole else 404)
    return _never_seen(request, jid, far, swept)


def job(request: HttpRequest, jid: str, near: Near) -> HttpResponse:
    """A job of which `near` has no entry."""
    log, now = audit_log(), times.now()
    records, far = log.of_jid(jid), looked(jid, near)
    if left := history.fate(records):
        over = NO_MORE if far.whole else f"None of this job is among {far.at}"
        stone = tombstone(left, [], request.user, now, over=over, onward=far.onward)
        return _tombstone(request, stone, [], records, now)
    last = records[0] if records else None
    what = Lost("this job", last.digest if last else "", jid, _queue([], records), None, last)
    swept = _went_with_all(what) if far.whole else None
    if swept and records:
        return _tombstone(request, with_all(swept, what, request.user, now), [], records, now)
    if records:
        stone = untold(what, [], records, log.oldest(), far, request.user)
        return _tombstone(request, stone, [], records, now, 410 if far.whole else 404)
    return _never_seen(request, jid, far, swept)


def _queue(here: Sequence[Entry], records: Sequence[Record]) -> str:
    """The queue of the job, as far as anything of it says so."""
    return next((queue for queue in (*(r.queue for r in records), *(e.queue for e in here)) if queue), "")


def _went_with_all(what: Lost) -> Record | None:
    """The purge of everything that took it, or may have."""
    return history.went_with_all(audit_log().of_purge_all(), what.died, what.last, what.queue)


def _tombstone(
    request: HttpRequest,
    stone: Tombstone,
    here: Sequence[Entry],
    records: Sequence[Record],
    now: datetime,
    status: int = 410,
) -> HttpResponse:
    context = {"title": stone.heading, "t": stone, "deaths": deaths(here, records, None, request.user, now)}
    template = "dead_letters/tombstone.html"
    return answer.page(request, template, context, status=status, nav="entries", rail=rail_now())


def _never_seen(request: HttpRequest, jid: str, far: Looked, swept: Record | None) -> HttpResponse:
    since = audit_log().oldest()
    log = f"and the audit log back to {times.short_date(since)}" if since else "and the audit log, which is empty"
    about: tuple[Fact, ...] = (("jid", plain(jid, 400), ""),) if jid else ()
    if swept:
        by, at = name_of(swept, request.user), f", {times.in_full(swept.at)}" if swept.at else ""
        about += ((f"{_everything(swept)} purged", f"by {by}{at}", "It went then if it was there: no record says so."),)
    is_not = "It is not in dead letters and" if far.whole else f"It was not found among {far.at} and is"
    what = Problem(
        code=404,
        title="Never seen",
        heading="No entry of this job, and no trace of one",
        text=f"{is_not} not in the audit log.",
        facts=(*about, ("Looked at", far.at, log)),
        links=(*far.onward, answer.home()),
    )
    return answer.problem(request, what, nav="entries", rail=rail_now())


def tombstone(
    record: Record,
    here: Sequence[Entry],
    user: User,
    now: datetime,
    *,
    over: str = OVER,
    onward: tuple[Link, ...] = (),
    of_press: bool = False,
) -> Tombstone:
    """By the record that says how it left. `here`: others of its job; `of_press`: on the page of its operation."""
    redriven = record.action == "redrive"
    again = history.next_death(record, here) if redriven else None
    did, left = history.did(record.action).capitalize(), Kept("")
    who, queue = name_of(record, user), plain(record.queue)
    what = f"{did} to {queue}" if redriven and queue else THEN.get(record.action, did)
    facts: list[Fact] = [("What", what, f"version {slip.short(record.digest)}")]
    if record.at:
        facts.append(("When", times.named(record.at), times.date_of(record.at)))
    if record.reason:
        facts.append(("Why", why(record.reason), ""))
    if again:
        cls, message = error_of(again)
        at = times.named(again.died_at) if again.died_at else "at a time not known"
        facts.append(("Died again", at, f"{cls}, {message}" if message else cls))
        note, newer = "There is a newer entry of this job. Look at that one.", links.entry(again.ref)
        first: tuple[Link, ...] = ((newer, "Open the newer entry", "primary"),)
    else:
        left = kept(record, user, now) if record.action == "purge" else left
        note = "Nothing for you to do here." if redriven and not onward else left.text
        first = onward or (() if history.fate([record]) else ((links.entry(ref_of(record)), "Look for it", ""),))
    ago = f", {times.distance(record.at, now)}" if record.at else ""
    tone, icon = ("warn", "warn") if again else TONES.get(record.action, ("bad", "purge"))
    did_it = (links.operation(record.operation), "What it did", "quiet")
    others: tuple[Link, ...] = ((links.queue(record.queue), f"Others in {queue}", ""),) if queue else ()
    return Tombstone(
        over=over, heading=f"{did} by {who}, and died again" if again else f"{did} by {who}{ago}",
        tone=tone, icon=icon,
        ref=f"Dead letter in {queue}" if queue else "Dead letter", jid=plain(record.jid)[:64],
        queue=queue, queue_url=links.queue(record.queue) if queue else "", facts=tuple(facts), note=note,
        note_tone="warn" if again else "", follow=follow(record, here=here), undo=left.undo, receipt=receipt(record),
        links=(*first, *others) if of_press else (*first, *others, did_it),
    )  # fmt: skip


def with_all(purge: Record, what: Lost, user: User, now: datetime) -> Tombstone:
    """Everything was purged since. Where it is not certain that it was there, that is said."""
    all_of, who, queue = _everything(purge), name_of(purge, user), plain(purge.queue)
    ago = f", {times.distance(purge.at, now)}" if purge.at else ""
    n, were = purge.entries, "" if purge.everything else " were to go"
    count = "" if n is None else f"{n:,} {'entry' if n == 1 else 'entries'}{were}"
    facts: list[Fact] = [("What", f"{all_of} was purged, for good", count)]
    if purge.at:
        facts.append(("When", times.named(purge.at), times.date_of(purge.at)))
    if purge.reason:
        facts.append(("Why", why(purge.reason), ""))
    facts.append(("In the audit log", f"No record says that {what.what} left before", ""))
    unsure = [f"was in {queue}" if queue else "named no queue"] if not (purge.everything or what.queue) else []
    if not purge.everything:  # what died since is left alone, and when that was is not recorded
        unsure.append("was there when they were counted")
    elif not what.since:
        unsure.append("had died by then")
    return Tombstone(
        over=_over(what), heading=f"{all_of} was purged by {who}{ago}", tone="bad", icon="purge",
        ref=f"version {what.digest[:4]}…", jid=plain(what.jid)[:64], facts=tuple(facts),
        note=f"It went then if it {' and '.join(unsure)}: no record says so." if unsure
        else "It went then, unless it had left before. It cannot be brought back.",
        links=((links.operation(purge.operation), "What it did", ""),),
    )  # fmt: skip


def _everything(purge: Record) -> str:
    if purge.everything:
        return "Everything"
    return f"Everything {in_queue(purge.queue)}"


def _over(what: Lost) -> str:
    return OVER if what.what == "these bytes" else f"A link to {what.what}"


def untold(
    lost: Lost,
    here: Sequence[Entry],
    records: Sequence[Record],
    oldest: datetime | None,
    far: Looked,
    user: User,
) -> Tombstone:
    """Not found, and no record says that it left, but there is a trace. `records` of it; `oldest` of the log."""
    what, jid = lost.what, lost.jid
    none = f"and none of this job among {far.at}" if not far.whole else f"and none of this job: looked at {far.at}"
    some = f"but {len(here):,} other {'entries' if len(here) != 1 else 'entry'} of this job: looked at {far.at}"
    last = f"{history.did(records[0].action).capitalize()} by {name_of(records[0], user)}" if records else ""
    log = f"the log goes back to {times.short_date(oldest)}" if oldest else "the log is empty"
    newest: tuple[Link, ...] = ((links.entry(here[0].ref), "Open the newest of them", "primary"),) if here else ()
    facts: list[Fact] = [
        ("In dead letters", f"No entry {'with' if what == 'these bytes' else 'of'} {what}", some if here else none),
        ("In the audit log", last or f"No record of {what}", "and nothing since" if last else log),
    ]
    if lost.queue and jid and not here and far.whole:
        facts.append(("Where it is now", *now_of(lost.queue, jid)))
    # Records go the oldest first: the log tells all that was done since its oldest one.
    told = last or not oldest or (lost.since and oldest <= lost.since)
    gone = "Gone, and not by this dashboard" if told else "Gone, and no record says how"
    note = "It left without a record: by JoobQ or another tool."
    if not told:
        note = f"{note[:-1]}, or before the first record that is kept: {log}."
    return Tombstone(
        over=_over(lost), heading=gone if far.whole else "Not found, and not taken by this dashboard",
        tone="mute", icon="unknown", ref=f"version {lost.digest[:4]}…", jid=plain(jid)[:64], facts=tuple(facts),
        note=note if far.whole else "", links=(*newest, *far.onward),
    )  # fmt: skip
