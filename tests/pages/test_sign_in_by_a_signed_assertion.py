"""Behind a proxy that signs: its assertion counts, verified by its keys, and nothing else that a request says."""

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_network
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client, override_settings

from joobq_admin.sso import assertion
from joobq_admin.sso.fetch import json_at
from joobq_admin.sso.roles import Role
from joobq_admin.sso.tokens import Keys
from tests.support.faulty_tokens import FAULTS
from tests.support.html import elements, says
from tests.support.provider import CLIENT, VERA, Claims, Provider, public, signed
from tests.support.signing_in import GROUPS

HEADER = "X-Assertion"
EMAILS = {Role.OPERATOR: frozenset({"otto@example.com"})}


def of(provider: Provider) -> assertion.Rules:
    keys = Keys(lambda: json_at(f"{provider.url}/keys"))
    return assertion.Rules(HEADER, provider.url, CLIENT, keys, "groups", GROUPS, EMAILS)


@pytest.fixture
def proxied(client: Client, provider: Provider) -> Iterator[Client]:
    """Requests come by way of a proxy that signs."""
    with override_settings(AUTH="proxy", PROXY=of(provider), PROXY_LOGOUT_URL="/oauth2/sign_out"):
        yield client


def ask(client: Client, token: object, **more: str) -> HttpResponse:
    return client.get("/dead-letters/", headers={HEADER: token, **more} if token else more)


@pytest.mark.parametrize(
    ("user", "name", "role"),
    [
        (VERA, "Vera", "Viewer"),
        ({"sub": "accounts.example.com:7", "email": "otto@example.com"}, "otto@example.com", "Operator"),
        (VERA | {"email": "otto@example.com", "name": None}, "otto@example.com", "Operator"),
        (VERA | {"email": "otto@example.com", "email_verified": False}, "Vera", "Viewer"),
        (VERA | {"email": "otto@example.com", "email_verified": "false"}, "Vera", "Viewer"),
        (VERA | {"email": "otto@example.com", "email_verified": None}, "Vera", "Viewer"),
        (VERA | {"email": "otto@example.com", "email_verified": True}, "Vera", "Operator"),
        (VERA | {"groups": "admins"}, "Vera", "no role"),
        (VERA | {"groups": None, "email": "Otto@example.com"}, "Vera", "no role"),
    ],
)
def test_the_user_is_who_it_says(
    proxied: Client, provider: Provider, user: dict[str, Any], name: str, role: str
) -> None:
    provider.user = user
    page = ask(proxied, signed(provider.claims()))
    assert page.status_code == (403 if role == "no role" else 200)
    assert f"{name} {role} account" in says(page)
    assert elements(page, "a", href="/oauth2/sign_out")


OF_THE_ANSWER = (
    "no nonce",
    "another nonce",
    "a nonce that is",
    "of another access",
    "one audience, another",
    "several",
)
FAULTY = {name: fault for name, fault in FAULTS.items() if not name.startswith(OF_THE_ANSWER)}


@pytest.mark.parametrize("fault", FAULTY.values(), ids=FAULTY)
def test_a_faulty_one_proves_nobody(proxied: Client, provider: Provider, fault: Any) -> None:
    token = fault(provider.claims())
    answer = ask(proxied, token if isinstance(token, str) else "", **{"X-Forwarded-User": "ada"})
    assert answer.status_code == 401
    assert answer.content.startswith(b"401: nobody is signed in")
    assert "Set-Cookie" not in answer


def test_twice_is_not_once(proxied: Client, provider: Provider) -> None:
    token = signed(provider.claims())
    assert ask(proxied, f"{token},{token}").status_code == 401


def test_what_other_headers_say_is_not_looked_at(proxied: Client, provider: Provider) -> None:
    provider.user = VERA
    plain = {"X-Forwarded-User": "ada", "X-Forwarded-Groups": "admins", "Authorization": f"Bearer {signed(VERA)}"}
    assert "Vera Viewer account" in says(ask(proxied, signed(provider.claims()), **plain))
    assert ask(proxied, "", **plain).status_code == 401


def test_only_named_peers_are_heard(proxied: Client, provider: Provider) -> None:
    with override_settings(PROXY=replace(of(provider), peers=(ip_network("10.0.0.0/8"),))):
        assert ask(proxied, signed(provider.claims())).status_code == 401


def test_its_keys_may_change_and_may_be_out_of_reach(proxied: Client, provider: Provider) -> None:
    provider.spoilt["/keys"] = "503"
    answer = ask(proxied, signed(provider.claims()))
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    with override_settings(PROXY=of(provider)):
        provider.spoilt.clear()
        assert ask(proxied, signed(provider.claims())).status_code == 200
        provider.spoilt["/keys"] = "503"
        assert ask(proxied, signed(provider.claims())).status_code == 200
        provider.spoilt.clear()
        provider.keys = [public("k2")]
        assert ask(proxied, signed(provider.claims(), "k2")).status_code == 200


def test_one_confirms_by_a_word_of_ones_own_for_it_has_no_clock(proxied: Client, provider: Provider) -> None:
    claims: Claims = provider.claims(auth_time=1)
    page = ask(proxied, signed(claims))
    assert page.status_code == 200
    confirmed = proxied.post("/auth/confirm", {"next": "/bin/"}, headers={HEADER: signed(claims)})
    assert "confirmed" in confirmed.cookies
