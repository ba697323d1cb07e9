"""A repair of a ledger, step by step; a dry run first says what it would do. Whoever goes on, it is one cycle."""

from dataclasses import replace

from django.http import HttpRequest, HttpResponse

from joobq_admin import connection
from joobq_admin.joobq.delivery import MENDED, Cycle, Ledger, LedgerStats, Mended
from joobq_admin.pages import answer, ledger_answers, ledger_forms, ledger_page, log, repair_panel
from joobq_admin.pages.ledger_answers import Told
from joobq_admin.pages.ledger_forms import Repairing
from joobq_admin.pages.repair_panel import RepairPanel
from joobq_admin.sso.roles import Action, needs

SECONDS = 0.05  # of one step: its request stays below a quarter of a second


@answer.only_pressed
@needs(Action.REPAIR)
def repair(request: HttpRequest) -> HttpResponse:
    """Takes a step: of a dry run, or of the cycle that goes on; a press of Start begins one when none does."""
    ledger, operation = ledger_forms.ledger(request), ledger_forms.operation(request)
    asked = ledger_forms.repairing(request)
    try:
        return _look(request, ledger, asked) if asked.looks else _step(request, ledger, operation, asked)
    except connection.TROUBLE as trouble:
        said = ledger_answers.trouble(trouble)
        told = replace(said, text=f"{said.text} What is mended is mended; it can go on from here.")
        log.of_a_ledger(Action.REPAIR, operation, request.user, "unknown" if told.unsure else "unsent", ledger)
        if told.unsure and asked.begins:
            by = ledger_answers.actor(request.user)
            unrecorded = ledger_answers.noted("begin repair", ledger, by, operation, answer="lost")
            told = replace(told, unrecorded=unrecorded)
        return _shown(request, ledger, told, lambda stats: repair_panel.panel(ledger, stats, request.user))


def _look(request: HttpRequest, ledger: Ledger, asked: Repairing) -> HttpResponse:
    found = ledger.repair_for(SECONDS, asked.looked.cursor, dry_run=True)
    seen = Mended(found.cursor, *(getattr(asked.looked, name) + getattr(found, name) for name in MENDED))
    user = request.user

    def panel(stats: LedgerStats) -> RepairPanel:
        return repair_panel.of_look(ledger, user, seen, asked.total or stats.records + stats.entries)

    return ledger_page.pressed(request, ledger, "repair", Told("", ""), panel)


def _step(request: HttpRequest, ledger: Ledger, operation: str, asked: Repairing) -> HttpResponse:
    by = ledger_answers.actor(request.user)
    cycle = ledger.begin_cycle(operation, by, SECONDS) if asked.begins else ledger.go_on(SECONDS)
    if cycle is None:
        text = "It stood still for an hour, and what it had come to is not kept for longer. Start a cycle anew."
        told = Told("No cycle goes on", text, 409)
        return _shown(request, ledger, told, lambda stats: repair_panel.panel(ledger, stats, request.user))
    unrecorded = _noted(ledger, cycle, begun=asked.begins and cycle.operation == operation)
    if cycle.stepped and (cycle.ended_at or asked.begins):
        log.of_a_ledger(Action.REPAIR, cycle.operation, request.user, "done", ledger)

    def panel(_: LedgerStats) -> RepairPanel:
        shown = repair_panel.of_cycle(ledger, cycle, request.user, goes_on=cycle.ended_at is None)
        return replace(shown, unrecorded=unrecorded)

    return ledger_page.pressed(request, ledger, "repair", Told("", "", unrecorded=unrecorded), panel)


def _noted(ledger: Ledger, cycle: Cycle, begun: bool) -> str:
    """In the name of who began it: that they did, when there is more to do, and what it came to."""
    if not cycle.stepped:
        return ""
    if cycle.ended_at is None:
        return ledger_answers.noted("begin repair", ledger, cycle.by, cycle.operation) if begun else ""
    done = cycle.done
    did = {"expired": done.expired, "mended": done.mended, "quarantined": done.quarantined}
    numbers = {name: str(n) for name, n in {"scanned": done.records + done.entries, **did}.items()}
    if cycle.lost:
        numbers["answer"] = "lost"
    return ledger_answers.noted("repair", ledger, cycle.by, cycle.operation, **numbers)


def _shown(request: HttpRequest, ledger: Ledger, told: Told, panel: ledger_page.Panel) -> HttpResponse:
    return ledger_page.pressed(request, ledger, "repair", told, lambda stats: repair_panel.after(told, panel(stats)))
