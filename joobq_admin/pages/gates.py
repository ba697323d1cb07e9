"""The gate of a ledger is closed, with a reason, and opened: only the one that was seen."""

from dataclasses import replace

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from joobq_admin import connection
from joobq_admin.joobq.delivery import Gate, GateOutcome, Ledger, LedgerStats
from joobq_admin.pages import (
    answer,
    gate_panel,
    ledger_answers,
    ledger_names,
    ledger_page,
    ledger_question,
    purge_forms,
    times,
)
from joobq_admin.pages.gate_panel import GatePanel
from joobq_admin.pages.ledger_answers import Press, Told
from joobq_admin.pages.ledger_question import Question
from joobq_admin.pages.purge_forms import Confirmation
from joobq_admin.sso.roles import Action, User, needs

CLOSING = (
    "From that instant on no request is claimed and no lease is renewed. Work in flight may finish and settle. "
    "Admissions go on."
)
CLOSED_FOR_LONG = (
    "Closed for long, leases run out: a worker that is still busy then loses its claim, "
    "and the request is handed out again once the gate opens."
)


@answer.only_pressed
@needs(Action.CLOSE_GATE)
def close_gate(request: HttpRequest) -> HttpResponse:
    """Asks why first; then no lease is given or renewed any more."""
    given = purge_forms.confirmation(request, 1, for_good=False)
    press = ledger_answers.press(request, Action.CLOSE_GATE, reason=given.reason)
    if not given:
        return ledger_question.ask(request, _question(press, given))
    try:
        change = press.ledger.close_gate(press.by, press.reason)
    except connection.TROUBLE as trouble:
        return _failed(request, press, trouble)
    if change.outcome is GateOutcome.CLOSED:
        return _done(request, press, Told("", ""))
    assert change.gate
    return _conflict(request, press, _closed_before(change.gate, press.user))


@answer.only_pressed
@needs(Action.OPEN_GATE)
def open_gate(request: HttpRequest) -> HttpResponse:
    """Opens the gate that its presser saw; another one that was closed since stays."""
    press = ledger_answers.press(request, Action.OPEN_GATE)
    ledger, user = press.ledger, press.user
    try:
        gate = ledger.gate()
        if gate is None:
            return _conflict(request, press, _open_before(ledger, user))
        if gate_panel.mark(gate) != request.POST.get("mark", ""):
            return _conflict(request, press, _another(gate, user))
        change = ledger.open_gate(press.by, gate)
    except connection.TROUBLE as trouble:
        return _failed(request, press, trouble)
    if change.outcome is GateOutcome.OPENED:
        text = f"It was closed{gate_panel.whose(gate, user)}. Leases are given again."
        return _done(request, press, Told("Gate opened", text))
    return _conflict(request, press, _another(change.gate, user) if change.gate else _open_before(ledger, user))


def _question(press: Press, given: Confirmation) -> Question:
    ledger, stats = ledger_names.head(press.ledger), press.ledger.stats()
    split = [("In flight now", f"{stats.leased:,}"), ("Due now, will wait", f"{stats.due:,}")]
    if stats.last_lease:
        split.append(("Last lease ends, if not settled before", f"in {times.ahead(stats.last_lease - stats.at)}"))
    return Question(
        name="gate",
        ledger=ledger,
        heading=f"Close the gate of {ledger}?",
        text=CLOSING,
        url=ledger_names.url(press.ledger, "close-gate"),
        target="gate",
        fields=(("operation", press.operation),),
        given=given,
        asker="A closed gate",
        help="Shown to everyone on this page, with your name and the time.",
        note=CLOSED_FOR_LONG,
        split=tuple(split),
        keep="Keep it open",
        yes="Close the gate",
        back=ledger.url,
        icon="lock",
        cls="primary",
    )


def _closed_before(gate: Gate, user: User) -> Told:
    heading = f"Closed already{gate_panel.whose(gate, user)}"
    return Told(heading, "Your press did nothing: it stays as it was.", 409)


def _open_before(ledger: Ledger, user: User) -> Told:
    record = ledger_answers.last_done(Action.OPEN_GATE, ledger)
    who = f" {ledger_answers.who_and_when(record, user)}" if record else ""
    return Told(f"Opened already{who}", "Your press did nothing: no gate is closed.", 409)


def _another(gate: Gate, user: User) -> Told:
    heading = f"Another gate is closed now{gate_panel.whose(gate, user)}"
    return Told(heading, "The one that you saw was opened meanwhile. Nothing was done.", 409)


def _done(request: HttpRequest, press: Press, told: Told) -> HttpResponse:
    """It is recorded right after; a page that shows the gate as it is now needs no more words."""
    unrecorded = press.noted()
    press.logged("done")
    if not unrecorded and not getattr(request, "htmx", False):
        return HttpResponseRedirect(ledger_names.url(press.ledger), status=303)
    return _shown(request, press, replace(told, unrecorded=unrecorded))


def _conflict(request: HttpRequest, press: Press, told: Told) -> HttpResponse:
    """Somebody was faster."""
    press.logged("conflict")
    return _shown(request, press, told)


def _failed(request: HttpRequest, press: Press, trouble: Exception) -> HttpResponse:
    """After a lost answer the panel says how the gate stands."""
    told = press.lost(press.failed(trouble))
    if told.unsure:
        text = "The connection to Redis was lost after it was sent. This is how the gate stands now."
        told = replace(told, heading="The answer was lost", text=text)
    return _shown(request, press, told)


def _shown(request: HttpRequest, press: Press, told: Told) -> HttpResponse:
    def panel(stats: LedgerStats) -> GatePanel:
        return gate_panel.after(told, gate_panel.panel(press.ledger, stats, press.user))

    return ledger_page.pressed(request, press.ledger, "gate", told, panel)
