"""Addresses of what is not here: 410 with what became of it where that is known, else 404."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest, HttpResponse

from joobq_admin.connection import audit_log, dead_letters
from joobq_admin.joobq.audit import Record
from joobq_admin.joobq.counting import Counts
from joobq_admin.joobq.entry import Entry, EntryRef
from joobq_admin.joobq.lookup import Near
from joobq_admin.pages import answer, links, slip, times
from joobq_admin.pages.answer import Problem
from joobq_admin.pages.counts import rail
from joobq_admin.pages.deaths import deaths
from joobq_admin.pages.follow import Follow, follow
from joobq_admin.pages.links import Link
from joobq_admin.pages.looked import Looked, looked
from joobq_admin.pages.rows import error_of
from joobq_admin.pages.sends import name_of, receipt
from joobq_admin.pages.tokens import plain
from joobq_admin.pages.undo import Kept, Undo, kept
from joobq_admin.sso.roles import User
from joobq_admin.triage import history

Fact = tuple[str, str, str]  # name, value, small print
THEN = {"purge": "Purged. This job will not run", "restore": "Back in dead letters: same bytes, same death time"}
OVER = "The entry this link points to is no longer in dead letters"
NO_MORE = "No entry of this job is in dead letters any more"


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
    queue, log, now = dead_letters(), audit_log(), times.now()
    of_bytes = log.of_digest(ref.digest)
    jid = ref.jid or next((record.jid for record in of_bytes), "")
    near = queue.near(jid) if jid else None
    here, counts = near.entries if near else [], queue.counts()
    records = log.of_jid(jid) if jid else of_bytes
    if left := history.fate(of_bytes):
        stone = tombstone(left, here, request.user, now)
        return _tombstone(request, stone, here, records, counts, now)
    far = looked(jid, near)
    if here or records:
        stone = untold("these bytes", ref.digest, jid, here, of_bytes, log.oldest(), far, request.user)
        return _tombstone(request, stone, here, records, counts, now, 410 if far.whole else 404)
    return _never_seen(request, jid, far, counts)


def job(request: HttpRequest, jid: str, near: Near) -> HttpResponse:
    """A job of which `near` has no entry."""
    log, now, counts = audit_log(), times.now(), dead_letters().counts()
    records, far = log.of_jid(jid), looked(jid, near)
    if left := history.fate(records):
        over = NO_MORE if far.whole else f"None of this job is among {far.at}"
        stone = tombstone(left, [], request.user, now, over=over, onward=far.onward)
        return _tombstone(request, stone, [], records, counts, now)
    if records:
        stone = untold("this job", records[0].digest, jid, [], records, log.oldest(), far, request.user)
        return _tombstone(request, stone, [], records, counts, now, 410 if far.whole else 404)
    return _never_seen(request, jid, far, counts)


def _tombstone(
    request: HttpRequest,
    stone: Tombstone,
    here: Sequence[Entry],
    records: Sequence[Record],
    counts: Counts,
    now: datetime,
    status: int = 410,
) -> HttpResponse:
    context = {"title": stone.heading, "t": stone, "deaths": deaths(here, records, None, request.user, now)}
    template = "dead_letters/tombstone.html"
    return answer.page(request, template, context, status=status, nav="entries", rail=rail(counts))


def _never_seen(request: HttpRequest, jid: str, far: Looked, counts: Counts) -> HttpResponse:
    since = audit_log().oldest()
    log = f"and the audit log back to {since:%-d %b %Y}" if since else "and the audit log, which is empty"
    about = (("jid", plain(jid, 400), ""),) if jid else ()
    is_not = "It is not in dead letters and" if far.whole else f"It was not found among {far.at} and is"
    what = Problem(
        code=404,
        title="Never seen",
        heading="No entry of this job, and no trace of one",
        text=f"{is_not} not in the audit log.",
        facts=(*about, ("Looked at", far.at, log)),
        links=(*far.onward, answer.home()),
    )
    return answer.problem(request, what, nav="entries", rail=rail(counts))


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
        facts.append(("When", f"{record.at:%H:%M:%S} UTC", f"{record.at:%a %-d %b %Y}"))
    if record.reason:
        facts.append(("Why", plain(record.reason), ""))
    if again:
        cls, message = error_of(again)
        at = f"{again.died_at:%H:%M:%S} UTC" if again.died_at else "at a time not known"
        facts.append(("Died again", at, f"{cls}, {message}" if message else cls))
        note, newer = "There is a newer entry of this job. Look at that one.", links.entry(again.ref)
        first: tuple[Link, ...] = ((newer, "Open the newer entry", "primary"),)
    else:
        left = kept(record, user, now) if record.action == "purge" else left
        note = "Nothing for you to do here." if redriven and not onward else left.text
        first = onward
    ago = f", {times.distance(record.at, now)}" if record.at else ""
    did_it = (links.operation(record.operation), "What it did", "quiet")
    others: tuple[Link, ...] = ((links.queue(record.queue), f"Others in {queue}", ""),) if queue else ()
    return Tombstone(
        over=over, heading=f"{did} by {who}, and died again" if again else f"{did} by {who}{ago}",
        tone="warn" if again else "done" if redriven else "bad",
        icon="warn" if again else "check" if redriven else "purge",
        ref=f"Dead letter in {queue}" if queue else "Dead letter", jid=plain(record.jid)[:64],
        queue=queue, queue_url=links.queue(record.queue) if queue else "", facts=tuple(facts), note=note,
        note_tone="warn" if again else "", follow=follow(record, here=here), undo=left.undo, receipt=receipt(record),
        links=(*first, *others) if of_press else (*first, *others, did_it),
    )  # fmt: skip


def untold(
    what: str,
    digest: str,
    jid: str,
    here: Sequence[Entry],
    records: Sequence[Record],
    since: datetime | None,
    far: Looked,
    user: User,
) -> Tombstone:
    """Not found, and no record says that it left, but there is a trace. `what` they are the records of."""
    none = f"and none of this job among {far.at}" if not far.whole else f"and none of this job: looked at {far.at}"
    some = f"but {len(here):,} other {'entries' if len(here) != 1 else 'entry'} of this job: looked at {far.at}"
    last = f"{history.did(records[0].action).capitalize()} by {name_of(records[0], user)}" if records else ""
    log = f"the log goes back to {since:%-d %b %Y}" if since else "the log is empty"
    newest: tuple[Link, ...] = ((links.entry(here[0].ref), "Open the newest of them", "primary"),) if here else ()
    return Tombstone(
        over=OVER if what == "these bytes" else f"A link to {what}",
        heading="Gone, and not by this dashboard" if far.whole else "Not found, and not taken by this dashboard",
        tone="mute", icon="unknown", ref=f"version {digest[:4]}…", jid=plain(jid)[:64],
        facts=(
            ("In dead letters", f"No entry {'with' if what == 'these bytes' else 'of'} {what}", some if here else none),
            ("In the audit log", last or f"No record of {what}", "and nothing since" if last else log),
        ),
        note="Another tool removed it, or the log no longer reaches back so far." if far.whole else "",
        links=(*newest, *far.onward),
    )  # fmt: skip
