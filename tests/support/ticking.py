"""Rows ticked on the list, and the presses of its bar, as a browser sends them."""

from typing import Any

from django.http import HttpResponse
from django.test import Client

from tests.support.html import elements, get, read

HTMX = {"HX-Request": "true", "HX-Target": "results"}


def ticks(page: HttpResponse) -> list[str]:
    """What the boxes of the rows stand for."""
    return [box["value"] for box in elements(page, "input", type="checkbox", name="entry")]


def form(page: HttpResponse, action: str = "/dead-letters/redrive") -> dict[str, Any]:
    """The hidden fields of the form of this address; a name that is there often is a list."""
    fields: dict[str, Any] = {}
    here = False
    for tag, given in read(page).elements:
        if tag == "form":
            here = given.get("action") == action
        elif here and tag == "input" and given.get("type") == "hidden" and given["name"] != "csrfmiddlewaretoken":
            name, value = given["name"], given.get("value", "")
            fields[name] = [*fields.get(name, []), value] if name == "entry" else value
    return fields


def redrive(client: Client, fields: dict[str, Any], htmx: bool = True) -> HttpResponse:
    return client.post("/dead-letters/redrive", fields, headers=HTMX if htmx else {})


def purge(client: Client, fields: dict[str, Any], reason: str = "Load test", htmx: bool = True) -> HttpResponse:
    """Asks, and answers with the reason."""
    headers = HTMX if htmx else {}
    question = client.post("/dead-letters/purge", fields, headers=headers)
    answer = form(question, "/dead-letters/purge") | {"reason": reason}
    return client.post("/dead-letters/purge", answer, headers=headers)


def ticked(client: Client, url: str = "/dead-letters/?limit=100") -> dict[str, Any]:
    """The form of the list with every row ticked."""
    page = get(client, url)
    return form(page) | {"entry": ticks(page)}
