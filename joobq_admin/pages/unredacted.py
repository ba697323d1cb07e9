"""An entry's exact bytes as a file, for an admin: it asks why, that is recorded, then they are downloaded."""

from dataclasses import dataclass
from uuid import uuid4

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from joobq_admin import connection
from joobq_admin.connection import dead_letters, redaction
from joobq_admin.joobq import refusals
from joobq_admin.joobq.audit import Actor
from joobq_admin.joobq.entry import Entry, EntryRef
from joobq_admin.joobq.outcome import Outcome, Refused
from joobq_admin.pages import answer, forms, links, log, pressed, purge_forms, slip, times, words
from joobq_admin.pages.entry_page import listed
from joobq_admin.pages.forms import Press
from joobq_admin.pages.purge_forms import LONGEST_REASON, Confirmation
from joobq_admin.pages.slip import Form
from joobq_admin.pages.tokens import plain
from joobq_admin.sso.roles import Action, needs
from joobq_admin.triage.versions import Version

LOST = (
    "The connection to Redis was lost after the operation was sent. It may or may not be in the audit log. "
    "No bytes left. Pressing again is safe: it is recorded once."
)


@dataclass(frozen=True, slots=True)
class NotGiven:
    """What stood in the way of a press. `unsure`: its record may be written all the same."""

    status: int
    heading: str
    text: str
    unsure: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """`size` and `hidden` are of the entry; '' where it was not read. `given`: what was answered, `told`: in vain."""

    form: Form
    url: str
    back: str
    given: Confirmation
    size: str = ""
    hidden: str = ""
    told: NotGiven | None = None
    environment: str = settings.ENVIRONMENT
    longest: int = LONGEST_REASON

    @property
    def short(self) -> str:
        return slip.short(self.form.digest)


@answer.only_pressed
@needs(Action.UNREDACTED)
def unredacted(request: HttpRequest, ref: str) -> HttpResponse:
    """Asks first; with the answer, which has a reason, the very bytes that were named leave, once that is recorded."""
    wanted, given = forms.press(request, ref), purge_forms.confirmation(request, 1, for_good=False)
    if given:
        return _press(request, wanted, given)
    entry = dead_letters().look_up(wanted.ref)
    return _asked(request, wanted, given, entry) if entry else _not_here(request, wanted)


def _press(request: HttpRequest, wanted: Press, given: Confirmation) -> HttpResponse:
    user, ref, said = request.user, wanted.ref, ""
    by = Actor(user.sub, user.name)
    try:
        got = dead_letters().unredacted(ref, by=by, reason=given.reason, operation=wanted.operation)
    except connection.TROUBLE as trouble:
        got, said = Outcome(unsent=(ref,)), refusals.said(trouble)
    outcome = Outcome(done=(ref,)) if isinstance(got, bytes) else got
    log.pressed(Action.UNREDACTED, wanted.operation, user, outcome, said)
    if isinstance(got, bytes):
        return _file(got, ref)
    if not (outcome.refused or outcome.unknown or outcome.unsent):
        return _not_here(request, wanted)
    return _asked(request, wanted, given, told=_told(outcome, said, forms.unsure(request)))


def _file(raw: bytes, ref: EntryRef) -> HttpResponse:
    """Nothing of its name comes from the entry but the digest, and no browser shows it as anything."""
    response = HttpResponse(raw, content_type="application/octet-stream")
    response["Content-Disposition"] = f'attachment; filename="dead-letter-{ref.digest[:16]}.bin"'
    return response


def _told(outcome: Outcome, said: str, unsure: bool) -> NotGiven:
    """`unsure`: this operation was pressed before, and its answer lost; no other answer takes that back."""
    if outcome.unknown:
        return NotGiven(503, "Outcome unknown", LOST, unsure=True)
    if outcome.refused:
        no = outcome.refused[0]
        why = words.refusal(Refused(no.what, no.reason, plain(redaction().redacted_text(no.detail), 400)), "")
        status = 503 if no.reason.by_server else 422
        told = NotGiven(status, f"Refused: {why.heading}", f"{why.text} {why.next}")
    elif said:
        told = NotGiven(503, "Redis does not let us read", f"Redis said: {plain(said)}. Nothing was done.")
    else:
        told = NotGiven(503, "Redis does not answer", "Nothing was sent, so nothing was done.")
    return NotGiven(told.status, "Outcome unknown", f"{LOST} Now: {told.heading}.", unsure=True) if unsure else told


def _not_here(request: HttpRequest, wanted: Press) -> HttpResponse:
    race = pressed.lost_race(wanted.ref, Version.parse(wanted.reviewed), request.user, times.now(), "unredacted")
    return pressed.answered(request, race, wanted.ref, h1="Unredacted bytes")


def _asked(
    request: HttpRequest, wanted: Press, given: Confirmation, entry: Entry | None = None, told: NotGiven | None = None
) -> HttpResponse:
    """For htmx a dialog, wherever its answer was to go; else a page. Each asking is another operation."""
    ref, operation = wanted.ref, wanted.operation if given.pressed else str(uuid4())
    question = Question(
        form=slip.form(ref, operation, wanted.reviewed),
        url=links.press(ref, "unredacted"),
        back=links.entry(ref),
        given=given,
        size=f"{len(entry.raw):,} bytes" if entry else "",
        hidden=listed(redaction().redacted(entry.raw).names) if entry else "",
        told=told,
    )
    context = {"title": told.heading if told else "Download unredacted bytes?", "ask": question}
    status, htmx = told.status if told else 200, getattr(request, "htmx", None)
    if not htmx:
        page = "dead_letters/unredacted.html"
        return answer.page(request, page, context, status=status, nav="entries", read=not told)
    return answer.dialog(request, "dead_letters/_unredacted_dialog.html", context, status=status)
