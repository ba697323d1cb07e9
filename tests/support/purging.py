"""A purge on the page of one entry, and its undo, as a browser sends them."""

import re
from html import unescape

import redis as redis_py
from django.http import HttpResponse
from django.test import Client

from joobq_admin.joobq import keys, scripts
from tests.support.html import elements, get, hidden
from tests.support.operators import dead_letters

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


def their_time_is_over(redis: redis_py.Redis) -> int:
    """All that is in the bin was purged two days ago, and the next change drops it: how many that were."""
    for digest, at in redis.zrange(keys.BIN_TIMES, 0, -1, withscores=True):
        redis.zadd(keys.BIN_TIMES, {digest: at - 2 * 86_400_000})
    bin_ = dead_letters(redis).bin
    assert bin_
    (gone,) = scripts.send(redis, [bin_.trim_call()])
    return int(gone)


def undo_form(answer: HttpResponse) -> dict[str, str]:
    """What the button Undo of this answer sends; {} when there is none."""
    found = re.search(r'name="undo" value="([^"]*)">\s*<input type="hidden" name="operation" value="([^"]*)"',
                      answer.content.decode())  # fmt: skip
    return {"undo": unescape(found[1]), "operation": unescape(found[2])} if found else {}


def undo(client: Client, answer: HttpResponse, htmx: bool = True) -> HttpResponse:
    """Presses Undo."""
    return client.post("/bin/restore", undo_form(answer), headers=HTMX if htmx else {})
