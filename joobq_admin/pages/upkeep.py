"""Time and receipts: leases that are over end; old receipts are pruned, once they were counted and it was confirmed."""

from collections.abc import Callable
from dataclasses import replace

from django.http import HttpRequest, HttpResponse

from joobq_admin import connection
from joobq_admin.joobq.delivery import LedgerStats
from joobq_admin.pages import (
    answer,
    expire_panel,
    ledger_answers,
    ledger_forms,
    ledger_names,
    ledger_page,
    ledger_question,
    prune_panel,
    purge_forms,
    words,
)
from joobq_admin.pages.expire_panel import ExpirePanel
from joobq_admin.pages.ledger_answers import Press, Told
from joobq_admin.pages.ledger_forms import Pruning
from joobq_admin.pages.ledger_question import Question
from joobq_admin.pages.prune_panel import PrunePanel
from joobq_admin.pages.purge_forms import Confirmation
from joobq_admin.sso.roles import Action, needs
from joobq_admin.triage import upkeep

SECONDS = 0.05  # of one step: its request stays below a quarter of a second

Shown = Callable[[LedgerStats], PrunePanel]


@answer.only_pressed
@needs(Action.EXPIRE)
def expire(request: HttpRequest) -> HttpResponse:
    """Ends the leases that are over, as far as a moment allows."""
    press = ledger_answers.press(request, Action.EXPIRE)
    try:
        ended, more = upkeep.expire(press.ledger, SECONDS)
    except connection.TROUBLE as trouble:
        return _expired(request, press, press.lost(press.failed(trouble)))
    press.logged("done")
    unrecorded = press.noted(expired=str(ended)) if ended else ""
    heading = f"Ended {words.counted(ended, 'lease')}" if ended or more else "No lease is over"
    text = "Their requests are due again; their attempts are kept." if ended else "None was ended."
    return _expired(request, press, Told(heading, text, unrecorded=unrecorded), more)


def _expired(request: HttpRequest, press: Press, told: Told, more: bool = False) -> HttpResponse:
    def panel(stats: LedgerStats) -> ExpirePanel:
        return expire_panel.after(told, expire_panel.panel(press.ledger, stats, press.user), more)

    return ledger_page.pressed(request, press.ledger, "expire", told, panel)


@answer.only_pressed
@needs(Action.PRUNE)
def prune(request: HttpRequest) -> HttpResponse:
    """Counts first, asks for the number and why, and then deletes what is that old, in steps."""
    asked = ledger_forms.pruning(request)
    given = purge_forms.confirmation(request, asked.n, for_good=True)
    press = ledger_answers.press(request, Action.PRUNE, reason=given.reason)
    if not (asked.counts or given):
        return ledger_question.ask(request, _question(press, asked, given))
    try:
        page = upkeep.prune(press.ledger, asked.age, asked.cursor, SECONDS, dry_run=asked.counts)
    except connection.TROUBLE as trouble:
        return _stopped(request, press, asked, given, trouble)
    done = replace(asked, cursor=page.cursor, scanned=asked.scanned + page.scanned, pruned=asked.pruned + page.pruned)
    told = Told("", "", unrecorded="" if asked.counts else _noted(press, asked, done))
    panel = _ended(press, done) if done.cursor == "0" else _under_way(press, done, given)

    def shown(stats: LedgerStats) -> PrunePanel:
        return replace(panel(stats), unrecorded=told.unrecorded)

    return ledger_page.pressed(request, press.ledger, "prune", told, shown)


def _ended(press: Press, done: Pruning) -> Shown:
    def panel(stats: LedgerStats) -> PrunePanel:
        shown = prune_panel.panel(press.ledger, stats, press.user)
        return prune_panel.counted(shown, done) if done.counts else prune_panel.pruned(shown, done)

    return panel


def _under_way(press: Press, asked: Pruning, given: Confirmation) -> Shown:
    def panel(stats: LedgerStats) -> PrunePanel:
        shown = prune_panel.panel(press.ledger, stats, press.user)
        if asked.counts:
            return prune_panel.counting(shown, asked, stats.records)
        return prune_panel.going(shown, asked, given, press.operation, stats.records)

    return panel


def _noted(press: Press, before: Pruning, done: Pruning) -> str:
    """That it began, when there is more to do, and what it came to."""
    if done.cursor != "0":
        return press.noted("begin prune", older_than=f"{done.days} d") if before.cursor == "0" else ""
    press.logged("done")
    lost = {"answer": "lost"} if done.least else {}
    return press.noted(older_than=f"{done.days} d", pruned=str(done.pruned), **lost)


def _question(press: Press, asked: Pruning, given: Confirmation) -> Question:
    ledger, n = ledger_names.head(press.ledger), f"{asked.n:,}"
    return Question(
        name="prune",
        ledger=ledger,
        heading=f"Prune {words.counted(asked.n, 'receipt')} of {ledger}?",
        text=f"COMPLETED and DEAD records {prune_panel.which(asked)} are deleted. "
        "What grows as old meanwhile goes too. Their ids can be admitted again, and are then delivered again.",
        url=ledger_names.url(press.ledger, "prune"),
        target="prune",
        fields=(("operation", press.operation), ("days", str(asked.days)), ("n", str(asked.n))),
        given=given,
        asker="A prune",
        n=n,
        exactly=f"{asked.n}|{n}",
        keep="Keep them",
        yes=f"Prune {n} for good",
        back=ledger.url,
    )


def _stopped(
    request: HttpRequest, press: Press, asked: Pruning, given: Confirmation, trouble: Exception
) -> HttpResponse:
    """What is gone until now is gone; the same step can be taken again."""
    if asked.counts:
        told = ledger_answers.trouble(trouble)
        told = replace(told, text=f"{told.text} Nothing is changed: it only counts.")
    else:
        told = press.failed(trouble)
        if asked.cursor == "0":
            told = press.lost(told, "begin prune", older_than=f"{asked.days} d")
        asked = replace(asked, least=asked.least or told.unsure)
        gone = prune_panel.receipts(asked)
        told = replace(told, text=f"{told.text} Gone until now: {gone}. It can go on from here.")
    panel = _under_way(press, asked, given)
    return ledger_page.pressed(
        request, press.ledger, "prune", told, lambda stats: prune_panel.after(told, panel(stats))
    )
