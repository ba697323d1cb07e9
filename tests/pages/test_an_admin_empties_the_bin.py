"""Ticked rows of the bin go for good, by an admin who signed in lately, says why and types their number."""

from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import EntryRef
from tests.support.database import changed, contents
from tests.support.elsewhere import redis_at
from tests.support.html import elements, get, link, says
from tests.support.letters import DIED, digest, jid, letter
from tests.support.operators import ANN, dead_letters
from tests.support.servers import Proxy, Server
from tests.support.ticking import HTMX, form, ticks

REFS = [EntryRef(DIED, digest(letter(n)), jid(n)) for n in range(3)]
WHY = {"reason": "No longer wanted", "count": "2"}
LOG = {keys.AUDIT, keys.AUDIT_INDEX}


@pytest.fixture(autouse=True)
def binned(client: Client, valkey: Server) -> None:
    dead_letters(valkey.client).add(DIED, [letter(n) for n in range(4)])
    assert dead_letters(valkey.client).purge_entries(REFS, by=ANN, operation="op-0").done
    client.post("/auth/confirm", {"next": "/"})


def asked(client: Client, htmx: bool = True) -> HttpResponse:
    """Two rows ticked, and Purge for good… pressed."""
    page = get(client, "/bin/")
    (button,) = elements(page, "button", formaction="/bin/empty")
    fields = form(page, "/bin/restore") | {"entry": ticks(page)[:2]}
    return client.post(button["formaction"], fields, headers=HTMX if htmx else {})


def answered(client: Client, question: HttpResponse, htmx: bool = True, **more: Any) -> HttpResponse:
    return client.post("/bin/empty", form(question, "/bin/empty") | WHY | more, headers=HTMX if htmx else {})


@pytest.mark.parametrize("htmx", [True, False])
def test_it_asks_and_then_they_are_gone(client: Client, valkey: Server, htmx: bool) -> None:
    get(client, "/bin/")
    before = contents(valkey.client)
    question = asked(client, htmx)
    for words in ("Purge 2 of the bin for good?", "Copies that were kept will be gone.", "emails Error 2",
                  "Type 2 to purge for good", "No copy is kept.", "Keep them"):  # fmt: skip
        assert words in says(question)
    assert "Until then you can undo" not in says(question)
    assert "A purge needs a reason" in says(answered(client, question, htmx, reason=" "))
    assert "That was not 2" in says(answered(client, question, htmx, count="3"))
    assert changed(before, contents(valkey.client)) == set()
    done = answered(client, question, htmx)
    assert done.status_code == 200
    assert "Purged 2" in says(done)
    assert "2 done, for good: no copy is kept" in says(done)
    assert "1 purged entry in the bin" in says(done)
    assert changed(before, contents(valkey.client)) == LOG | {keys.BIN, keys.BIN_TIMES}


def test_it_is_told_wherever_one_looks(client: Client) -> None:
    question = asked(client)
    answered(client, question)
    operation = form(question, "/bin/empty")["operation"]
    assert "Purged for good 2 dead letters, by you" in says(get(client, f"/operations/{operation}/"))
    named = form(question, "/bin/empty")["entry"][0].split("-")
    stone = get(client, f"/dead-letters/{named[0]}-{named[1]}/")
    assert "It is gone for good. It cannot be brought back." in says(stone)
    log = says(get(client, "/audit/?action=empty"))
    assert "out of the bin, gone for good" in log
    assert "No longer wanted" in log


def test_pressed_again_it_was_done_once_and_what_came_back_is_told(client: Client, valkey: Server) -> None:
    first, late = asked(client), asked(client)
    answered(client, first)
    before = contents(valkey.client)
    assert "Purged 2" in says(answered(client, first))
    assert "Purged 0 of 2" in says(answered(client, late))
    assert says(answered(client, late)).count("Purged for good by you.") == 2
    assert changed(before, contents(valkey.client)) == set()


def test_only_an_admin_has_the_button_and_may(client: Client, valkey: Server) -> None:
    question = asked(client)
    client.post("/auth/dev-role", {"role": "operator", "next": "/"})
    assert elements(get(client, "/bin/"), "button", formaction="/bin/empty") == []
    before = contents(valkey.client)
    assert answered(client, question).status_code == 403
    client.cookies.clear()
    refused = answered(client, question)
    assert refused.status_code == 403
    assert "Confirm that it is you" in says(refused)
    assert changed(before, contents(valkey.client)) == set()


def test_a_full_bin_can_be_emptied_and_purged_into_again(client: Client, valkey: Server) -> None:
    """As the words of a full bin say."""
    held = int(valkey.client.hget(keys.BIN, "bytes") or 0)
    valkey.client.hincrby(keys.BIN, "bytes", (256 << 20) - held)
    entry = EntryRef(DIED, digest(letter(3)), jid(3))
    assert dead_letters(valkey.client, room=256 << 20).purge_entries([entry]).refused
    answered(client, asked(client))
    assert dead_letters(valkey.client, room=256 << 20).purge_entries([entry]).done


def test_what_redis_refuses_or_does_not_answer_is_told(
    client: Client, valkey: Server, new_proxy: Callable[[Server], Proxy]
) -> None:
    proxy = new_proxy(valkey)
    with redis_at(proxy.url):
        question = asked(client)
        proxy.cut()
        lost = answered(client, question)
        proxy.passes()
        assert "2 unknown" in says(lost) or "1 unknown + 1 not sent" in says(lost)
        assert "Pressing again is safe: what is done is not done twice." in says(lost)
        again = client.post("/bin/empty", form(lost, "/bin/empty"), headers=HTMX)
        assert "Purged 2" in says(again)
        proxy.close()
        down = answered(client, question)
        assert down.status_code == 503
        assert "Nothing was sent, so nothing was done." in says(down)
    valkey.client.delete(keys.BIN_TIMES)
    valkey.client.set(keys.BIN_TIMES, "no times")
    refused = client.post("/bin/empty", form(question, "/bin/empty") | WHY | {"operation": "another"}, headers=HTMX)
    assert "The bin cannot be written." in says(refused)
    assert link(refused, "another") == "/operations/another/"
