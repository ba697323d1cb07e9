"""What cannot be undone needs a sign-in of the last 15 minutes: the provider asks anew, and proves that it did."""

import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from tests.support.database import changed, contents
from tests.support.html import link, says
from tests.support.letters import DIED, digest, jid, letter
from tests.support.provider import ADA, Provider
from tests.support.servers import Server
from tests.support.signing_in import begun, ended, role_of, sign_in

LETTER = letter(1, queue="invoices")
PAGE = f"/dead-letters/{DIED}-{digest(LETTER)[:16]}/"
FORM = {"score": str(DIED), "digest": digest(LETTER), "jid": jid(1), "operation": "op-1"}
FORM |= {"confirmed": "1", "reason": "a dispute"}


@pytest.fixture
def ada(oidc: Client, provider: Provider, valkey: Server) -> Client:
    """She signed in an hour ago, and looks at a dead letter."""
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    provider.user = ADA | {"auth_time": int(time.time()) - 3600}
    sign_in(oidc, provider)
    return oidc


def downloads(client: Client) -> Any:
    return client.post(f"{PAGE.rstrip('/')}/unredacted", FORM, headers={"Referer": f"http://127.0.0.1{PAGE}"})


def test_it_is_asked_for_and_then_does_what_was_wanted(
    ada: Client, provider: Provider, valkey: Server, caplog: pytest.LogCaptureFixture
) -> None:
    before = contents(valkey.client)
    refused = downloads(ada)
    assert refused.status_code == 403
    assert "Confirm that it is you" in says(refused)
    assert "Nothing was done." in says(refused)
    denied = [line for line in caplog.records if line.message == "denied: sign-in not recent"]
    assert [(line.action, line.user) for line in denied] == [("see unredacted bytes", "u-ada")]
    assert changed(before, contents(valkey.client)) == set()
    anew = ada.get(link(refused, "Sign in again"))["Location"]
    asked = parse_qs(urlsplit(anew).query)
    assert (asked["prompt"], asked["max_age"]) == (["login"], ["0"])
    provider.user = ADA
    assert ended(ada, provider.visit(anew))["Location"] == PAGE
    assert downloads(ada).status_code == 200


def test_a_word_of_ones_own_is_not_enough(ada: Client) -> None:
    assert ada.post("/auth/confirm", {"next": PAGE}).status_code == 303
    assert downloads(ada).status_code == 403


@pytest.mark.parametrize("seconds", [3600, 120])
def test_a_provider_that_did_not_ask_is_not_believed(ada: Client, provider: Provider, seconds: int) -> None:
    not_believed(ada, provider, int(time.time()) - seconds)


@pytest.mark.parametrize("auth_time", [None, "now", True, -1, 1e400, float("nan"), {}], ids=str)
def test_nor_one_that_does_not_say_when(ada: Client, provider: Provider, auth_time: object) -> None:
    not_believed(ada, provider, auth_time)


def not_believed(ada: Client, provider: Provider, auth_time: object) -> None:
    provider.user = ADA | {"auth_time": auth_time}
    page = ended(ada, provider.visit(begun(ada, PAGE, "&confirms=1")))
    assert page.status_code == 403
    assert "That was no fresh sign-in" in says(page)
    assert link(page, "Back to the page") == PAGE
    assert role_of(ada) == "Admin"
    assert downloads(ada).status_code == 403


def test_without_a_time_of_its_own_a_sign_in_is_never_recent(oidc: Client, provider: Provider, valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    sign_in(oidc, provider)
    assert downloads(oidc).status_code == 403


def test_a_time_to_come_counts_as_now(
    oidc: Client, provider: Provider, valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    provider.user = ADA | {"auth_time": int(time.time()) + 10**6}
    sign_in(oidc, provider)
    assert downloads(oidc).status_code == 200
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now + 901)
    assert downloads(oidc).status_code == 403


def test_signing_out_ends_what_was_before_it_was_asked_too(ada: Client, provider: Provider) -> None:
    old = ada.cookies["session"].value
    provider.user = ADA
    ended(ada, provider.visit(begun(ada, PAGE, "&confirms=1")))
    assert ada.cookies["session"].value != old
    ada.post("/auth/logout")
    ada.cookies["session"] = old
    assert role_of(ada) == "302"


def test_somebody_else_who_signs_in_then_is_somebody_else(ada: Client, provider: Provider) -> None:
    provider.user = {"sub": "u-vera", "name": "Vera", "groups": ["viewers"]}
    ended(ada, provider.visit(begun(ada, PAGE, "&confirms=1")))
    assert role_of(ada) == "Viewer"
