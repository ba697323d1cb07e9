"""What became of one press: the port's outcome as the slip that says so."""

from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from joobq_admin.connection import TROUBLE, audit_log, dead_letters, redaction
from joobq_admin.joobq.audit import Record
from joobq_admin.joobq.entry import EntryRef
from joobq_admin.joobq.lookup import Near
from joobq_admin.joobq.outcome import Outcome, Refusal
from joobq_admin.pages import answer, links, purged, slip, times
from joobq_admin.pages.deaths import Deaths, deaths
from joobq_admin.pages.follow import follow
from joobq_admin.pages.forms import Press
from joobq_admin.pages.looked import looked
from joobq_admin.pages.slip import Form, Slip
from joobq_admin.pages.tokens import plain
from joobq_admin.sso.roles import Action, User
from joobq_admin.triage import history
from joobq_admin.triage.versions import Version, version


class Told(NamedTuple):
    """A slip; `near`: the entries of its job that were looked up to tell it, None = nobody looked."""

    slip: Slip
    near: Near | None = None


def of_press(pressed: Press, outcome: Outcome, user: User, at: datetime, form: Form, action: str = "redrive") -> Told:
    """One entry was asked for, so exactly one group of the outcome holds it. `form`: of the same press again."""
    reviewed = Version.parse(pressed.reviewed)
    queue = plain(reviewed.queue, 200) if reviewed else ""
    if outcome.done:
        older = links.entry(pressed.older_ref) if pressed.older_ref else ""
        purge = action == "purge"
        return Told(
            purged.done(pressed.operation, pressed.ref, user, at, older=older)
            if purge
            else done(pressed, user, at, older)
        )
    if outcome.refused:
        refused = slip.refused(outcome.refused[0], pressed.ref, queue, at, form, action)
        full = outcome.refused[0].reason is Refusal.BIN_FULL and user.can(Action.PURGE_FOR_GOOD)
        return Told(replace(refused, links=((reverse("bin"), "Open the bin", ""),), for_good=True) if full else refused)
    if outcome.unknown:
        return Told(slip.unknown(pressed.ref, queue, form, at, action=action))
    if outcome.unsent:
        return Told(slip.not_sent(pressed.ref, form, at, action=action))
    return lost_race(pressed.ref, reviewed, user, at, action)


def done(pressed: Press, user: User, at: datetime, older: str) -> Slip:
    """The record was written in the step that did it; when it cannot be read back just now, less is said."""
    try:
        record = audit_log().recorded(pressed.operation, "redrive", pressed.ref.digest)
    except TROUBLE:
        record = None
    record = record or Record("0-0", "redrive", pressed.operation, pressed.ref.digest, by=user.sub, name=user.name)
    return slip.redriven(record, pressed.ref, user, at, older=older, job=follow(record, poll=True))


def lost_race(ref: EntryRef, reviewed: Version | None, user: User, at: datetime, action: str = "redrive") -> Told:
    """Those bytes are not here. A record of them says by whom they went; else the job may be here with others."""
    records, near = audit_log().of_digest(ref.digest), _near(ref)
    if left := history.fate(records):
        return Told(slip.already(left, ref, user, at, follow(left, here=near.entries)), near)
    if near.entries:
        new = near.entries[0]
        return Told(slip.changed(new, reviewed, version(new, redaction()), ref, at, action), near)
    far = looked(ref.jid or "", near if ref.jid else None)
    return Told(slip.gone(ref, at, far, records[0] if records else None, user, action), near)


def _near(ref: EntryRef) -> Near:
    return dead_letters().near(ref.jid) if ref.jid else Near([], None)


def deaths_of(ref: EntryRef, near: Near | None, user: User, at: datetime) -> Deaths | None:
    """The line of deaths after a press; None when it cannot be read: the answer itself stands."""
    try:
        here = (near or _near(ref)).entries
        records = audit_log().of_jid(ref.jid) if ref.jid else audit_log().of_digest(ref.digest)
    except TROUBLE:
        return None
    return deaths(here, records, None, user, at)


def answered(
    request: HttpRequest, told: Told, ref: EntryRef | None, status: int = 0, h1: str = "Redrive"
) -> HttpResponse:
    """The slip: alone for htmx, with the line of deaths beside it; else in a page of its own, below `h1`."""
    x, near = told
    deaths = deaths_of(ref, near, request.user, times.now()) if ref and x.status in (200, 409) else None
    context = {"x": x, "deaths": deaths}
    if answer.wants(request, "action"):
        return answer.fragment(request, "dead_letters/_answer.html", context, status=status or x.status)
    context |= {
        "title": x.heading,
        "h1": f"{h1} to {x.queue}" if x.queue and h1 == "Redrive" else h1,
        "entry_url": links.entry(ref) if ref else "",
    }
    return answer.page(request, "dead_letters/pressed.html", context, status=status or x.status, read=x.status != 503)
