"""Nobody knows whether a purge or its undo was done: it is told, checked, and pressed again without harm."""

from collections.abc import Callable

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import EntryRef
from tests.support.elsewhere import redis_at
from tests.support.eventually import eventually
from tests.support.html import elements, get, hidden, link, says
from tests.support.letters import DIED, digest, jid, letter
from tests.support.operators import dead_letters
from tests.support.purging import HTMX, WHY, answered, asked, purge, undo, undo_form
from tests.support.servers import Proxy, Server

LETTER, OTHER = letter(1, queue="invoices"), letter(2, queue="invoices")
ENTRY = f"/dead-letters/{DIED}-{digest(LETTER)[:16]}/?jid={jid(1)}"
REF = EntryRef(DIED, digest(LETTER), jid(1))
LOGS = {keys.AUDIT, keys.AUDIT_INDEX, keys.BIN, keys.BIN_TIMES}


@pytest.fixture(autouse=True)
def letters(valkey: Server) -> None:
    dead_letters(valkey.client).add(DIED, [LETTER, OTHER])
    valkey.client.rpush("invoices", "other")


@pytest.fixture
def proxy(client: Client, valkey: Server, new_proxy: Callable[[Server], Proxy]) -> Proxy:
    between = new_proxy(valkey)
    undo(client, purge(client, ENTRY))  # the scripts are loaded
    valkey.client.delete(keys.AUDIT, keys.AUDIT_INDEX, keys.BIN)
    return between


def test_a_lost_answer_is_unknown_and_can_be_checked(client: Client, valkey: Server, proxy: Proxy) -> None:
    with redis_at(proxy.url):
        question = asked(client, ENTRY)
        proxy.cut()
        answer = answered(client, question)
        assert answer.status_code == 503
        assert "Outcome unknown" in says(answer)
        assert "The entry may or may not be purged." in says(answer)
        assert "Press Purge again" in says(answer)
        assert hidden(answer)["reason"] == WHY
        proxy.passes()
        eventually(lambda: valkey.client.zcard(keys.DEAD) == 1)
        checked = get(client, link(answer, "Check again"), target="action")
        assert checked.status_code == 200
        assert "Your first press arrived, only its answer was lost. A copy is in the bin until" in says(checked)
        assert undo(client, checked).status_code == 200
    assert valkey.client.zcard(keys.DEAD) == 2


def test_checked_it_was_not_done_and_pressing_again_asks(client: Client, valkey: Server, proxy: Proxy) -> None:
    with redis_at(proxy.url):
        question = asked(client, ENTRY)
        proxy.hold()
        answer = answered(client, question)
        proxy.passes()
        checked = get(client, link(answer, "Check again"), target="action")
        assert "Not done as of" in says(checked)
        form = elements(checked, "form", class_="body")[0]["action"]
        again = client.post(form, hidden(checked), headers=HTMX)
        assert "Purge 1 dead letter?" in says(again)
        assert answered(client, again).status_code == 200
        proxy.release()
        assert answered(client, again).status_code == 200
    assert valkey.client.xlen(keys.AUDIT) == 1


def test_a_lost_answer_of_undo_can_be_pressed_again(client: Client, valkey: Server, proxy: Proxy) -> None:
    with redis_at(proxy.url):
        answer = purge(client, ENTRY)
        proxy.cut()
        unknown = undo(client, answer)
        assert unknown.status_code == 503
        assert undo_form(unknown) == undo_form(answer)
        proxy.passes()
        assert "Restored. The entry is back" in says(undo(client, unknown))
    assert valkey.client.hgetall(keys.COUNTS) == {b"invoices": b"2"}
