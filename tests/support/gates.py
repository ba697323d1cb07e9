"""The gate on the page of a ledger: what its panel says, and the presses of its button."""

from django.http import HttpResponse
from django.test import Client

from tests.support.html import elements, get, hidden, says
from tests.support.ledgers import at

LEDGER, WHY = at("ledger/"), "warehouse migration"
GATE = {"HX-Request": "true", "HX-Target": "gate"}


def form(page: HttpResponse, view: str) -> dict[str, str]:
    assert elements(page, "form", action=at(view))
    return {name: value for name, value in hidden(page).items() if name in ("operation", "mark", "unsure")}


def close(client: Client, reason: str = WHY, page: HttpResponse | None = None, htmx: bool = True) -> HttpResponse:
    asked = form(page or get(client, LEDGER), "close-gate")
    return client.post(at("close-gate"), asked | {"confirmed": "1", "reason": reason}, headers=GATE if htmx else {})


def opens(client: Client, page: HttpResponse, htmx: bool = True) -> HttpResponse:
    return client.post(at("open-gate"), form(page, "open-gate"), headers=GATE if htmx else {})


def gate_of(page: HttpResponse) -> str:
    """What the panel says."""
    text = says(page)
    return text[text.index("Gate ") :].partition(" Quarantine ")[0]
