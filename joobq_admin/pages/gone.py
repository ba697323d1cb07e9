"""Addresses of what is not here: 410 with what became of it where that is known, else 404."""

from collections.abc import Sequence
from datetime import datetime

from django.http import HttpRequest, HttpResponse

from joobq_admin.connection import audit_log, dead_letters
from joobq_admin.joobq.audit import Record
from joobq_admin.joobq.counting import Counts
from joobq_admin.joobq.entry import Entry, EntryRef
from joobq_admin.joobq.lookup import Near
from joobq_admin.pages import answer, past, times
from joobq_admin.pages.answer import Problem
from joobq_admin.pages.looked import Looked, looked
from joobq_admin.pages.rail import rail
from joobq_admin.pages.tokens import plain
from joobq_admin.triage import history

NO_MORE = "No entry of this job is in dead letters any more"


def entry(request: HttpRequest, ref: EntryRef) -> HttpResponse:
    """An entry that was looked up by its identity and is not here."""
    queue, log, now = dead_letters(), audit_log(), times.now()
    of_bytes = log.of_digest(ref.digest)
    jid = ref.jid or next((record.jid for record in of_bytes), "")
    near = queue.near(jid) if jid else None
    here, counts = near.entries if near else [], queue.counts()
    records = log.of_jid(jid) if jid else of_bytes
    if left := history.fate(of_bytes):
        stone = past.tombstone(left, here, request.user, now)
        return _tombstone(request, stone, here, records, counts, now)
    far = looked(jid, near)
    if here or records:
        stone = past.untold("these bytes", ref.digest, jid, here, of_bytes, log.oldest(), far, request.user)
        return _tombstone(request, stone, here, records, counts, now, 410 if far.whole else 404)
    return _never_seen(request, jid, far, counts)


def job(request: HttpRequest, jid: str, near: Near) -> HttpResponse:
    """A job of which `near` has no entry."""
    log, now, counts = audit_log(), times.now(), dead_letters().counts()
    records, far = log.of_jid(jid), looked(jid, near)
    if left := history.fate(records):
        over = NO_MORE if far.whole else f"None of this job is among {far.at}"
        stone = past.tombstone(left, [], request.user, now, over=over, onward=far.onward)
        return _tombstone(request, stone, [], records, counts, now)
    if records:
        stone = past.untold("this job", records[0].digest, jid, [], records, log.oldest(), far, request.user)
        return _tombstone(request, stone, [], records, counts, now, 410 if far.whole else 404)
    return _never_seen(request, jid, far, counts)


def _tombstone(
    request: HttpRequest,
    stone: past.Tombstone,
    here: Sequence[Entry],
    records: Sequence[Record],
    counts: Counts,
    now: datetime,
    status: int = 410,
) -> HttpResponse:
    context = {"title": stone.heading, "t": stone, "deaths": past.deaths(here, records, None, request.user, now)}
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
