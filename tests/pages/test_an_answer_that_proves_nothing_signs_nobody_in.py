"""What comes back from the provider's way, spoilt in any manner: nobody is signed in, a page says so and leads on."""

import time
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from django.test import Client, override_settings

from tests.support.html import elements, link, says
from tests.support.provider import Provider
from tests.support.signing_in import begun, browser, by_oidc, ended, sign_in

DEEP = "/dead-letters/?queue=%C3%A9&limit=5&after=1-2"


def spoilt(back: str, **changed: str | None) -> str:
    url = urlsplit(back)
    fields = {name: value for name, (value,) in parse_qs(url.query).items()} | changed
    return f"{url.path}?" + "&".join(f"{name}={value}" for name, value in fields.items() if value is not None)


CALLBACKS: dict[str, dict[str, str | None]] = {
    "nothing": {"state": None, "code": None},
    "no state": {"state": None},
    "another state": {"state": "x" * 43},
    "an odd state": {"state": "%00%ff"},
    "no code": {"code": None},
    "an empty code": {"code": ""},
    "another code": {"code": "zzz"},
    "another provider's answer": {"iss": "https://evil.example"},
    "an error": {"code": None, "error": "access_denied", "error_description": "<b>x</b>"},
    "an error and a code": {"error": "%3Cscript%3E"},
}


@pytest.mark.parametrize("changed", CALLBACKS.values(), ids=CALLBACKS)
def test_an_answer_that_proves_nothing_signs_nobody_in_and_leads_on(
    oidc: Client, provider: Provider, changed: dict[str, str | None]
) -> None:
    page = ended(oidc, spoilt(provider.visit(begun(oidc, DEEP)), **changed))
    assert page.status_code in (400, 403)
    assert "session" not in oidc.cookies
    assert "<b>x</b>" not in page.content.decode()
    assert "<script>" not in page.content.decode()
    assert elements(page, "a", class_="btn primary wide")[0]["href"] in (
        "/",
        f"/auth/login?next={quote(DEEP, safe='')}",
    )


@override_settings(SUPPORT_CONTACT="#queue-ops")
def test_whom_to_ask_is_said_where_something_is_amiss(oidc: Client, provider: Provider) -> None:
    provider.answers = {"error": "access_denied"}
    assert "No access? Ask #queue-ops." in says(sign_in(oidc, provider))
    for page in (oidc.post("/auth/logout"), oidc.get("/auth/signed-out")):
        assert "#queue-ops" not in says(page)


def test_another_browsers_answer_is_nobodys_here(oidc: Client, provider: Provider) -> None:
    back = provider.visit(begun(oidc))
    other = browser()
    begun(other)
    assert ended(other, back).status_code == 400
    assert "session" not in other.cookies


def test_the_same_answer_twice_is_told_and_leads_on(oidc: Client, provider: Provider) -> None:
    back = provider.visit(begun(oidc))
    assert ended(oidc, back).status_code == 302
    again = ended(oidc, back)
    assert again.status_code == 400
    assert "This sign-in is over" in says(again)
    assert oidc.get(link(again, "Open dead letters"), follow=True).status_code == 200


def test_a_sign_in_that_took_too_long_is_over(
    oidc: Client, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    back, now = provider.visit(begun(oidc)), time.time()
    monkeypatch.setattr("time.time", lambda: now + 601)
    assert ended(oidc, back).status_code == 400


def test_where_answers_always_name_their_provider_one_that_does_not_is_refused(
    oidc: Client, provider: Provider
) -> None:
    provider.more = {"authorization_response_iss_parameter_supported": True}
    assert sign_in(oidc, provider).status_code == 403
    provider.answers = {"iss": provider.url}
    assert sign_in(oidc, provider).status_code == 302


def test_a_provider_that_takes_the_secret_in_the_form_gets_it_there(oidc: Client, provider: Provider) -> None:
    provider.more = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    assert sign_in(oidc, provider).status_code == 302


def test_a_wrong_client_secret_is_told_to_the_log(
    oidc: Client, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    with by_oidc(provider, client_secret="another"):
        assert sign_in(oidc, provider).status_code == 403
    (line,) = [line for line in caplog.records if line.message == "sign-in refused"]
    assert line.reason == "the token endpoint said 401 invalid_client"
