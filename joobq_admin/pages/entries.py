"""Dead letters: the list, one entry, and the presses of Redrive and Purge."""

from collections.abc import Callable
from functools import partial

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_safe

from joobq_admin import connection
from joobq_admin.connection import dead_letters
from joobq_admin.joobq import refusals
from joobq_admin.joobq.audit import Actor
from joobq_admin.joobq.outcome import Outcome
from joobq_admin.pages import answer, forms, gone, links, list_forms, listing, log, purge_forms, question, slip, times
from joobq_admin.pages.entry_page import opened
from joobq_admin.pages.forms import Press
from joobq_admin.pages.not_understood import tells_what_is_wrong
from joobq_admin.pages.pressed import Told, answered, of_press
from joobq_admin.pages.purge_forms import Confirmation
from joobq_admin.sso.roles import Action, needs


@needs(Action.VIEW)
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The list is the first page."""
    return answer.to_the_list(request)


@needs(Action.VIEW)
@require_safe
@tells_what_is_wrong("entries", "Dead letters")
def entries(request: HttpRequest) -> HttpResponse:
    """The list, newest first; every filter is in the query string."""
    asked = list_forms.listing(request)
    context = listing.read(request, asked)
    if answer.wants(request, "results"):
        typed = request.htmx.trigger == "sift"  # what somebody types in stays as it is
        response = answer.fragment(request, "dead_letters/_fragment.html", context | {"typed": typed})
        response["HX-Push-Url"] = listing.url(asked)  # without what a form leaves empty
        return response
    template = "dead_letters/list.html" if context["some"] else "dead_letters/empty.html"
    return answer.page(request, template, context, nav="entries", rail=context["rail"])


@needs(Action.VIEW)
@require_safe
def entry(request: HttpRequest, ref: str) -> HttpResponse:
    """One entry by its exact identity; `bytes=1` shows its exact bytes. Gone: what became of it."""
    given = forms.query(request)
    named = forms.entry_ref(ref, given.get("jid"))
    exact = forms.flag(given, "bytes")
    found = dead_letters().look_up(named)
    return opened(request, found, exact=exact) if found else gone.entry(request, named)


@answer.only_pressed
@needs(Action.REDRIVE)
def redrive(request: HttpRequest, ref: str) -> HttpResponse:
    """Sends the very entry that was reviewed to the front of its queue."""
    return _act(request, forms.press(request, ref), Action.REDRIVE, dead_letters().redrive_entries)


@answer.only_pressed
@needs(Action.PURGE)
def purge(request: HttpRequest, ref: str) -> HttpResponse:
    """Asks first; then the very entry that was reviewed goes, into the bin or for good, with a reason."""
    pressed, given = forms.press(request, ref), purge_forms.confirmation(request, n=1)
    if not given:
        return question.of_one(request, pressed, given)
    if given.for_good:
        return _purge_for_good(request, pressed, given)
    return _act(request, pressed, Action.PURGE, dead_letters().purge_entries, given)


@needs(Action.PURGE_FOR_GOOD)
def _purge_for_good(request: HttpRequest, pressed: Press, given: Confirmation) -> HttpResponse:
    purge = partial(dead_letters().purge_entries, for_good=True)
    return _act(request, pressed, Action.PURGE_FOR_GOOD, purge, given)


def _act(
    request: HttpRequest,
    pressed: Press,
    action: Action,
    act: Callable[..., Outcome],
    given: Confirmation = purge_forms.NOT_ASKED,
) -> HttpResponse:
    now, word, user = times.now(), "redrive" if action is Action.REDRIVE else "purge", request.user
    form = slip.form(
        pressed.ref, pressed.operation, pressed.reviewed, pressed.older, given.reason, for_good=given.for_good
    )
    try:
        outcome = act([pressed.ref], by=Actor(user.sub, user.name), reason=given.reason, operation=pressed.operation)
        log.pressed(action, pressed.operation, user, outcome)
        told = of_press(pressed, outcome, user, times.now(), form, word)
    except connection.TROUBLE as trouble:
        nothing, said = Outcome(unsent=(pressed.ref,)), refusals.said(trouble)
        log.pressed(action, pressed.operation, user, nothing, said)
        told = Told(slip.not_sent(pressed.ref, form, now, said, word))
    if told.slip.status == 503 and forms.unsure(request):  # this operation may have arrived before
        told = Told(slip.still_unknown(told.slip, pressed.ref, times.now(), word))
    if told.slip.status == 200 and not request.htmx:
        return HttpResponseRedirect(links.operation(pressed.operation, word, pressed.ref), status=303)
    return answered(request, told, pressed.ref, h1=word.capitalize())
