"""Dead letters: the list, one entry, and the presses of Redrive and Purge."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_safe

from joobq_admin import connection
from joobq_admin.connection import dead_letters
from joobq_admin.joobq.audit import Actor
from joobq_admin.joobq.outcome import Outcome
from joobq_admin.pages import answer, forms, gone, links, listing, log, purge_forms, question, slip, times
from joobq_admin.pages.entry_page import opened
from joobq_admin.pages.forms import Press
from joobq_admin.pages.pressed import Told, answered, of_press
from joobq_admin.sso.roles import Action, needs


@needs(Action.VIEW)
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The list is the first page."""
    return answer.to_the_list(request)


@needs(Action.VIEW)
@require_safe
def entries(request: HttpRequest) -> HttpResponse:
    """The list, newest first; every filter is in the query string."""
    asked = forms.listing(request)
    context = listing.read(asked, request.user)
    if answer.wants(request, "results"):
        return answer.fragment(request, "dead_letters/_fragment.html", context)
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
    """Asks first; with the answer, which has a reason, the very entry that was reviewed goes into the bin."""
    pressed, given = forms.press(request, ref), purge_forms.confirmation(request)
    if not given:
        return question.of_one(request, pressed, given)
    return _act(request, pressed, Action.PURGE, dead_letters().purge_entries, given.reason)


def _act(
    request: HttpRequest, pressed: Press, action: Action, act: Callable[..., Outcome], reason: str = ""
) -> HttpResponse:
    now, word, user = times.now(), str(action), request.user
    try:
        outcome = act([pressed.ref], by=Actor(user.sub, user.name), reason=reason, operation=pressed.operation)
        log.pressed(action, pressed.operation, user, outcome)
        told = of_press(pressed, outcome, user, times.now(), word, reason)
    except connection.TROUBLE as trouble:
        nothing, said = Outcome(unsent=(pressed.ref,)), connection.said(trouble)
        log.pressed(action, pressed.operation, user, nothing, said)
        form = slip.form(pressed.ref, pressed.operation, pressed.reviewed, pressed.older, reason)
        told = Told(slip.not_sent(pressed.ref, form, now, said, word))
    if told.slip.status == 503 and forms.unsure(request):  # this operation may have arrived before
        told = Told(slip.still_unknown(told.slip, pressed.ref, times.now(), word))
    if told.slip.status == 200 and not request.htmx:
        return HttpResponseRedirect(links.operation(pressed.operation, word, pressed.ref), status=303)
    return answered(request, told, pressed.ref, h1=word.capitalize())
