"""Purged for good: chosen where a purge is asked about, by an admin who signed in lately and types the number."""

from collections.abc import Callable

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.outcome import Refusal
from tests.support.database import changed, contents
from tests.support.elsewhere import redis_at
from tests.support.html import elements, get, hidden, link, says
from tests.support.letters import DIED, digest, jid, letter
from tests.support.operators import dead_letters
from tests.support.purging import HTMX, WHY, answered, asked, undo_form
from tests.support.servers import Proxy, Server
from tests.support.ticking import form, purge, ticked

LETTER = letter(1, queue="invoices")
ENTRY = f"/dead-letters/{DIED}-{digest(LETTER)[:16]}/?jid={jid(1)}"
LOG = {keys.AUDIT, keys.AUDIT_INDEX}
CHOICE = "Purge for good: no copy is kept"
FOR_GOOD = {"for_good": "1", "count": "1"}
RESULTS = {"HX-Request": "true", "HX-Target": "results"}


@pytest.fixture(autouse=True)
def letters(client: Client, valkey: Server) -> None:
    dead_letters(valkey.client).add(DIED, [LETTER, letter(2), letter(3)])
    confirm(client)


def confirm(client: Client) -> None:
    assert client.post("/auth/confirm", {"next": "/"}).status_code == 303


def act_as(client: Client, role: str) -> None:
    client.post("/auth/dev-role", {"role": role, "next": "/"})


def pressed(client: Client, htmx: bool = True, **more: str) -> object:
    """Asks, and answers with the reason and this."""
    question = asked(client, ENTRY)
    (given,) = elements(question, "form", data_untold="purge")
    return client.post(given["action"], hidden(question) | {"reason": WHY} | more, headers=HTMX if htmx else {})


@pytest.mark.parametrize("htmx", [True, False])
def test_it_is_gone_and_nothing_else_moved(client: Client, valkey: Server, htmx: bool) -> None:
    get(client, ENTRY)
    before = contents(valkey.client)
    answer = pressed(client, htmx, **FOR_GOOD)
    if not htmx:
        assert answer.status_code == 303
        answer = get(client, answer["Location"])
    assert answer.status_code == 200
    assert "It is gone for good. No copy is kept." in says(answer)
    assert "Purged. This job will not run" in says(answer)
    assert undo_form(answer) == {}
    assert changed(before, contents(valkey.client)) == LOG | {keys.DEAD, keys.COUNTS}
    stone = get(client, ENTRY)
    assert stone.status_code == 410
    assert "It is gone for good. No copy is kept." in says(stone)


def test_the_question_says_so_before_and_asks_for_the_number(client: Client, valkey: Server) -> None:
    question = asked(client, ENTRY)
    assert CHOICE in says(question)
    before = contents(valkey.client)
    for count in ("", "2", "one", "1.0"):
        again = pressed(client, for_good="1", count=count)
        assert "That was not 1, so nothing was purged. There is no way back." in says(again)
        assert again["HX-Retarget"] == "#dialog"
        assert WHY in says(again)
        assert "checked" in elements(again, "input", name="for_good")[0]
    assert changed(before, contents(valkey.client)) == set()


def test_without_the_choice_it_goes_into_the_bin_whatever_was_counted(client: Client, valkey: Server) -> None:
    assert pressed(client, count="7").status_code == 200
    assert valkey.client.hexists(keys.BIN, digest(LETTER))


def test_an_operator_has_no_such_choice_and_may_not(client: Client, valkey: Server) -> None:
    act_as(client, "operator")
    question = asked(client, ENTRY)
    assert CHOICE not in says(question)
    get(client, ENTRY)
    before = contents(valkey.client)
    refused = pressed(client, **FOR_GOOD)
    assert refused.status_code == 403
    assert "Nothing was done." in says(refused)
    assert changed(before, contents(valkey.client)) == set()


@pytest.mark.parametrize("htmx", [True, False])
def test_an_admin_who_signed_in_long_ago_confirms_first(client: Client, valkey: Server, htmx: bool) -> None:
    question = asked(client, ENTRY)
    fields = hidden(question) | {"reason": WHY} | FOR_GOOD
    client.cookies.clear()
    old = asked(client, ENTRY)
    assert elements(old, "input", name="for_good") == []
    assert elements(old, "form", action="/auth/confirm")
    before = contents(valkey.client)
    refused = client.post(ENTRY.partition("?")[0] + "purge", fields, headers=HTMX if htmx else {})
    assert refused.status_code == 403
    assert "Confirm that it is you" in says(refused)
    assert changed(before, contents(valkey.client)) == set()
    assert answered(client, old).status_code == 200  # into the bin they may


def test_a_full_bin_leads_an_admin_to_it_and_to_the_choice(client: Client, valkey: Server) -> None:
    valkey.client.hset(keys.BIN, "bytes", 256 << 20)
    refused = answered(client, asked(client, ENTRY))
    assert "An admin can purge for good, or empty the bin." in says(refused)
    assert get(client, link(refused, "Open the bin")).status_code == 200
    (button,) = elements(refused, "button", name="for_good")
    question = client.post(button["hx-post"], hidden(refused) | {"for_good": "1"}, headers=HTMX)
    assert "checked" in elements(question, "input", name="for_good")[0]
    assert WHY in says(question)
    fields = hidden(question) | {"reason": WHY} | FOR_GOOD
    done = client.post(button["hx-post"], fields, headers=HTMX)
    assert "It is gone for good. No copy is kept." in says(done)
    act_as(client, "operator")
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    refused = answered(client, asked(client, ENTRY))
    assert "An admin can purge for good, or empty the bin." in says(refused)
    assert elements(refused, "button", name="for_good") == []


@pytest.mark.parametrize("htmx", [True, False])
def test_ticked_rows_are_counted_and_gone(client: Client, valkey: Server, htmx: bool) -> None:
    fields, before = ticked(client), contents(valkey.client)
    headers = RESULTS if htmx else {}
    question = client.post("/dead-letters/purge", fields, headers=headers)
    assert CHOICE in says(question)
    sent = form(question, "/dead-letters/purge") | {"reason": WHY, "for_good": "1"}
    again = client.post("/dead-letters/purge", sent | {"count": "2"}, headers=headers)
    assert "That was not 3" in says(again)
    assert changed(before, contents(valkey.client)) == set()
    done = client.post("/dead-letters/purge", sent | {"count": "3"}, headers=headers)
    assert "Purged 3" in says(done)
    assert "for good: no copy is kept" in says(done)
    assert undo_form(done) == {}
    assert changed(before, contents(valkey.client)) == LOG | {keys.DEAD, keys.COUNTS}
    assert not valkey.client.exists(keys.BIN)


def test_pressed_again_with_another_choice_it_says_what_was_done_before(client: Client, valkey: Server) -> None:
    fields = ticked(client)
    assert "Purged 3 Undo for" in says(purge(client, fields))
    again = client.post(
        "/dead-letters/purge",
        fields | {"confirmed": "1", "reason": WHY, "for_good": "1", "count": "3"},
        headers=RESULTS,
    )
    assert "no copy is kept" not in says(again)
    assert undo_form(again)
    assert valkey.client.hlen(keys.BIN) == 3 + 1


def test_a_full_bin_refuses_ticked_rows_and_says_what_can_be_done(client: Client, valkey: Server) -> None:
    valkey.client.hset(keys.BIN, "bytes", 256 << 20)
    refused = purge(client, ticked(client))
    assert "Purged 0 of 3" in says(refused)
    assert "An admin can purge for good, or empty the bin." in says(refused)
    assert link(refused, "Open the bin") == "/bin/"
    act_as(client, "operator")
    assert elements(purge(client, ticked(client)), "a", href="/bin/", class_="btn sm") == []


def test_a_lost_answer_goes_on_for_good(client: Client, valkey: Server, new_proxy: Callable[[Server], Proxy]) -> None:
    """Pressed again it is for good too, and was done once."""
    proxy = new_proxy(valkey)
    with redis_at(proxy.url):
        question = asked(client, ENTRY)
        proxy.cut()
        address = elements(question, "form", data_untold="purge")[0]["action"]
        lost = client.post(address, hidden(question) | {"reason": WHY} | FOR_GOOD, headers=HTMX)
        proxy.passes()
        assert lost.status_code == 503
        assert "The entry may or may not be purged." in says(lost)
        assert hidden(lost) | FOR_GOOD == hidden(lost)
        again = client.post(address, hidden(lost), headers=HTMX)
    assert "It is gone for good. No copy is kept." in says(again)
    assert valkey.client.xlen(keys.AUDIT) == 1
    assert not valkey.client.exists(keys.BIN)


@pytest.mark.parametrize("refusal", [Refusal.AUDIT_BROKEN, Refusal.NOT_ALLOWED])
def test_what_redis_refuses_is_told(client: Client, new_server: Callable[..., Server], refusal: Refusal) -> None:
    server = new_server("valkey")
    dead_letters(server.client).add(DIED, [LETTER])
    url = server.url
    if refusal is Refusal.AUDIT_BROKEN:
        server.client.set(keys.AUDIT, "no stream")
    else:
        server.client.acl_setuser("few", enabled=True, nopass=True, keys=["*"], commands=["+@all", "-hincrby"])
        url = url.replace("//", "//few:any@")
    with redis_at(url):
        refused = pressed(client, **FOR_GOOD)
    assert refused.status_code == 422
    assert "Nothing" in says(refused)
    assert server.client.zcard(keys.DEAD) == 1
