"""Time and receipts: leases that are over end; old receipts are pruned, once they were counted and it was confirmed."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from joobq_admin import connection
from joobq_admin.joobq.delivery import Ledger, LedgerStats
from joobq_admin.pages import answer, ledger_answers, ledger_forms, ledger_page, log, prune_panel, purge_forms, words
from joobq_admin.pages.ledger_answers import Head, Told
from joobq_admin.pages.ledger_forms import Pruning
from joobq_admin.pages.ledger_page import ExpirePanel
from joobq_admin.pages.prune_panel import PrunePanel
from joobq_admin.pages.purge_forms import LONGEST_REASON, Confirmation
from joobq_admin.sso.roles import Action, needs
from joobq_admin.triage import upkeep

SECONDS = 0.05  # of one step: its request stays below a quarter of a second


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked before receipts are pruned. `given`: what was answered before; `exactly`: as `n` may be typed."""

    ledger: Head
    url: str
    fields: tuple[tuple[str, str], ...]
    days: int
    n: str
    exactly: str
    given: Confirmation
    environment: str = settings.ENVIRONMENT
    longest: int = LONGEST_REASON


@answer.only_pressed
@needs(Action.EXPIRE)
def expire(request: HttpRequest) -> HttpResponse:
    """Ends the leases that are over, as far as a moment allows."""
    ledger, operation, user = ledger_forms.ledger(request), ledger_forms.operation(request), request.user
    try:
        ended, more = upkeep.expire(ledger, SECONDS)
    except connection.TROUBLE as trouble:
        told = ledger_answers.trouble(trouble)
        log.of_a_ledger(Action.EXPIRE, operation, user, "unknown" if told.unsure else "unsent", ledger)
        if told.unsure:
            unrecorded = ledger_answers.noted("expire", ledger, ledger_answers.actor(user), operation, answer="lost")
            told = replace(told, unrecorded=unrecorded)
        return _shown(request, ledger, told)
    unrecorded = ""
    if ended:
        by = ledger_answers.actor(user)
        unrecorded = ledger_answers.noted("expire", ledger, by, operation, expired=str(ended))
        log.of_a_ledger(Action.EXPIRE, operation, user, "done", ledger)
    heading = f"Ended {words.counted(ended, 'lease')}" if ended or more else "No lease is over"
    text = "Their requests are due again; their attempts are kept." if ended else "None was ended."
    return _shown(request, ledger, Told(heading, text, unrecorded=unrecorded), more)


def _shown(request: HttpRequest, ledger: Ledger, told: Told, more: bool = False) -> HttpResponse:
    def panel(stats: LedgerStats) -> ExpirePanel:
        shown = ledger_page.expire_panel(ledger, stats, request.user)
        text = f"{told.text} More of them are over." if more else told.text
        return replace(shown, heading=told.heading, text=text, more=more, unrecorded=told.unrecorded)

    return ledger_page.pressed(request, ledger, "expire", told, panel)


@answer.only_pressed
@needs(Action.PRUNE)
def prune(request: HttpRequest) -> HttpResponse:
    """Counts first, asks for the number and why, and then deletes what is that old, in steps."""
    ledger, operation = ledger_forms.ledger(request), ledger_forms.operation(request)
    asked = ledger_forms.pruning(request)
    given = purge_forms.confirmation(request, asked.n, for_good=True)
    if not (asked.counts or given):
        return _ask(request, ledger, operation, asked, given)
    try:
        page = upkeep.prune(ledger, asked.age, asked.cursor, SECONDS, dry_run=asked.counts)
    except connection.TROUBLE as trouble:
        return _stopped(request, ledger, operation, asked, given, trouble)
    done = replace(asked, cursor=page.cursor, scanned=asked.scanned + page.scanned, pruned=asked.pruned + page.pruned)
    if asked.counts:
        return _panel(request, ledger, lambda shown, stats: _counted(shown, done, stats))
    unrecorded = _noted(request, ledger, operation, asked, done, given)
    if done.cursor == "0":
        return _panel(request, ledger, lambda shown, _: prune_panel.pruned(shown, done, unrecorded))
    return _panel(request, ledger, lambda shown, stats: prune_panel.going(shown, done, given, operation, stats.records))


def _counted(shown: PrunePanel, done: Pruning, stats: LedgerStats) -> PrunePanel:
    return prune_panel.counted(shown, done) if done.cursor == "0" else prune_panel.counting(shown, done, stats.records)


def _noted(
    request: HttpRequest, ledger: Ledger, operation: str, before: Pruning, done: Pruning, given: Confirmation
) -> str:
    """That it began, when there is more to do, and what it came to."""
    if done.cursor != "0":
        return _begun(request, ledger, operation, asked=before, given=given) if before.cursor == "0" else ""
    log.of_a_ledger(Action.PRUNE, operation, request.user, "done", ledger)
    by, did = ledger_answers.actor(request.user), {"older_than": f"{done.days} d", "pruned": str(done.pruned)}
    if done.least:
        did["answer"] = "lost"
    return ledger_answers.noted("prune", ledger, by, operation, given.reason, **did)


def _begun(
    request: HttpRequest, ledger: Ledger, operation: str, asked: Pruning, given: Confirmation, **more: str
) -> str:
    by = ledger_answers.actor(request.user)
    did = {"older_than": f"{asked.days} d", **more}
    return ledger_answers.noted("begin prune", ledger, by, operation, given.reason, **did)


def _ask(request: HttpRequest, ledger: Ledger, operation: str, asked: Pruning, given: Confirmation) -> HttpResponse:
    question = Question(
        ledger=ledger_answers.head(ledger),
        url=ledger_answers.url(ledger, "prune"),
        fields=(("operation", operation), ("days", str(asked.days)), ("n", str(asked.n))),
        days=asked.days,
        n=f"{asked.n:,}",
        exactly=f"{asked.n}|{asked.n:,}",
        given=given,
    )
    context = {"ask": question, "title": "Prune?"}
    if not getattr(request, "htmx", None):
        return answer.page(request, "deliveries/prune_question.html", context, nav="deliveries")
    return ledger_answers.dialog(request, "deliveries/_prune_dialog.html", context)


def _stopped(
    request: HttpRequest, ledger: Ledger, operation: str, asked: Pruning, given: Confirmation, trouble: Exception
) -> HttpResponse:
    """What is gone until now is gone; the same step can be taken again."""
    said = ledger_answers.trouble(trouble)
    if asked.counts:
        told = replace(said, text=f"{said.text} Nothing is changed: it only counts.", unsure=False)
    else:
        log.of_a_ledger(Action.PRUNE, operation, request.user, "unknown" if said.unsure else "unsent", ledger)
        unrecorded = ""
        if said.unsure and asked.cursor == "0":
            unrecorded = _begun(request, ledger, operation, asked, given, answer="lost")
        asked = replace(asked, least=asked.least or said.unsure)
        gone = prune_panel.receipts(asked)
        told = replace(said, text=f"{said.text} Gone until now: {gone}. It can go on from here.", unrecorded=unrecorded)

    def panel(stats: LedgerStats) -> PrunePanel:
        shown = prune_panel.panel(ledger, stats, request.user)
        if asked.counts:
            return prune_panel.after(told, prune_panel.counting(shown, asked, stats.records))
        return prune_panel.after(told, prune_panel.going(shown, asked, given, operation, stats.records))

    return ledger_page.pressed(request, ledger, "prune", told, panel)


def _panel(request: HttpRequest, ledger: Ledger, of: Callable[[PrunePanel, LedgerStats], PrunePanel]) -> HttpResponse:
    def panel(stats: LedgerStats) -> PrunePanel:
        return of(prune_panel.panel(ledger, stats, request.user), stats)

    return ledger_page.pressed(request, ledger, "prune", Told("", ""), panel)
