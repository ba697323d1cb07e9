"""A repair of a ledger, step by step; a dry run first says what it would do. Whoever goes on, it is one cycle."""

from dataclasses import replace

from django.http import HttpRequest, HttpResponse

from joobq_admin import connection
from joobq_admin.joobq.delivery import MENDED, Cycle, Ledger, LedgerStats, Mended
from joobq_admin.pages import answer, ledger_answers, ledger_forms, ledger_page, repair_panel
from joobq_admin.pages.ledger_answers import Press, Told
from joobq_admin.pages.ledger_forms import Repairing
from joobq_admin.pages.repair_panel import RepairPanel
from joobq_admin.sso.roles import Action, needs

SECONDS = 0.05  # of one step: its request stays below a quarter of a second
SO_FAR = "What is mended is mended; it can go on from here."
NOT_KEPT = "How far it came is kept in Redis for an hour after its last step, and is not there. Start a cycle anew."


@answer.only_pressed
@needs(Action.REPAIR)
def repair(request: HttpRequest) -> HttpResponse:
    """Takes a step: of a dry run, or of the cycle that goes on; a press of Start begins one when none does."""
    press, asked = ledger_answers.press(request, Action.REPAIR), ledger_forms.repairing(request)
    try:
        return _look(request, press, asked) if asked.looks else _step(request, press, asked)
    except connection.TROUBLE as trouble:
        told = press.failed(trouble)
        if asked.begins:
            told = press.lost(told, "begin repair")
        return _told(request, press, replace(told, text=f"{told.text} {SO_FAR}"))


def _look(request: HttpRequest, press: Press, asked: Repairing) -> HttpResponse:
    found = press.ledger.repair_for(SECONDS, asked.looked.cursor, dry_run=True)
    seen = Mended(found.cursor, *(getattr(asked.looked, name) + getattr(found, name) for name in MENDED))

    def panel(stats: LedgerStats) -> RepairPanel:
        return repair_panel.of_look(press.ledger, press.user, seen, asked.total or stats.records + stats.entries)

    return ledger_page.pressed(request, press.ledger, "repair", Told("", ""), panel)


def _step(request: HttpRequest, press: Press, asked: Repairing) -> HttpResponse:
    ledger = press.ledger
    cycle = ledger.begin_cycle(press.operation, press.by, SECONDS) if asked.begins else ledger.go_on(SECONDS)
    if cycle is None:
        return _told(request, press, Told("No cycle goes on", NOT_KEPT, 409))
    unrecorded = _noted(ledger, cycle, begun=asked.begins and cycle.operation == press.operation)
    if cycle.stepped and (cycle.ended_at or asked.begins):
        replace(press, operation=cycle.operation).logged("done")

    def panel(_: LedgerStats) -> RepairPanel:
        shown = repair_panel.of_cycle(ledger, cycle, press.user, goes_on=cycle.ended_at is None)
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


def _told(request: HttpRequest, press: Press, told: Told) -> HttpResponse:
    def panel(stats: LedgerStats) -> RepairPanel:
        return repair_panel.after(told, repair_panel.panel(press.ledger, stats, press.user))

    return ledger_page.pressed(request, press.ledger, "repair", told, panel)
