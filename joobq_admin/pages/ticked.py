"""The ticked rows of the list: Redrive and Purge, each row by its exact identity."""

from collections.abc import Callable
from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from joobq_admin import connection
from joobq_admin.connection import dead_letters
from joobq_admin.joobq.audit import Actor
from joobq_admin.joobq.outcome import Outcome
from joobq_admin.pages import answer, forms, listing, log, purge_forms, question, times
from joobq_admin.pages.answer import Problem
from joobq_admin.pages.purge_forms import Ticks
from joobq_admin.pages.tally import Tally, tally
from joobq_admin.pages.tokens import plain
from joobq_admin.pages.undo import left, the_bin, undo_of
from joobq_admin.sso.roles import Action, needs


@answer.only_pressed
@needs(Action.REDRIVE)
def redrive(request: HttpRequest) -> HttpResponse:
    """Sends each of the ticked entries to the front of its queue; of one job one copy."""
    return _act(request, purge_forms.ticks(request), Action.REDRIVE, dead_letters().redrive_entries)


@answer.only_pressed
@needs(Action.PURGE)
def purge(request: HttpRequest) -> HttpResponse:
    """Asks first; with the answer, which has a reason, each of the ticked entries goes into the bin."""
    ticks, given = purge_forms.ticks(request), purge_forms.confirmation(request)
    if not given:
        return question.of_ticked(request, ticks, given)
    return _act(request, ticks, Action.PURGE, dead_letters().purge_entries, given.reason)


def _act(
    request: HttpRequest, ticks: Ticks, action: Action, act: Callable[..., Outcome], reason: str = ""
) -> HttpResponse:
    user, word = request.user, str(action)
    try:
        outcome = act(ticks.refs, by=Actor(user.sub, user.name), reason=reason, operation=ticks.operation)
    except connection.TROUBLE as trouble:
        log.pressed(action, ticks.operation, user, Outcome(unsent=ticks.refs), connection.said(trouble))
        return not_sent(request, connection.said(trouble))
    log.pressed(action, ticks.operation, user, outcome)
    told = tally(word, {ref: ref for ref in ticks.refs}, outcome, ticks.operation, user, times.now())
    if outcome.unknown or outcome.unsent:
        told = replace(told, again=ticks.fields(reason), again_url=reverse(word))
    if action is Action.PURGE and outcome.done:
        toast = f"Purged {len(outcome.done):,}"
        told = replace(told, toast=toast, undo=undo_of(ticks.operation, user))
    return on_the_list(request, told, ticks.back)


def not_sent(request: HttpRequest, said: str) -> HttpResponse:
    """Redis was silent, or refused to be looked at, before anything was sent."""
    heading = "Redis does not let us read" if said else "Redis does not answer"
    text = f"Redis said: {plain(said)}. Nothing was done." if said else "Nothing was sent, so nothing was done."
    what = Problem(503, heading, heading, text, links=((reverse("entries"), "Look again", "primary"),))
    return answer.problem(request, what, down=not said)


def on_the_list(request: HttpRequest, told: Tally, back: str) -> HttpResponse:
    """The tally above the rows as they are now; alone when these cannot be read."""
    asked = forms.listing(request, back)
    context = {"tally": told, "title": told.heading, "back": back, "kept": left(the_bin().keep)}
    try:
        context |= listing.read(asked, request.user) | {"title": told.heading}
    except connection.TROUBLE:
        context |= {"unread_list": True, "look_again": listing.url(asked)}
    if answer.wants(request, "results"):
        template = "dead_letters/_alone.html" if "unread_list" in context else "dead_letters/_fragment.html"
        return answer.fragment(request, template, context | {"toasts": True})
    template = "dead_letters/alone.html" if "unread_list" in context else "dead_letters/list.html"
    return answer.page(request, template, context, nav="entries", rail=context.get("rail"))
