"""The gate of a ledger is closed, with a reason, and opened: only the one that was seen."""

from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from joobq_admin import connection
from joobq_admin.joobq.delivery import Gate, GateOutcome, Ledger, LedgerStats
from joobq_admin.pages import answer, gate_panel, ledger_answers, ledger_forms, ledger_page, log, purge_forms, times
from joobq_admin.pages.gate_panel import GatePanel
from joobq_admin.pages.ledger_answers import Head, Told
from joobq_admin.pages.purge_forms import LONGEST_REASON, Confirmation
from joobq_admin.pages.sends import why
from joobq_admin.sso.roles import Action, User, needs


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked before a gate is closed, with what that stops. `given`: what was answered before."""

    ledger: Head
    url: str
    operation: str
    split: list[tuple[str, str]]
    given: Confirmation
    environment: str = settings.ENVIRONMENT
    longest: int = LONGEST_REASON


@answer.only_pressed
@needs(Action.CLOSE_GATE)
def close_gate(request: HttpRequest) -> HttpResponse:
    """Asks why first; then no lease is given or renewed any more."""
    ledger, operation = ledger_forms.ledger(request), ledger_forms.operation(request)
    given = purge_forms.confirmation(request, 1, for_good=False)
    if not given:
        return _asked(request, ledger, operation, given)
    user = request.user
    try:
        change = ledger.close_gate(ledger_answers.actor(user), given.reason)
    except connection.TROUBLE as trouble:
        return _failed(request, ledger, Action.CLOSE_GATE, operation, trouble, given.reason)
    assert change.gate
    if change.outcome is GateOutcome.CLOSED_BEFORE:
        told = _closed_before(change.gate, user)
        return _told(request, ledger, Action.CLOSE_GATE, operation, told)
    return _done(request, ledger, Action.CLOSE_GATE, operation, Told("", ""), given.reason)


@answer.only_pressed
@needs(Action.OPEN_GATE)
def open_gate(request: HttpRequest) -> HttpResponse:
    """Opens the gate that its presser saw; another one that was closed since stays."""
    ledger, operation, user = ledger_forms.ledger(request), ledger_forms.operation(request), request.user
    try:
        gate = ledger.gate()
        if gate is None:
            return _told(request, ledger, Action.OPEN_GATE, operation, _open_before(ledger, user))
        if gate_panel.mark(gate) != request.POST.get("mark", ""):
            return _told(request, ledger, Action.OPEN_GATE, operation, _another(gate, user))
        change = ledger.open_gate(ledger_answers.actor(user), gate)
    except connection.TROUBLE as trouble:
        return _failed(request, ledger, Action.OPEN_GATE, operation, trouble)
    if change.outcome is GateOutcome.OPENED:
        text = f"It was closed{gate_panel.since(gate)}{gate_panel.by(gate, user)}. Leases are given again."
        return _done(request, ledger, Action.OPEN_GATE, operation, Told("Gate opened", text))
    told = _another(change.gate, user) if change.gate else _open_before(ledger, user)
    return _told(request, ledger, Action.OPEN_GATE, operation, told)


def _asked(request: HttpRequest, ledger: Ledger, operation: str, given: Confirmation) -> HttpResponse:
    stats = ledger.stats()
    split = [("In flight now", f"{stats.leased:,}"), ("Due now, will wait", f"{stats.due:,}")]
    if stats.last_lease:
        split.append(("Last lease ends, if not settled before", f"in {times.ahead(stats.last_lease - stats.at)}"))
    url = ledger_answers.url(ledger, "close-gate")
    question = Question(ledger_answers.head(ledger), url, operation, split, given)
    context = {"ask": question, "title": "Close the gate?"}
    if not getattr(request, "htmx", None):
        return answer.page(request, "deliveries/gate_question.html", context, nav="deliveries")
    return ledger_answers.dialog(request, "deliveries/_gate_dialog.html", context)


def _closed_before(gate: Gate, user: User) -> Told:
    heading = f"Closed already{gate_panel.by(gate, user)}{gate_panel.since(gate)}"
    return Told(heading, "Your press did nothing: it stays as it was.", 409)


def _open_before(ledger: Ledger, user: User) -> Told:
    record = ledger_answers.last_done(Action.OPEN_GATE, ledger)
    who = f" {ledger_answers.who_and_when(record, user)}" if record else ""
    return Told(f"Opened already{who}", "Your press did nothing: no gate is closed.", 409)


def _another(gate: Gate, user: User) -> Told:
    heading = f"Another gate is closed now{gate_panel.by(gate, user)}{gate_panel.since(gate)}"
    reason = f" The reason of this one: {why(gate.reason, 400)}" if gate.reason else ""
    return Told(heading, f"The one that you saw was opened meanwhile. Nothing was done.{reason}", 409)


def _done(
    request: HttpRequest, ledger: Ledger, action: Action, operation: str, told: Told, reason: str = ""
) -> HttpResponse:
    """It is recorded right after; a page that shows the gate as it is now needs no more words."""
    by = ledger_answers.actor(request.user)
    unrecorded = ledger_answers.noted(str(action), ledger, by, operation, reason)
    log.of_a_ledger(action, operation, request.user, "done", ledger)
    if not unrecorded and not getattr(request, "htmx", False):
        return HttpResponseRedirect(ledger_answers.url(ledger), status=303)
    return _shown(request, ledger, Told(told.heading, told.text, unrecorded=unrecorded))


def _told(request: HttpRequest, ledger: Ledger, action: Action, operation: str, told: Told) -> HttpResponse:
    """Somebody was faster."""
    log.of_a_ledger(action, operation, request.user, "conflict", ledger)
    return _shown(request, ledger, told)


def _failed(
    request: HttpRequest, ledger: Ledger, action: Action, operation: str, trouble: Exception, reason: str = ""
) -> HttpResponse:
    """After a lost answer the panel says how the gate stands; that it was pressed is recorded."""
    told = ledger_answers.trouble(trouble)
    log.of_a_ledger(action, operation, request.user, "unknown" if told.unsure else "unsent", ledger)
    if told.unsure:
        by = ledger_answers.actor(request.user)
        unrecorded = ledger_answers.noted(str(action), ledger, by, operation, reason, answer="lost")
        text = "The connection to Redis was lost after it was sent. This is how the gate stands now."
        told = Told("The answer was lost", text, 503, unrecorded=unrecorded)
    return _shown(request, ledger, told)


def _shown(request: HttpRequest, ledger: Ledger, told: Told) -> HttpResponse:
    def panel(stats: LedgerStats) -> GatePanel:
        return gate_panel.after(told, gate_panel.panel(ledger, stats, request.user))

    return ledger_page.pressed(request, ledger, "gate", told, panel)
