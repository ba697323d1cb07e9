"""Purge all: everything, or everything of one queue, for good. It asks for the number first; a queue goes in steps."""

from dataclasses import replace

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from joobq_admin import connection
from joobq_admin.connection import audit_log, dead_letters
from joobq_admin.joobq import refusals
from joobq_admin.joobq.audit import Actor, Record
from joobq_admin.joobq.outcome import AnswerLost, NotDone, Outcome, Refused
from joobq_admin.joobq.purging import Purging
from joobq_admin.pages import links, log, operations, purge_all_answers, purge_forms
from joobq_admin.pages.answer import only_pressed
from joobq_admin.pages.purge_all_answers import TROUBLE
from joobq_admin.pages.purge_forms import Confirmation, Everything
from joobq_admin.sso.roles import Action, User, needs

SECONDS = 0.12  # of one step: its request stays below a quarter of a second


@only_pressed
@needs(Action.PURGE_ALL)
def purge_all(request: HttpRequest) -> HttpResponse:
    """Asks for the number; with it everything goes, or begins to go. What has begun goes on."""
    asked = purge_forms.everything(request)
    given = purge_forms.confirmation(request, asked.n, for_good=True)
    try:
        if asked.begun and (record := audit_log().recorded(asked.operation, "purge_all", "")):
            return _go_on(request, asked, record)
        if asked.checks:
            dead_letters().ask_the_primary()
            return purge_all_answers.not_done(request, asked, given)
        return _everything(request, asked, given) if asked.queue is None else _of_queue(request, asked, given)
    except TROUBLE as trouble:
        if given and not asked.checks:
            _log(asked, request.user, trouble)
        return purge_all_answers.trouble(request, asked, given, trouble)


def _everything(request: HttpRequest, asked: Everything, given: Confirmation) -> HttpResponse:
    """All that is there at the moment of the press, in one step."""
    if not given:
        size = connection.purging(operation=asked.operation).size()
        return purge_all_answers.question(request, replace(asked, n=size), given)
    user = request.user
    dead_letters().purge_all(by=Actor(user.sub, user.name), reason=given.reason, operation=asked.operation)
    _log(asked, user)
    return _done(request, asked)


def _of_queue(request: HttpRequest, asked: Everything, given: Confirmation) -> HttpResponse:
    """First it is planned, in steps, and asked about; then it is recorded, and what was planned goes, in steps."""
    assert asked.queue is not None
    user = request.user
    purging = connection.purging(by=Actor(user.sub, user.name), reason=given.reason, operation=asked.operation)
    plan = purging.planned() if asked.begun else None
    if plan and plan.queue != asked.queue:
        return purge_all_answers.of_others(request)
    if given and asked.n and purging.record(asked.n, asked.queue):
        _log(asked, user)
        return _step(request, asked, purging)
    if not plan or not given.pressed:
        step = purging.plan(asked.queue, asked.start, SECONDS)
        plan = purging.planned()
        if step.older:
            return purge_all_answers.planning(request, asked, step, plan, purging.size())
    return purge_all_answers.question(request, replace(asked, n=plan.left if plan else 0), given)


def _go_on(request: HttpRequest, asked: Everything, record: Record) -> HttpResponse:
    same = record.everything == (asked.queue is None) and record.queue == (asked.queue or "")
    if record.at and not same:
        return purge_all_answers.of_others(request)
    if asked.queue is None:
        return _done(request, asked)
    if not getattr(request, "htmx", False):  # somebody pressed, perhaps another than who began; else its page goes on
        _log(asked, request.user)
    return _step(request, asked, connection.purging(operation=asked.operation))


def _step(request: HttpRequest, asked: Everything, purging: Purging) -> HttpResponse:
    """What is recorded goes on; what stands in its way changes nothing about what is done."""
    assert asked.queue is not None
    try:
        plan = purging.planned()
        if not plan or plan.over:
            return _done(request, asked)
        step = purging.purge_planned(asked.queue, asked.start, SECONDS)
        if not step.older or ((plan := purging.planned()) and plan.over):
            return _done(request, asked)
        return operations.going(request, asked.operation, step)
    except TROUBLE as trouble:
        _log(asked, request.user, trouble)
        return purge_all_answers.stopped(request, asked, trouble)


def _done(request: HttpRequest, asked: Everything) -> HttpResponse:
    """Its page tells what it did."""
    url, htmx = links.operation(asked.operation), getattr(request, "htmx", False)
    return HttpResponse(headers={"HX-Redirect": url}) if htmx else HttpResponseRedirect(url, status=303)


def _log(asked: Everything, user: User, trouble: Exception | None = None) -> None:
    what, said = asked.queue or "", ""
    if trouble is None:
        outcome = Outcome(done=(what,))
    elif isinstance(trouble, NotDone):
        outcome = Outcome(refused=(Refused(what, trouble.reason),))
    elif isinstance(trouble, AnswerLost):
        outcome = Outcome(unknown=(what,))
    else:
        outcome, said = Outcome(unsent=(what,)), refusals.said(trouble)
    log.pressed(Action.PURGE_ALL, asked.operation, user, outcome, said)
