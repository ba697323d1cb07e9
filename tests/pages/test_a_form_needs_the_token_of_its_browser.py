"""A press without the token of this browser's cookie does nothing, and says why in words that help."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.utils.crypto import salted_hmac

from joobq_admin.joobq import keys
from tests.support.database import changed, contents
from tests.support.html import elements, get, hidden, link, press, says
from tests.support.letters import DIED, digest, jid, letter
from tests.support.servers import Server

LETTER = letter(1, queue="invoices")
ENTRY = f"/dead-letters/{DIED}-{digest(LETTER)[:16]}/?jid={jid(1)}"


@pytest.fixture
def guarded(client: Client, valkey: Server) -> Client:
    """A browser whose tokens are checked."""
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    return Client(headers={"Host": "127.0.0.1"}, enforce_csrf_checks=True)


def token(client: Client) -> str:
    return elements(get(client, ENTRY), "input", name="csrfmiddlewaretoken")[-1]["value"]


def token_of(person: str) -> str:
    return salted_hmac("token of forms", person).hexdigest()[:32]


def test_two_tabs_that_open_at_once_get_the_same(client: Client, valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    tabs = [Client(headers={"Host": "127.0.0.1"}) for _ in range(2)]  # neither has a cookie yet
    assert [get(tab, ENTRY).cookies["csrf"].value for tab in tabs] == [token_of("dev")] * 2


def form(client: Client) -> dict[str, str]:
    return hidden(get(client, ENTRY)) | {"csrfmiddlewaretoken": token(client)}


def test_with_it_the_press_is_done(guarded: Client, valkey: Server) -> None:
    assert press(guarded, ENTRY, form(guarded)).status_code == 200
    assert valkey.client.llen("invoices") == 1


SPOILT: dict[str, Callable[[Client, dict[str, str]], dict[str, str]]] = {
    "no token": lambda client, given: {name: value for name, value in given.items() if name[:4] != "csrf"},
    "another token": lambda client, given: given | {"csrfmiddlewaretoken": "x" * 64},
    "an empty token": lambda client, given: given | {"csrfmiddlewaretoken": ""},
    "another person's token": lambda client, given: given | {"csrfmiddlewaretoken": token_of("another")},
}


@pytest.mark.parametrize("htmx", [True, False])
@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_without_it_nothing_is_done(
    guarded: Client, valkey: Server, htmx: bool, spoil: Callable[[Client, dict[str, str]], dict[str, str]]
) -> None:
    spoilt, before = spoil(guarded, form(guarded)), contents(valkey.client)
    answer = press(guarded, ENTRY, spoilt, htmx=htmx, HTTP_REFERER=f"http://127.0.0.1{ENTRY}")
    assert answer.status_code == 403
    assert "Your sign-in is newer than this page" in says(answer)
    assert "Nothing was done." in says(answer)
    assert link(answer, "Load the page again") == ENTRY
    assert changed(before, contents(valkey.client)) == set()


def test_a_fragment_takes_the_place_of_the_slip(guarded: Client) -> None:
    answer = press(guarded, ENTRY, {})
    assert elements(answer, "section", id="action")
    assert elements(answer, "h2", tabindex="-1")


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1.evil.example"])
def test_from_another_origin_nothing_is_done(guarded: Client, valkey: Server, origin: str) -> None:
    given, before = form(guarded), contents(valkey.client)
    answer = press(guarded, ENTRY, given, HTTP_ORIGIN=origin, HTTP_REFERER="http://evil.example/")
    assert answer.status_code == 403
    assert link(answer, "Load the page again") == "/dead-letters/"
    assert changed(before, contents(valkey.client)) == set()


def test_json_that_poses_as_text_does_nothing(guarded: Client, valkey: Server) -> None:
    before = contents(valkey.client)
    url = f"{ENTRY.partition('?')[0].rstrip('/')}/redrive"
    answer = guarded.post(url, '{"operation": "op-1"}', content_type="text/plain")
    assert answer.status_code == 403
    assert changed(before, contents(valkey.client)) == set()
