"""A record in quarantine is released, or discarded with a reason: only while the reviewed bytes are stored."""

from collections.abc import Callable
from dataclasses import replace

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from joobq_admin import connection
from joobq_admin.connection import audit_log
from joobq_admin.joobq.audit import Actor, Record
from joobq_admin.joobq.delivery import Record as Delivery
from joobq_admin.joobq.delivery import ReviewOutcome
from joobq_admin.pages import (
    answer,
    gate_panel,
    ledger_answers,
    ledger_forms,
    ledger_names,
    ledger_question,
    links,
    purge_forms,
    times,
)
from joobq_admin.pages.ledger_answers import Press
from joobq_admin.pages.ledger_question import Question
from joobq_admin.pages.purge_forms import Confirmation
from joobq_admin.pages.quarantine import Review
from joobq_admin.pages.slip import short
from joobq_admin.pages.tokens import plain
from joobq_admin.sso.roles import Action, needs

DONE = {"release": "Released", "discard": "Discarded"}
NOT_TOLD = "Somebody else was faster: there is no record of who. Your press did nothing."


@answer.only_pressed
@needs(Action.RELEASE)
def release(request: HttpRequest) -> HttpResponse:
    """Puts it back under the indexes, if it decodes now."""
    press = _press(request, Action.RELEASE)
    return _act(request, press, press.ledger.release)


@answer.only_pressed
@needs(Action.DISCARD)
def discard(request: HttpRequest) -> HttpResponse:
    """Asks why first; then record and copy are gone for good."""
    given = purge_forms.confirmation(request, 1, for_good=False)
    press = _press(request, Action.DISCARD, given.reason)
    if not given:
        return ledger_question.ask(request, _question(press, given))
    return _act(request, press, press.ledger.discard)


def _press(request: HttpRequest, action: Action, reason: str = "") -> Press:
    about = {"request_id": ledger_forms.request_id(request), "digest": ledger_forms.digest(request)}
    return ledger_answers.press(request, action, reason=reason, **about)


def _url(press: Press) -> str:
    return ledger_names.request_url(press.ledger, press.request_id)


def _question(press: Press, given: Confirmation) -> Question:
    return Question(
        name="discard",
        ledger=ledger_names.head(press.ledger),
        heading=f"Discard the record of {plain(press.request_id, 200)}?",
        text=f"Version {short(press.digest)} and the copy in quarantine are deleted for good, only while exactly these "
        "bytes are stored. The id can then be admitted again, so the work may be done twice.",
        url=ledger_names.url(press.ledger, "discard", id=press.request_id),
        target="quarantined",
        fields=(("digest", press.digest), ("operation", press.operation)),
        given=given,
        asker="A discard",
        keep="Keep it",
        yes="Discard for good",
        back=_url(press),
    )


def _act(request: HttpRequest, press: Press, act: Callable[[str, str, Actor], ReviewOutcome]) -> HttpResponse:
    try:
        outcome = act(press.request_id, press.digest, press.by)
        if outcome in (ReviewOutcome.RELEASED, ReviewOutcome.DISCARDED):
            return _done(request, press)
        slip = _not_done(press, outcome)
    except connection.TROUBLE as trouble:
        return _shown(request, press, _failed(press, trouble))
    press.logged("refused" if slip.status == 422 else "conflict")
    return _shown(request, press, slip)


def _done(request: HttpRequest, press: Press) -> HttpResponse:
    unrecorded = press.noted()
    press.logged("done")
    if not unrecorded and not getattr(request, "htmx", False):
        return HttpResponseRedirect(links.operation(press.operation), status=303)
    if press.action is Action.RELEASE:
        heading, tone, icon = "Released. It is under the indexes again", "done", "check"
        text = "Its record stands as it was, and work with it goes on."
        look = (_url(press), "Open the request", "primary")
    else:
        heading, tone, icon = "Discarded. Record and copy are gone", "bad", "purge"
        text = "The id can be admitted again, and is then delivered again."
        look = (ledger_names.url(press.ledger), "Back to the ledger", "")
    slip = _slip(press, heading, text, 200, look, tone, icon)
    return _shown(request, press, replace(slip, unrecorded=unrecorded))


def _not_done(press: Press, outcome: ReviewOutcome) -> Review:
    look = (_url(press), "Look at what stands there now", "primary")
    if outcome is ReviewOutcome.CORRUPT:
        text = "Nothing was done. Once its bytes are put right, from a backup for instance, a release will do."
        return _slip(press, "It does not decode", text, 422, look, "bad", "no")
    if outcome is ReviewOutcome.CHANGED:
        text = "Other bytes are stored under this id now than those that you reviewed. Nothing was done."
        return _slip(press, "Changed since you reviewed it", text, 409, look)
    record = _who_was_faster(press)
    since = _since(press.ledger.look(press.request_id).record, record)
    heading = "It is not in quarantine any more"
    if record is None:
        text = NOT_TOLD
    elif record.fields.get("answer") == "lost":
        text = f"A press {ledger_answers.who_and_when(record, press.user)}, whose answer was lost, may have done it."
    else:
        heading = f"{DONE[record.action]} already {ledger_answers.who_and_when(record, press.user)}"
        text = "Your press did nothing."
    return _slip(press, heading, text + since, 409, look)


def _who_was_faster(press: Press) -> Record | None:
    """By what is recorded of these very bytes, under this id; None where that is not told."""
    try:
        records = audit_log().of_digest(press.digest)
    except connection.TROUBLE:
        return None
    about = (press.ledger.namespace, press.ledger.queue, press.request_id)
    return next((each for each in records if each.action in DONE and _about(each) == about), None)


def _about(record: Record) -> tuple[str | None, str, str | None]:
    return record.fields.get("namespace"), record.queue, record.fields.get("request")


def _since(now: object, record: Record | None) -> str:
    if not isinstance(now, Delivery):
        return ""
    at = times.at(now.admitted_at)
    if not (record and record.at and at) or record.fields.get("answer") == "lost":
        return " Its record stands."
    if record.action == "discard" or at >= record.at:  # it is recorded after it was done
        return f" Since then the id was admitted again, at {times.clock(at, times.now())}: that record is untouched."
    return " Its record stands."


def _failed(press: Press, trouble: Exception) -> Review:
    told = press.lost(press.failed(trouble))
    slip = _slip(press, told.heading, told.text, 503, (_url(press), "Look again", "primary"), icon="unknown")
    return replace(slip, unrecorded=told.unrecorded)


def _slip(
    press: Press, heading: str, text: str, status: int, look: links.Link, tone: str = "warn", icon: str = "warn"
) -> Review:
    return Review(
        heading=heading,
        text=text,
        short=short(press.digest),
        at=times.time(times.now()),
        digest=press.digest,
        tone=tone,
        icon=icon,
        status=status,
        links=(look,),
    )


def _shown(request: HttpRequest, press: Press, slip: Review) -> HttpResponse:
    if answer.wants(request, "quarantined"):
        return answer.fragment(request, "deliveries/_quarantined.html", {"x": slip}, status=slip.status)
    context = {
        "title": slip.heading,
        "l": ledger_names.head(press.ledger),
        "gate": gate_panel.warning_of(press.ledger, press.user),
        "id": plain(press.request_id, 200),
        "x": slip,
    }
    return answer.page(
        request, "deliveries/reviewed.html", context, status=slip.status, nav="deliveries", read=slip.status != 503
    )
