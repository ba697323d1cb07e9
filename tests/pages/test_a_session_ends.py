"""A session ends by signing out, here or at the provider, or by its hours: then no copy of its cookie lets one in."""

import json
import time
from collections.abc import Callable

import pytest
from django.core import signing
from django.http import HttpResponse
from django.test import Client, override_settings

from joobq_admin.joobq import keys
from joobq_admin.sso import session
from joobq_admin.sso.roles import Role
from tests.support.database import changed, contents
from tests.support.elsewhere import redis_at
from tests.support.html import elements, get, link, press, says
from tests.support.letters import DIED, digest, jid, letter
from tests.support.provider import ADA, VERA, Provider, signed
from tests.support.servers import Server, free_port
from tests.support.signing_in import browser, next_of, role_of, rules, sign_in

LETTER = letter(1, queue="invoices")
ENTRY = f"/dead-letters/{DIED}-{digest(LETTER)[:16]}/?jid={jid(1)}"
FORM = {"score": str(DIED), "digest": digest(LETTER), "jid": jid(1), "operation": "op-1"}
TOLD = "/auth/backchannel-logout"


@pytest.fixture
def ada(oidc: Client, provider: Provider, valkey: Server) -> Client:
    """She is signed in, and there is a dead letter."""
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    provider.user = ADA | {"sid": "session-1"}
    sign_in(oidc, provider)
    return oidc


def copy(client: Client) -> Client:
    """Another browser with the same cookies."""
    other = browser()
    other.cookies.update(client.cookies)
    return other


def is_out(answer: HttpResponse) -> bool:
    return answer.status_code == 302 and answer["Location"].startswith("/auth/login?")


def test_who_signs_out_is_out_with_every_copy_of_the_cookie(ada: Client, valkey: Server) -> None:
    stolen = copy(ada)
    left = ada.post("/auth/logout")
    assert left.status_code == 200
    assert "Signed out here" in says(left)
    assert is_out(get(ada, "/dead-letters/"))
    for path in ("/dead-letters/", ENTRY, "/", "/nowhere", "/bin/", "/audit/export?format=csv"):
        assert is_out(get(stolen, path)), path
    before = contents(valkey.client)
    assert press(stolen, ENTRY, FORM).status_code == 401
    assert changed(before, contents(valkey.client)) == set()


def test_other_sessions_go_on(ada: Client, provider: Provider) -> None:
    other = browser()
    sign_in(other, provider)
    ada.post("/auth/logout")
    assert role_of(other) == "Admin"


def test_the_way_out_of_the_provider_is_a_link_and_leads_back(ada: Client, provider: Provider) -> None:
    left = ada.post("/auth/logout")
    away = link(left, f"Sign out of {provider.url.removeprefix('http://')} too")
    assert away == (
        f"{provider.url}/end?client_id=joobq-admin&post_logout_redirect_uri=http%3A%2F%2F127.0.0.1%3A8000%2Fauth%2Fsigned-out"
    )
    back = ada.get("/auth/signed-out")
    assert "Signed out" in says(back)
    assert link(back, "Sign in again") == "/auth/login"


@pytest.mark.parametrize("method", ["get", "head", "put"])
def test_a_look_at_the_address_of_signing_out_does_nothing(ada: Client, method: str) -> None:
    assert getattr(ada, method)("/auth/logout").status_code == 302
    assert ada.get("/auth/signed-out")["Location"] == "/dead-letters/"
    assert role_of(ada) == "Admin"


def test_without_the_token_of_ones_browser_nobody_is_signed_out(ada: Client) -> None:
    guarded = copy(ada)
    guarded.handler.enforce_csrf_checks = True
    assert guarded.post("/auth/logout").status_code == 403
    assert role_of(guarded) == "Admin"
    token = elements(get(guarded, "/dead-letters/"), "input", name="csrfmiddlewaretoken")[0]["value"]
    assert guarded.post("/auth/logout", {"csrfmiddlewaretoken": token}).status_code == 200


@pytest.mark.parametrize("who", [{"sid": "session-1"}, {"sub": "u-ada"}, {"sid": "session-1", "sub": "u-ada"}])
def test_who_signs_out_at_the_provider_is_out_here(ada: Client, provider: Provider, who: dict[str, str]) -> None:
    vera = browser()
    provider.user = VERA | {"sid": "session-2"}
    sign_in(vera, provider)
    told = browser(enforce_csrf_checks=True).post(TOLD, {"logout_token": provider.logout_token(**who)})
    assert (told.status_code, told.content) == (200, b"")
    assert "no-store" in told["Cache-Control"]
    assert is_out(get(ada, "/dead-letters/"))
    assert role_of(vera) == "Viewer"


@pytest.mark.parametrize("who", [{"sid": "session-2"}, {"sub": "u-vera"}, {"sub": "session-1"}, {"sid": "u-ada"}])
def test_the_logout_of_another_is_not_hers(ada: Client, provider: Provider, who: dict[str, str]) -> None:
    assert browser().post(TOLD, {"logout_token": provider.logout_token(**who)}).status_code == 200
    assert role_of(ada) == "Admin"


def test_told_again_it_ends_no_session_that_began_since(ada: Client, provider: Provider) -> None:
    token = provider.logout_token(sub="u-ada")
    assert browser().post(TOLD, {"logout_token": token}).status_code == 200
    provider.signs = lambda claims: signed(claims | {"iat": int(time.time()) + 2})
    sign_in(ada, provider)
    assert browser().post(TOLD, {"logout_token": token}).status_code == 200
    assert role_of(ada) == "Admin"


def test_a_logout_that_cannot_be_kept_is_to_be_told_again(
    ada: Client, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    with redis_at(f"redis://127.0.0.1:{free_port()}/0"):
        assert browser().post(TOLD, {"logout_token": provider.logout_token(sub="u-ada")}).status_code == 503
    assert "a logout could not be kept" in caplog.text


def test_who_comes_and_who_goes_is_told_in_the_log(
    oidc: Client, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    sign_in(oidc, provider)
    oidc.post("/auth/logout")
    told = [line for line in caplog.records if line.name == "joobq_admin.pages.sign_in"]
    assert [(line.message, line.user) for line in told] == [("signed in", "u-ada"), ("signed out", "u-ada")]
    assert told[0].role == "Admin"


def test_with_redis_down_nobody_is_signed_out_and_signing_out_still_works(ada: Client) -> None:
    with redis_at(f"redis://127.0.0.1:{free_port()}/0"):
        for path in ("/dead-letters/", ENTRY):
            page = get(ada, path)
            assert page.status_code == 503
            assert "Ada Łukasiewicz 李" in says(page)
        assert get(ada, "/nowhere").status_code == 404
        assert press(ada, ENTRY, FORM).status_code == 503
        left = copy(ada).post("/auth/logout")
        assert left.status_code == 200
        assert left.cookies["session"].value == ""
        assert "a copy of your sign-in stays good for up to 8 h" in says(left)
    assert role_of(ada) == "Admin"


def spoilt(value: str, **changed: object) -> str:
    """What somebody would make of the cookie who does not have the key."""
    said = json.loads(signing.b64_decode(value.partition(":")[0].encode()))
    fields = dict(zip(("sub", "name", "role", "auth_time", "id", "at", "sid"), said, strict=True)) | changed
    body = signing.b64_encode(json.dumps(list(fields.values())).encode()).decode()
    return f"{body}:{value.partition(':')[2]}"


def by_another_key() -> str:
    response = HttpResponse()
    with override_settings(SECRET_KEY="k" * 50):
        session.write(response, session.Session("u-ada", "Ada", Role.ADMIN, 0, "id", 0))
    return response.cookies["session"].value


COOKIES: dict[str, Callable[[str], str]] = {
    "none": lambda value: "",
    "another role": lambda value: spoilt(value, role="ADMIN"),
    "another person": lambda value: spoilt(value, sub="u-ada"),
    "another key": lambda value: by_another_key(),
    "another salt": lambda value: signing.dumps(["u-ada", "Ada", "ADMIN", 0, "id", 0, ""], salt="sign-in attempt"),
    "cut": lambda value: value[:-1],
    "more": lambda value: value + "x",
    "no cookie of ours": lambda value: "x" * 3000,
}


@pytest.mark.parametrize("spoil", COOKIES.values(), ids=COOKIES)
def test_a_cookie_that_we_did_not_write_is_nobodys(
    oidc: Client, provider: Provider, spoil: Callable[[str], str]
) -> None:
    provider.user = VERA
    sign_in(oidc, provider)
    value = oidc.cookies["session"].value
    oidc.cookies["session"] = spoil(value)
    assert is_out(get(oidc, "/dead-letters/"))
    oidc.cookies["session"] = value
    assert role_of(oidc) == "Viewer"


def test_the_cookie_of_a_sign_in_that_has_begun_is_no_session(oidc: Client) -> None:
    oidc.get("/auth/login")
    (begun,) = oidc.cookies.values()
    oidc.cookies["session"] = begun.value
    assert is_out(get(oidc, "/dead-letters/"))


@pytest.mark.parametrize("set_to", [8, 2])
def test_it_ends_after_its_hours_however_much_it_was_used(
    ada: Client, provider: Provider, valkey: Server, monkeypatch: pytest.MonkeyPatch, set_to: int
) -> None:
    now = time.time()
    with override_settings(SESSION_HOURS=set_to):
        sign_in(ada, provider)
        assert ada.cookies["session"]["max-age"] == set_to * 3600
        for hours, role in ((set_to - 0.1, "Admin"), (set_to + 0.1, "302")):
            monkeypatch.setattr("time.time", lambda hours=hours: now + hours * 3600)
            assert role_of(ada) == role
        monkeypatch.setattr("time.time", lambda: now)
        ada.post("/auth/logout")
    (ended,) = valkey.client.scan_iter("joobq:admin:revoked:*")
    assert 0 <= valkey.client.ttl(ended) - set_to * 3600 <= 60


def test_while_the_key_changes_the_old_one_counts(ada: Client) -> None:
    with override_settings(SECRET_KEY="n" * 50, SECRET_KEY_FALLBACKS=[]):
        assert is_out(get(ada, "/dead-letters/"))
    with override_settings(SECRET_KEY="n" * 50, SECRET_KEY_FALLBACKS=[signing.settings.SECRET_KEY]):
        assert role_of(ada) == "Admin"


def test_with_another_provider_nobody_is_who_they_were_at_the_one_before(ada: Client, provider: Provider) -> None:
    for changed_to in (
        rules(provider, issuer="https://id.example.com"),
        rules(provider, client_id="another"),
    ):
        with override_settings(OIDC=changed_to):
            assert is_out(get(ada, "/nowhere"))
    assert role_of(ada) == "Admin"


HERE = "/dead-letters/?queue=invoices&limit=5"


@pytest.mark.parametrize(
    ("headers", "to"),
    [
        ({"HX-Current-URL": f"http://127.0.0.1{HERE}"}, HERE),
        ({"HX-Current-URL": "http://evil.example/dead-letters/"}, None),
        ({"HX-Current-URL": "http://127.0.0.1/auth/signed-out"}, None),
        ({"Referer": f"http://127.0.0.1{HERE}"}, HERE),
        ({}, None),
    ],
)
@pytest.mark.parametrize("pressed", [True, False])
def test_in_the_middle_of_a_page_one_is_led_to_sign_in_and_back_to_that_page(
    oidc: Client, valkey: Server, headers: dict[str, str], to: str | None, pressed: bool
) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    ask = {"HX-Request": "true", "HX-Target": "action", **headers}
    before = contents(valkey.client)
    url = f"{ENTRY.partition('?')[0].rstrip('/')}/redrive" if pressed else "/dead-letters/?queue=other"
    answer = oidc.post(url, FORM, headers=ask) if pressed else oidc.get(url, headers=ask)
    assert (answer.status_code, answer.content) == (401, b"")
    assert "Location" not in answer
    assert (next_of(answer["HX-Redirect"]) if to else None) == to
    assert changed(before, contents(valkey.client)) == set()
    page = oidc.get(answer["HX-Redirect"])
    if pressed:
        assert "You are signed out. Your press did nothing" in says(page)
        assert link(page, "Sign in") == answer["HX-Redirect"].replace("&pressed=1", "").replace("?pressed=1", "?")
    else:
        assert page.status_code == 302


def test_a_press_without_javascript_is_told_the_same(oidc: Client, valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    before = contents(valkey.client)
    page = press(oidc, ENTRY, FORM, htmx=False, HTTP_REFERER=f"http://127.0.0.1{ENTRY}")
    assert page.status_code == 401
    assert "You are signed out. Your press did nothing" in says(page)
    assert next_of(link(page, "Sign in")) == ENTRY
    assert changed(before, contents(valkey.client)) == set()
