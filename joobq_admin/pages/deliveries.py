"""Deliveries: all ledgers, one of them, one request."""

from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_safe

from joobq_admin import connection
from joobq_admin.pages import (
    answer,
    forms,
    gate_panel,
    ledger_forms,
    ledger_names,
    ledger_page,
    ledgers,
    links,
    reader,
    request_page,
    times,
)
from joobq_admin.pages.tokens import plain
from joobq_admin.sso.roles import Action, View, needs


def quietly(view: View) -> View:
    """What is asked for again and again says in a few bytes that Redis does not answer: the page stays as it was."""

    @wraps(view)
    def asked(request: HttpRequest) -> Any:
        try:
            return view(request)
        except connection.TROUBLE:
            if not any(answer.wants(request, name) for name in ("ledgers", "numbers", "lease")):
                raise
            return HttpResponse(status=503, headers={"Retry-After": str(answer.RETRY_AFTER)})

    return asked


@needs(Action.VIEW)
@require_safe
@quietly
def overview(request: HttpRequest) -> HttpResponse:
    """Every ledger that is known by now, with its numbers."""
    context = ledgers.read(request.user, reader.of(request).every)
    if answer.wants(request, "ledgers"):
        return answer.fragment(request, "deliveries/_ledgers.html", context)
    return answer.page(request, "deliveries/overview.html", context, nav="deliveries")


@needs(Action.VIEW)
@require_safe
@quietly
def ledger(request: HttpRequest) -> HttpResponse:
    """One ledger; for htmx what is asked for again and again, or its requests in flight and next."""
    of = ledger_forms.ledger(request)
    if not (answer.wants(request, "numbers") or answer.wants(request, "requests")):
        return ledger_page.whole(request, of, ledger_forms.cursor(forms.query(request).get("quarantine")))
    stats, leased, due = of.stats(), of.leased(ledger_page.ROWS), of.next_due(ledger_page.ROWS)
    if answer.wants(request, "requests"):
        context = {"requests": ledger_page.requests(of, stats, leased, due)}
        return answer.fragment(request, "deliveries/_requests.html", context)
    context = {
        "l": ledger_names.head(of),
        "every": reader.of(request).every,
        "numbers": ledger_page.numbers(of, stats, leased, due),
        "gate": gate_panel.panel(of, stats, request.user),
    }
    return answer.fragment(request, "deliveries/_live.html", context)


@needs(Action.VIEW)
@require_safe
@quietly
def request(request: HttpRequest) -> HttpResponse:
    """One request of one ledger; without a ledger it is looked for in all that are known."""
    name, given = ledger_forms.request_id(request), forms.query(request)
    if "namespace" in given:
        return request_page.shown(request, ledger_forms.ledger(request), name)
    all_of_them, whole = ledgers.known()
    found, unread = connection.holding(name, all_of_them)
    looked = len(all_of_them) - len(unread)
    if len(found) == 1:
        return HttpResponseRedirect(ledger_names.request_url(found[0], name))
    context = {
        "title": "Requests" if found else "No such request",
        "id": plain(name, 200),
        "places": ledgers.places(found, name),
        "unread": ledgers.places(unread, name),
        "looked": f"{looked:,} ledger{'s' * (looked != 1)}",
        "so_far": "" if whole else ledgers.SO_FAR,
        "at": times.named(times.now()),
        "job_url": links.job(name),
    }
    return answer.page(request, "deliveries/find.html", context, status=200 if found else 404, nav="deliveries")
