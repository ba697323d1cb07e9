"""What became of one press: the port's outcome as the slip that says so."""

from collections.abc import Sequence
from datetime import datetime

from django.http import HttpRequest, HttpResponse

from joobq_admin import connection
from joobq_admin.connection import TROUBLE, audit_log, dead_letters, redaction
from joobq_admin.joobq.audit import Record
from joobq_admin.joobq.entry import Entry, EntryRef
from joobq_admin.joobq.outcome import Outcome
from joobq_admin.pages import answer, links, slip, times
from joobq_admin.pages.faces import error_of
from joobq_admin.pages.forms import Press
from joobq_admin.pages.past import Deaths, deaths
from joobq_admin.pages.slip import Slip
from joobq_admin.pages.tokens import plain
from joobq_admin.sso.roles import User
from joobq_admin.triage import history
from joobq_admin.triage.versions import Version, version


def of_press(pressed: Press, outcome: Outcome, user: User, at: datetime) -> Slip:
    """One entry was asked for, so exactly one group of the outcome holds it."""
    form = slip.form(pressed.ref, pressed.operation, pressed.reviewed, pressed.older)
    reviewed = Version.parse(pressed.reviewed)
    queue = plain(reviewed.queue, 200) if reviewed else ""
    if outcome.done:
        return done(pressed, user, at)
    if outcome.refused:
        return slip.refused(outcome.refused[0], pressed.ref, queue, at, form)
    if outcome.unknown:
        return slip.unknown(pressed.ref, queue, form, at)
    if outcome.unsent:
        return slip.not_sent(pressed.ref, form, at)
    return lost_race(pressed.ref, reviewed, user, at)


def done(pressed: Press, user: User, at: datetime) -> Slip:
    """The record was written in the step that did it; when it cannot be read back just now, less is said."""
    try:
        record = audit_log().recorded(pressed.operation, "redrive", pressed.ref.digest)
    except TROUBLE:
        record = None
    record = record or Record("0-0", "redrive", pressed.operation, pressed.ref.digest, by=user.sub, name=user.name)
    older = links.entry(pressed.older_ref) if pressed.older_ref else ""
    return slip.redriven(record, pressed.ref, user, at, older=older, job=_where(record, at))


def _where(record: Record, at: datetime) -> slip.Now | None:
    """Where the job is now, as far as it can be told: it was put at the front, and others may have come since."""
    try:
        waiting = connection.waiting(record.queue) if record.queue else None
    except TROUBLE:
        return None
    return slip.Now(slip.had_waiting(plain(record.queue, 200), waiting, at)) if waiting is not None else None


def lost_race(ref: EntryRef, reviewed: Version | None, user: User, at: datetime) -> Slip:
    """Those bytes are not here. A record of them says by whom they went; else the job may be here with others."""
    record = history.fate(audit_log().of_digest(ref.digest))
    here = dead_letters().near(ref.jid) if ref.jid else []
    if record:
        return slip.already(record, ref, user, at, died_again(record, here))
    if here:
        return slip.changed(here[0], reviewed, version(here[0], redaction()), ref, at)
    return slip.gone(ref, at)


def died_again(record: Record, here: Sequence[Entry]) -> slip.Now | None:
    again = history.next_death(record, here) if record.action == "redrive" else None
    return slip.died_again(again.ref, *error_of(again)) if again else None


def deaths_of(ref: EntryRef, user: User, at: datetime) -> Deaths | None:
    """The line of deaths after a press; None when it cannot be read: the answer itself stands."""
    try:
        here = dead_letters().near(ref.jid) if ref.jid else []
        records = audit_log().of_jid(ref.jid) if ref.jid else audit_log().of_digest(ref.digest)
    except TROUBLE:
        return None
    return deaths(here, records, None, user, at)


def answered(request: HttpRequest, told: Slip, ref: EntryRef, status: int | None = None) -> HttpResponse:
    """The slip: alone for htmx, with the line of deaths beside it; else in a page of its own."""
    deaths = deaths_of(ref, request.user, times.now()) if told.status in (200, 409) else None
    context = {"x": told, "deaths": deaths}
    if answer.wants(request, "action"):
        return answer.fragment(request, "dead_letters/_answer.html", context, status=status or told.status)
    context |= {
        "title": told.heading,
        "h1": f"Redrive to {told.queue}" if told.queue else "Redrive",
        "entry_url": links.entry(ref),
    }
    read = told.status != 503
    return answer.page(request, "dead_letters/pressed.html", context, status=status or told.status, read=read)
