"""The bin: what is in it, and out of it, back into dead letters."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import uuid4

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from joobq_admin import connection
from joobq_admin.connection import audit_log, dead_letters
from joobq_admin.joobq import refusals
from joobq_admin.joobq.audit import Actor, Record
from joobq_admin.joobq.entry import EntryRef
from joobq_admin.joobq.outcome import Outcome, What
from joobq_admin.pages import answer, audit, binned, forms, links, list_forms, log, purge_forms, purged, question, times
from joobq_admin.pages.answer import Problem
from joobq_admin.pages.forms import Reading
from joobq_admin.pages.pressed import Told, answered
from joobq_admin.pages.purge_forms import Confirmation, Ticks
from joobq_admin.pages.slip import Slip
from joobq_admin.pages.tally import Tally, tally
from joobq_admin.pages.ticked import not_sent, on_the_list
from joobq_admin.pages.undo import MOST, UNREAD, Undo, in_the_bin, the_bin
from joobq_admin.sso.roles import Action, needs


@needs(Action.VIEW)
@require_safe
def entries(request: HttpRequest) -> HttpResponse:
    """What is in the bin, who purged it, why, and until when it can come back."""
    asked = list_forms.listing(request)
    context = in_the_bin(lambda its: binned.read(its, asked, request.user))
    if context is None:
        text = "Redis does not let it be read. Nothing in it was changed."
        what = Problem(503, "No bin", UNREAD.removesuffix("."), text, links=(answer.home(),))
        return answer.problem(request, what, nav="bin")
    return _shown(request, context)


@answer.only_pressed
@needs(Action.RESTORE)
def restore(request: HttpRequest) -> HttpResponse:
    """Undoes one purge: what it put into the bin, and is there still, comes back. Or the rows ticked in the bin do."""
    if "undo" not in request.POST:
        return _ticked(request, purge_forms.ticks(request), Action.RESTORE, dead_letters().restore)
    undo, now, by = purge_forms.undo(request), times.now(), Actor(request.user.sub, request.user.name)
    records, log_page = list[Record](), _page_of_the_log(request)
    many = bool(log_page) or answer.wants(request, "results")
    try:
        records = audit_log().of_operation(undo.purge, "purge", MOST)
        many = many or len(records) > 1
        if not records:
            return answered(request, Told(purged.nothing_to_undo(now)), None, h1="Undo")
        records, digests, left = _of_this_purge(records, undo.operation)
        outcome = dead_letters().restore(digests, by=by, operation=undo.operation)
        log.pressed(Action.RESTORE, undo.operation, request.user, outcome)
        if many:
            return _counted(request, outcome, records, digests, left, undo, log_page)
        told = _told(outcome, records[0], undo, request)
    except connection.TROUBLE as trouble:
        said = refusals.said(trouble)
        log.pressed(Action.RESTORE, undo.operation, request.user, Outcome(unsent=(undo.purge,)), said)
        if many:
            return not_sent(request, said)
        told = purged.unsent_undo(records[0].digest if records else "", undo, now, said)
    if told.status == 200 and not request.htmx:
        return HttpResponseRedirect(links.operation(undo.operation), status=303)
    ref = purged.ref_of(records[0]) if records else None
    return answered(request, Told(told), ref, h1="Undo")


@answer.only_pressed
@needs(Action.PURGE_FOR_GOOD)
def empty(request: HttpRequest) -> HttpResponse:
    """Asks first, for their number and why; then the rows ticked in the bin leave it for good."""
    ticks = purge_forms.ticks(request)
    given = purge_forms.confirmation(request, len(ticks.refs), for_good=True)
    if not given:
        return question.of_binned(request, ticks, given)
    return _ticked(request, ticks, Action.PURGE_FOR_GOOD, dead_letters().empty, given)


def _page_of_the_log(request: HttpRequest) -> Reading | None:
    """Of the audit log, when Undo was pressed there."""
    return forms.reading(request, request.POST["sought"]) if "sought" in request.POST else None


def _ticked(
    request: HttpRequest,
    ticks: Ticks,
    action: Action,
    act: Callable[..., Outcome],
    given: Confirmation = purge_forms.NOT_ASKED,
) -> HttpResponse:
    """Of the rows ticked in the bin."""
    user, word = request.user, "restore" if action is Action.RESTORE else "empty"
    asked: dict[What, EntryRef] = {ref.digest: ref for ref in ticks.refs}
    by = Actor(user.sub, user.name)
    try:
        outcome = act([ref.digest for ref in ticks.refs], by=by, reason=given.reason, operation=ticks.operation)
    except connection.TROUBLE as trouble:
        log.pressed(action, ticks.operation, user, Outcome(unsent=ticks.refs), refusals.said(trouble))
        return not_sent(request, refusals.said(trouble))
    log.pressed(action, ticks.operation, user, outcome)
    told = tally(word, asked, outcome, ticks.operation, user, times.now())
    if action is Action.RESTORE:
        told = _with_there(told)
    elif outcome.done:
        told = replace(told, sum=f"{told.sum}, for good: no copy is kept")
    if outcome.unknown or outcome.unsent:
        told = replace(told, again=ticks.fields(given), again_url=reverse(word))
    try:
        context = binned.read(the_bin(), list_forms.listing(request, ticks.back), user) | {"title": told.heading}
    except connection.TROUBLE:
        return on_the_list(request, told, "")
    return _shown(request, context | {"tally": told})


def _shown(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    if answer.wants(request, "results"):
        return answer.fragment(request, "bin/_fragment.html", context)
    return answer.page(request, "bin/list.html", context, nav="bin")


def _of_this_purge(records: list[Record], operation: str) -> tuple[list[Record], list[str], int]:
    """What is told of, what comes back with this press or did before, by digest, and how many are left for the next.

    `records`: the first of the purge. Of one that took more only those are told of that come back.
    """
    purge = records[0].operation
    before = {record.digest: None for record in audit_log().of_operation(operation, "restore", MOST)}
    here = [digest for digest in the_bin().copies(purge) if digest not in before]
    digests = [*before, *here[: MOST - len(before)]]
    if digests and len(records) == MOST:
        records = list(audit_log().all_recorded(purge, "purge", digests).values())
    took = {record.digest for record in records}
    return records, [digest for digest in digests if digest in took], len(before) + len(here) - len(digests)


def _counted(
    request: HttpRequest,
    outcome: Outcome,
    records: list[Record],
    tried: list[str],
    left: int,
    undo: Undo,
    log_page: Reading | None,
) -> HttpResponse:
    """In one tally: what is not in the bin, or there by another purge, counts as gone. `left`: for another press."""
    asked: dict[What, EntryRef] = {record.digest: purged.ref_of(record) for record in records}
    gone = tuple(digest for digest in asked if digest not in tried)
    outcome = replace(outcome, missing=(*outcome.missing, *gone))
    told = tally("restore", asked, outcome, undo.operation, request.user, times.now())
    told = _with_there(told)
    unsure = bool(outcome.unknown or outcome.unsent)
    if unsure or left:
        there = (("sought", request.POST["sought"]),) if log_page else ()
        fields = (("undo", undo.purge), ("operation", undo.operation if unsure else str(uuid4())), *there)
        more = "" if unsure else f"{left:,} more of this purge {'is' if left == 1 else 'are'} in the bin."
        told = replace(told, again=fields, again_url=reverse("restore"), left=more)
    if log_page:
        try:
            return audit.shown(request, log_page, told)
        except connection.TROUBLE:
            return on_the_list(request, told, "")
    return on_the_list(request, told, request.POST.get("back", ""))


def _with_there(told: Tally) -> Tally:
    there = _there(told.operation)
    once = "counts once" if there == 1 else "count once"
    return replace(told, sum=f"{told.sum}; {there:,} of them had been added again and {once}") if there else told


def _there(operation: str) -> int:
    """How many of those that came back were in dead letters again already."""
    try:
        restored = audit_log().of_operation(operation, "restore")
    except connection.TROUBLE:
        return 0
    return sum(record.fields.get("there") == "1" for record in restored)


def _told(outcome: Outcome, purge: Record, undo: Undo, request: HttpRequest) -> Slip:
    """Of a purge of one entry."""
    user, now = request.user, times.now()
    if outcome.refused:
        return purged.refused_undo(outcome.refused[0], purge.digest, undo, now)
    if outcome.unknown:
        return purged.unknown_undo(purge.digest, undo, now)
    if outcome.unsent:
        return purged.unsent_undo(purge.digest, undo, now)
    if not outcome.done:
        return purged.not_restored(purge, user, now)
    record = audit_log().recorded(undo.operation, "restore", purge.digest)
    by = Record("0-0", "restore", undo.operation, purge.digest, purge.jid, purge.queue, purge.score, user.sub)
    return purged.restored(record or by, purge, user, now)
