"""A purge on the page of one entry, and its undo, as a browser sends them."""

import re
from html import unescape

from django.http import HttpResponse
from django.test import Client

from tests.support.html import elements, get, hidden

HTMX = {"HX-Request": "true", "HX-Target": "action"}
WHY = "Load test from Friday, confirmed by Lena"


def asked(client: Client, entry: str, htmx: bool = True) -> HttpResponse:
    """Presses Purge… on the page of an entry."""
    address = elements(get(client, entry), "button", id="purge")[0]["formaction"]
    return client.post(address, hidden(get(client, entry)), headers=HTMX if htmx else {})


def answered(client: Client, question: HttpResponse, reason: str = WHY, htmx: bool = True) -> HttpResponse:
    """Gives the reason, and presses Purge."""
    form = elements(question, "form", data_untold="purge")[0]
    return client.post(form["action"], hidden(question) | {"reason": reason}, headers=HTMX if htmx else {})


def purge(client: Client, entry: str, reason: str = WHY, htmx: bool = True) -> HttpResponse:
    return answered(client, asked(client, entry, htmx), reason, htmx)


def undo_form(answer: HttpResponse) -> dict[str, str]:
    """What the button Undo of this answer sends; {} when there is none."""
    found = re.search(r'name="undo" value="([^"]*)">\s*<input type="hidden" name="operation" value="([^"]*)"',
                      answer.content.decode())  # fmt: skip
    return {"undo": unescape(found[1]), "operation": unescape(found[2])} if found else {}


def undo(client: Client, answer: HttpResponse, htmx: bool = True) -> HttpResponse:
    """Presses Undo."""
    return client.post("/bin/restore", undo_form(answer), headers=HTMX if htmx else {})
