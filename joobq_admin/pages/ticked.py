"""The ticked rows of the list: Redrive and Purge, each row by its exact identity."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from joobq_admin import connection
from joobq_admin.connection import audit_log, dead_letters
from joobq_admin.joobq import refusals
from joobq_admin.joobq.audit import Actor
from joobq_admin.joobq.entry import EntryRef
from joobq_admin.joobq.outcome import Outcome, Refusal
from joobq_admin.pages import answer, list_forms, listing, log, purge_forms, question, times, words
from joobq_admin.pages.answer import Problem
from joobq_admin.pages.purge_forms import Confirmation, Ticks
from joobq_admin.pages.tally import Tally, tally
from joobq_admin.pages.tokens import plain
from joobq_admin.pages.undo import left, the_bin, undo_of
from joobq_admin.sso.roles import Action, User, needs


@answer.only_pressed
@needs(Action.REDRIVE)
def redrive(request: HttpRequest) -> HttpResponse:
    """Sends each of the ticked entries to the front of its queue; of one job one copy."""
    return _act(request, purge_forms.ticks(request), Action.REDRIVE, dead_letters().redrive_entries)


@answer.only_pressed
@needs(Action.PURGE)
def purge(request: HttpRequest) -> HttpResponse:
    """Asks first; with the answer, which has a reason, each of the ticked entries goes into the bin, or for good."""
    ticks = purge_forms.ticks(request)
    given = purge_forms.confirmation(request, len(ticks.refs))
    if not given:
        return question.of_ticked(request, ticks, given)
    if given.for_good:
        return _purge_for_good(request, ticks, given)
    return _act(request, ticks, Action.PURGE, dead_letters().purge_entries, given)


@needs(Action.PURGE_FOR_GOOD)
def _purge_for_good(request: HttpRequest, ticks: Ticks, given: Confirmation) -> HttpResponse:
    purge = partial(dead_letters().purge_entries, for_good=True)
    return _act(request, ticks, Action.PURGE_FOR_GOOD, purge, given)


def _act(
    request: HttpRequest,
    ticks: Ticks,
    action: Action,
    act: Callable[..., Outcome],
    given: Confirmation = purge_forms.NOT_ASKED,
) -> HttpResponse:
    user, word = request.user, "redrive" if action is Action.REDRIVE else "purge"
    try:
        outcome = act(ticks.refs, by=Actor(user.sub, user.name), reason=given.reason, operation=ticks.operation)
    except connection.TROUBLE as trouble:
        log.pressed(action, ticks.operation, user, Outcome(unsent=ticks.refs), refusals.said(trouble))
        return not_sent(request, refusals.said(trouble))
    log.pressed(action, ticks.operation, user, outcome)
    told = tally(word, {ref: ref for ref in ticks.refs}, outcome, ticks.operation, user, times.now())
    if outcome.unknown or outcome.unsent:
        told = replace(told, again=ticks.fields(given), again_url=reverse(word))
    if word == "purge":
        told = _with_the_way_back(told, ticks, outcome, given, user)
    return on_the_list(request, told, ticks.back)


def _with_the_way_back(told: Tally, ticks: Ticks, outcome: Outcome, given: Confirmation, user: User) -> Tally:
    """Undo for what the bin has, by the records: this operation may have done it before, and otherwise."""
    done = [what.digest for what in outcome.done if isinstance(what, EntryRef)]
    try:
        records = audit_log().all_recorded(ticks.operation, "purge", done).values()
        kept = sum(record.fields.get("bin") == "1" for record in records)
    except connection.TROUBLE:
        kept = 0 if given.for_good else len(done)
    if kept:
        told = replace(told, toast=f"Purged {kept:,}", undo=undo_of(ticks.operation, user))
    if gone := len(done) - kept:
        told = replace(told, sum=f"{told.sum}, {f'{gone:,} of them ' if kept else ''}for good: no copy is kept")
    if any(no.reason is Refusal.BIN_FULL for no in outcome.refused):
        bin_url = reverse("bin") if user.can(Action.PURGE_FOR_GOOD) else ""
        told = replace(told, next=words.REFUSALS[Refusal.BIN_FULL].next, bin_url=bin_url)
    return told


def not_sent(request: HttpRequest, said: str) -> HttpResponse:
    """Redis was silent, or refused to be looked at, before anything was sent."""
    heading = "Redis does not let us read" if said else "Redis does not answer"
    text = f"Redis said: {plain(said)}. Nothing was done." if said else "Nothing was sent, so nothing was done."
    what = Problem(503, heading, heading, text, links=((reverse("entries"), "Look again", "primary"),))
    return answer.problem(request, what, down=not said)


def on_the_list(request: HttpRequest, told: Tally, back: str) -> HttpResponse:
    """The tally above the rows as they are now; alone when these cannot be read."""
    asked = list_forms.listing(request, back)
    context = {"tally": told, "title": told.heading, "back": back, "kept": left(the_bin().keep)}
    try:
        context |= listing.read(request, asked) | {"title": told.heading}
    except connection.TROUBLE:
        context |= {"unread_list": True, "look_again": listing.url(asked)}
    if answer.wants(request, "results"):
        template = "dead_letters/_alone.html" if "unread_list" in context else "dead_letters/_fragment.html"
        return answer.fragment(request, template, context | {"toasts": True})
    template = "dead_letters/alone.html" if "unread_list" in context else "dead_letters/list.html"
    return answer.page(request, template, context, nav="entries", rail=context.get("rail"))
