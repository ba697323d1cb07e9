"""A record in quarantine is released, or discarded with a reason: only while the reviewed bytes are stored."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from joobq_admin import connection
from joobq_admin.connection import audit_log
from joobq_admin.joobq.audit import Actor, Record
from joobq_admin.joobq.delivery import Ledger, ReviewOutcome
from joobq_admin.joobq.delivery import Record as Delivery
from joobq_admin.pages import answer, ledger_answers, ledger_forms, links, log, purge_forms, times
from joobq_admin.pages.ledger_answers import Head
from joobq_admin.pages.purge_forms import LONGEST_REASON, Confirmation
from joobq_admin.pages.quarantine import Review
from joobq_admin.pages.slip import short
from joobq_admin.pages.tokens import plain
from joobq_admin.sso.roles import Action, User, needs

DONE = {"release": "Released", "discard": "Discarded"}
NOT_TOLD = "Somebody else was faster: there is no record of who. Your press did nothing."


@dataclass(frozen=True, slots=True)
class Reviewed:
    """Which record, by which bytes, as what operation."""

    ledger: Ledger
    request_id: str
    digest: str
    operation: str

    @property
    def url(self) -> str:
        return ledger_answers.url(self.ledger, "request", id=self.request_id)


@dataclass(frozen=True, slots=True)
class Question:
    ledger: Head
    id: str
    url: str
    back: str
    short: str
    digest: str
    operation: str
    given: Confirmation
    environment: str = settings.ENVIRONMENT
    longest: int = LONGEST_REASON


@answer.only_pressed
@needs(Action.RELEASE)
def release(request: HttpRequest) -> HttpResponse:
    """Puts it back under the indexes, if it decodes now."""
    reviewed = _reviewed(request)
    return _act(request, reviewed, Action.RELEASE, reviewed.ledger.release)


@answer.only_pressed
@needs(Action.DISCARD)
def discard(request: HttpRequest) -> HttpResponse:
    """Asks why first; then record and copy are gone for good."""
    reviewed, given = _reviewed(request), purge_forms.confirmation(request, 1, for_good=False)
    if given:
        return _act(request, reviewed, Action.DISCARD, reviewed.ledger.discard, given.reason)
    ledger = reviewed.ledger
    question = Question(
        ledger=ledger_answers.head(ledger),
        id=plain(reviewed.request_id, 200),
        url=ledger_answers.url(ledger, "discard", id=reviewed.request_id),
        back=reviewed.url,
        short=short(reviewed.digest),
        digest=reviewed.digest,
        operation=reviewed.operation,
        given=given,
    )
    context = {"ask": question, "title": "Discard?"}
    if not getattr(request, "htmx", None):
        return answer.page(request, "deliveries/discard_question.html", context, nav="deliveries")
    return ledger_answers.dialog(request, "deliveries/_discard_dialog.html", context)


def _reviewed(request: HttpRequest) -> Reviewed:
    return Reviewed(
        ledger=ledger_forms.ledger(request),
        request_id=ledger_forms.request_id(request),
        digest=ledger_forms.digest(request),
        operation=ledger_forms.operation(request),
    )


def _act(
    request: HttpRequest,
    reviewed: Reviewed,
    action: Action,
    act: Callable[[str, str, Actor], ReviewOutcome],
    reason: str = "",
) -> HttpResponse:
    ledger, user = reviewed.ledger, request.user
    by = ledger_answers.actor(user)
    try:
        outcome = act(reviewed.request_id, reviewed.digest, by)
        if outcome in (ReviewOutcome.RELEASED, ReviewOutcome.DISCARDED):
            return _done(request, reviewed, action, by, reason)
        slip = _not_done(reviewed, outcome, user)
    except connection.TROUBLE as trouble:
        slip = _failed(reviewed, trouble, action, by, reason)
    word = {409: "conflict", 422: "refused"}.get(slip.status, "unknown" if slip.unsure else "unsent")
    log.of_a_ledger(action, reviewed.operation, user, word, ledger, reviewed.request_id)
    return _shown(request, reviewed, slip)


def _done(request: HttpRequest, reviewed: Reviewed, action: Action, by: Actor, reason: str) -> HttpResponse:
    ledger, name = reviewed.ledger, reviewed.request_id
    unrecorded = _noted(reviewed, action, by, reason)
    log.of_a_ledger(action, reviewed.operation, request.user, "done", ledger, name)
    if not unrecorded and not getattr(request, "htmx", False):
        return HttpResponseRedirect(links.operation(reviewed.operation), status=303)
    if action is Action.RELEASE:
        heading, text = (
            "Released. It is under the indexes again",
            "Its record stands as it was, and work with it goes on.",
        )
        look = ((reviewed.url, "Open the request", "primary"),)
    else:
        heading, text = (
            "Discarded. Record and copy are gone",
            "The id can be admitted again, and is then delivered again.",
        )
        look = ((ledger_answers.url(ledger), "Back to the ledger", ""),)
    tone, icon = ("done", "check") if action is Action.RELEASE else ("bad", "purge")
    slip = _slip(reviewed, heading, text, 200, tone=tone, icon=icon, links=look)
    return _shown(request, reviewed, replace(slip, unrecorded=unrecorded))


def _not_done(reviewed: Reviewed, outcome: ReviewOutcome, user: User) -> Review:
    look = ((reviewed.url, "Look at what stands there now", "primary"),)
    if outcome is ReviewOutcome.CORRUPT:
        text = "Nothing was done. Once its bytes are put right, from a backup for instance, a release will do."
        return _slip(reviewed, "It does not decode", text, 422, tone="bad", icon="no", links=look)
    if outcome is ReviewOutcome.CHANGED:
        text = "Other bytes are stored under this id now than those that you reviewed. Nothing was done."
        return _slip(reviewed, "Changed since you reviewed it", text, 409, links=look)
    record = _who_was_faster(reviewed)
    since = _since(reviewed.ledger.look(reviewed.request_id).record, record)
    if record is None:
        heading = "It is not in quarantine any more"
        return _slip(reviewed, heading, f"{NOT_TOLD}{since}", 409, links=look)
    if record.fields.get("answer") == "lost":
        text = f"A press {ledger_answers.who_and_when(record, user)}, whose answer was lost, may have done it.{since}"
        return _slip(reviewed, "It is not in quarantine any more", text, 409, links=look)
    did = DONE[record.action]
    heading = f"{did} already {ledger_answers.who_and_when(record, user)}"
    return _slip(reviewed, heading, f"Your press did nothing.{since}", 409, links=look)


def _who_was_faster(reviewed: Reviewed) -> Record | None:
    """By what is recorded of these very bytes."""
    records = audit_log().of_digest(reviewed.digest)
    return next((record for record in records if record.action in DONE), None)


def _since(now: object, record: Record | None) -> str:
    if not isinstance(now, Delivery):
        return ""
    at = times.at(now.admitted_at)
    if record and record.at and at and at >= record.at:
        return f" Since then the id was admitted again, at {times.clock(at, times.now())}: that record is untouched."
    return " Its record stands."


def _failed(reviewed: Reviewed, trouble: Exception, action: Action, by: Actor, reason: str) -> Review:
    """After a lost answer it is recorded that it was pressed: it may be done."""
    told, unrecorded = ledger_answers.trouble(trouble), ""
    if told.unsure:
        unrecorded = _noted(reviewed, action, by, reason, answer="lost")
    look = ((reviewed.url, "Look again", "primary"),)
    slip = _slip(reviewed, told.heading, told.text, 503, icon="unknown", links=look)
    return replace(slip, unsure=told.unsure, unrecorded=unrecorded)


def _noted(reviewed: Reviewed, action: Action, by: Actor, reason: str, **more: str) -> str:
    ledger, name, digest = reviewed.ledger, reviewed.request_id, reviewed.digest
    return ledger_answers.noted(str(action), ledger, by, reviewed.operation, reason, digest, request=name, **more)


def _slip(
    reviewed: Reviewed, heading: str, text: str, status: int, tone: str = "warn", icon: str = "warn",
    links: tuple[links.Link, ...] = (),
) -> Review:  # fmt: skip
    return Review(
        heading=heading,
        text=text,
        short=short(reviewed.digest),
        at=times.time(times.now()),
        digest=reviewed.digest,
        tone=tone,
        icon=icon,
        status=status,
        links=links,
    )


def _shown(request: HttpRequest, reviewed: Reviewed, slip: Review) -> HttpResponse:
    if answer.wants(request, "quarantined"):
        return answer.fragment(request, "deliveries/_quarantined.html", {"x": slip}, status=slip.status)
    context = {
        "title": slip.heading,
        "l": ledger_answers.head(reviewed.ledger),
        "id": plain(reviewed.request_id, 200),
        "url": reviewed.url,
        "x": slip,
    }
    return answer.page(
        request, "deliveries/reviewed.html", context, status=slip.status, nav="deliveries", read=slip.status != 503
    )
