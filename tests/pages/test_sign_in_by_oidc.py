"""Sign-in by the company's own provider: from a link straight to its page, in any number of tabs, as who one is."""

import re
from collections.abc import Callable
from secrets import token_hex
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.urls import get_resolver

from joobq_admin.joobq import keys
from joobq_admin.sso.middleware import OPEN
from tests.support.dashboard import Dashboard
from tests.support.html import elements, get, press, says
from tests.support.letters import DIED, digest, jid, letter
from tests.support.provider import CLIENT, Provider
from tests.support.servers import Server
from tests.support.signing_in import begun, browser, ended, environment, next_of, role_of, sign_in
from tests.support.wire import ask

SERVERS_TAKE = 8_190  # bytes of one header: gunicorn's limit_request_field_size, and nginx about as many
DEEP = "/dead-letters/?queue=%C3%A9&limit=5&after=1-2"


@pytest.mark.parametrize("path", [DEEP, "/", "/jobs/a%20b%2Fc/?x=%26%2B+", "/jobs/%E2%82%AC/", "/nowhere"])
@pytest.mark.parametrize("method", ["get", "head"])
def test_a_link_leads_to_the_sign_in_and_from_there_to_its_very_page(
    oidc: Client, provider: Provider, path: str, method: str
) -> None:
    asked = getattr(oidc, method)(path)
    assert asked.status_code == 302
    assert asked["Cache-Control"] == "no-store, private"
    to = next_of(asked["Location"])
    assert to == path.replace("%2F", "/")  # as servers read a path
    landed = sign_in(oidc, provider, to)
    assert (landed.status_code, landed["Location"]) == (302, to)


def test_nobody_gets_any_further_at_any_address(oidc: Client) -> None:
    named = {pattern.name: "/" + re.sub("<.*?>", "x", str(pattern.pattern)) for pattern in get_resolver().url_patterns}
    assert named.keys() > OPEN
    for path in [path for name, path in named.items() if name not in OPEN]:
        asked = {"HX-Request": "true", "HX-Target": "results", "HX-Current-URL": f"http://127.0.0.1{DEEP}"}
        assert oidc.get(path)["Location"].startswith("/auth/login?"), path
        assert oidc.post(path).status_code == 401
        for answer in (oidc.get(path, headers=asked), oidc.post(path, headers=asked)):
            assert (answer.status_code, next_of(answer["HX-Redirect"])) == (401, DEEP), path


def test_the_provider_is_asked_by_the_book(oidc: Client, provider: Provider) -> None:
    answer = oidc.get("/auth/login")
    asked = {name: value for name, (value,) in parse_qs(urlsplit(answer["Location"]).query).items()}
    secret = {name: asked.pop(name) for name in ("state", "nonce", "code_challenge")}
    assert {len(value) for value in secret.values()} == {43}
    assert len(set(secret.values())) == 3
    assert asked == {
        "response_type": "code",
        "response_mode": "query",
        "client_id": CLIENT,
        "redirect_uri": "http://127.0.0.1:8000/auth/callback",
        "scope": "openid profile email",
        "code_challenge_method": "S256",
    }
    (cookie,) = answer.cookies.values()
    assert secret["nonce"] not in cookie.value
    assert (cookie["httponly"], cookie["samesite"], cookie["path"], cookie["max-age"]) == (True, "Lax", "/", 600)
    ended(oidc, provider.visit(answer["Location"]))
    (verifier,) = (form["code_verifier"] for path, form in provider.seen if path == "/token")
    assert verifier not in answer["Location"]


def test_whoever_signed_in_is_shown_and_may_do_what_their_group_may(
    oidc: Client, provider: Provider, valkey: Server
) -> None:
    valkey.client.zadd(keys.DEAD, {letter(1): DIED})
    sign_in(oidc, provider)
    assert "Ada Łukasiewicz 李" in says(get(oidc, "/dead-letters/"))
    assert role_of(oidc) == "Admin"
    cookie = oidc.cookies["session"]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"], cookie["max-age"]) == (True, "Lax", "/", 8 * 3600)
    form = {"score": str(DIED), "digest": digest(letter(1)), "jid": jid(1), "operation": "op-1"}
    assert press(oidc, f"/dead-letters/{DIED}-{digest(letter(1))}/", form).status_code == 200
    ((_, record),) = valkey.client.xrange(keys.AUDIT)
    assert (record[b"by"], record[b"name"].decode()) == (b"u-ada", "Ada Łukasiewicz 李")


def test_two_tabs_at_the_same_instant_each_get_to_their_page_and_both_can_press(
    oidc: Client, provider: Provider, valkey: Server
) -> None:
    guarded = browser(enforce_csrf_checks=True)
    for n in (1, 2):
        valkey.client.zadd(keys.DEAD, {letter(n, queue="invoices"): DIED})
    pages = [f"/dead-letters/{DIED}-{digest(letter(n, queue='invoices'))}/" for n in (1, 2)]
    asked = [begun(guarded, page) for page in pages]
    back = [provider.visit(address) for address in asked]
    assert [ended(guarded, address)["Location"] for address in reversed(back)] == pages[::-1]
    opened = [get(guarded, page) for page in pages]
    for n, page in enumerate(opened, 1):
        fields = {given["name"]: given["value"] for given in elements(page, "input", type="hidden") if "name" in given}
        assert press(guarded, pages[n - 1], fields).status_code == 200
    assert valkey.client.llen("invoices") == 2


def cookies_of(client: Client) -> str:
    """As a browser sends them."""
    return "; ".join(f"{name}={cookie.value}" for name, cookie in client.cookies.items() if cookie.value)


def test_thirty_tabs_at_the_same_instant_each_get_to_their_page(oidc: Client, provider: Provider) -> None:
    pages = [f"/dead-letters/{DIED}-{digest(letter(n))[:16]}/?jid={jid(n)}" for n in range(30)]
    asked = []
    for page in pages:
        tab = browser()  # none has a cookie of another yet
        asked.append(begun(tab, page))
        oidc.cookies.update(tab.cookies)
    assert len(cookies_of(oidc)) < SERVERS_TAKE
    assert [ended(oidc, provider.visit(address))["Location"] for address in asked] == pages
    assert cookies_of(oidc).count("=") == 1, "the session"


def test_of_more_sign_ins_than_there_is_room_for_the_last_can_end(oidc: Client, provider: Provider) -> None:
    pages = [f"/jobs/?jid={n}{''.join(token_hex(1) for _ in range(900))}" for n in range(5)]
    asked = []
    for page in pages:
        asked.append(begun(oidc, page))
        assert len(cookies_of(oidc)) < 6_500
    landed = [ended(oidc, provider.visit(address)) for address in asked]
    assert [answer.status_code for answer in landed] == [400] * 2 + [302] * 3
    assert [answer["Location"] for answer in landed[2:]] == pages[2:]


HOSTILE = [
    "//evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example", "https:evil.example", "http:///evil.example",
    "https://evil.example/", "javascript:alert(1)", "/\t/evil.example", "/a\r\nSet-Cookie: x=1", " //evil.example",
    "//127.0.0.1@evil.example", "/auth/logout", "/%61uth/login", "/" + "a" * 2000, "/" + "é" * 400, "", "dead-letters/",
]  # fmt: skip


@pytest.mark.parametrize("to", HOSTILE)
def test_the_way_on_never_leaves_this_dashboard(oidc: Client, provider: Provider, to: str) -> None:
    landed = sign_in(oidc, provider, to)
    assert (landed.status_code, landed["Location"]) == (302, "/dead-letters/")


@pytest.mark.parametrize("path", ["login", "callback", "signed-out", "logout", "backchannel-logout"])
def test_where_others_sign_people_in_there_is_nothing_at_these_addresses(client: Client, path: str) -> None:
    for answer in (client.get(f"/auth/{path}"), client.post(f"/auth/{path}")):
        assert answer.status_code == 404


def test_below_a_prefix_over_https_addresses_and_cookies_follow(
    provider: Provider, valkey: Server, new_dashboard: Callable[..., Dashboard]
) -> None:
    url = "https://ops.example.com/dlq"
    dashboard = new_dashboard(valkey.url, "proxy", JOOBQ_ADMIN_PUBLIC_URL=url, **environment(provider))
    us = {"Host": "ops.example.com"}
    asked = ask(f"{dashboard.url}/dlq/jobs/a/?x=1", us)
    assert asked.headers["Location"] == "/dlq/auth/login?next=%2Fdlq%2Fjobs%2Fa%2F%3Fx%3D1"
    begun = ask(dashboard.url + asked.headers["Location"], us)
    assert "redirect_uri=https%3A%2F%2Fops.example.com%2Fdlq%2Fauth%2Fcallback&" in begun.headers["Location"]
    attempt = begun.headers["Set-Cookie"]
    back = provider.visit(begun.headers["Location"]).removeprefix("https://ops.example.com")
    landed = ask(dashboard.url + back, us | {"Cookie": attempt.partition(";")[0]})
    assert (landed.status, landed.headers["Location"]) == (302, "/dlq/jobs/a/?x=1")
    cookie = landed.headers["Set-Cookie"]
    for each, name in ((attempt, "__Host-sign-in-"), (cookie, "__Host-session=")):
        assert each.startswith(name)
        assert {"Secure", "HttpOnly", "Path=/", "SameSite=Lax"} <= set(each.split("; "))
        assert "Domain" not in each
    page = ask(f"{dashboard.url}/dlq/dead-letters/", us | {"Cookie": cookie.partition(";")[0]})
    assert page.status == 200
    assert 'action="/dlq/auth/logout"' in page.text
