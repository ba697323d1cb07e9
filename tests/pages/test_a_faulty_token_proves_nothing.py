"""Id tokens and logout tokens with a fault each: refused with a page that leads on, or in the provider's own words."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from joobq_admin.sso import tokens
from tests.support.faulty_tokens import FAULTS, Sign, by_secret, later, unsigned, with_claims
from tests.support.html import link, says
from tests.support.provider import CLIENT, SECRET, Claims, Provider, public, signed
from tests.support.servers import Server
from tests.support.signing_in import next_of, role_of, sign_in


@pytest.mark.parametrize("sign", FAULTS.values(), ids=FAULTS)
def test_a_faulty_id_token_signs_nobody_in(
    oidc: Client, provider: Provider, sign: Sign, caplog: pytest.LogCaptureFixture
) -> None:
    provider.signs = sign
    page = sign_in(oidc, provider, "/jobs/a/")
    assert page.status_code == 403
    assert "You were not signed in" in says(page)
    assert next_of(link(page, "Sign in again")) == "/jobs/a/"
    assert "session" not in oidc.cookies
    assert [line.message for line in caplog.records if line.levelname == "WARNING"] == ["sign-in refused"]
    assert provider.count("/elsewhere") == 0
    provider.signs = signed
    assert sign_in(oidc, provider).status_code == 302


GOOD: dict[str, tuple[dict[str, Any], Sign]] = {
    "by a curve": (public("es"), lambda claims: signed(claims, "es")),
    "by PSS": (public("k1"), lambda claims: signed(claims, algorithm="PS256")),
    "with no name, by the only key": (public("k1"), lambda claims: signed(claims, kid=None)),
    "for us among others": (public("k1"), with_claims(aud=["other", CLIENT], azp=CLIENT)),
    "by a clock that differs a little": (public("k1"), later(iat=30, nbf=30, exp=60)),
}


@pytest.mark.parametrize(("key", "sign"), GOOD.values(), ids=GOOD)
def test_a_good_one_does(oidc: Client, provider: Provider, key: dict[str, Any], sign: Sign) -> None:
    provider.keys, provider.signs = [{"kty": "oct", "k": "AAAA", "kid": "k1"}, key, public("k2", use="enc")], sign
    assert sign_in(oidc, provider).status_code == 302
    assert role_of(oidc) == "Admin"


@pytest.mark.parametrize(
    "keys",
    [
        [public("k1", alg="RS512")],
        [public("k1", use="enc")],
        [{"kty": "RSA", "kid": "k1"}],
        [{"kty": "RSA", "kid": "k1", "n": 5, "e": []}],
        ["k1", None, 5],
        [public("k1"), public("k2")],
        [public("short", kid="k1")],
    ],
)
def test_a_key_that_is_none_for_it_proves_nothing(oidc: Client, provider: Provider, keys: list[Any]) -> None:
    provider.keys = keys
    two, short = len(keys) == 2, keys and isinstance(keys[0], dict) and len(str(keys[0].get("n"))) < 200
    provider.signs = lambda claims: signed(claims, kid=None if two else "k1")
    if short and len(keys[0]) > 3:
        provider.signs = short_key
    assert sign_in(oidc, provider).status_code == 403


def short_key(claims: Claims) -> str:
    with pytest.warns(UserWarning, match="key"):
        return signed(claims, "short", kid="k1")


LOGOUTS: dict[str, Callable[[Provider], object]] = {
    "a nonce": lambda op: op.logout_token(sub="u-ada", nonce="x"),
    "no event": lambda op: op.logout_token(sub="u-ada", events=None),
    "another event": lambda op: op.logout_token(sub="u-ada", events={"http://evil.example": {}}),
    "an event that is none": lambda op: op.logout_token(sub="u-ada", events={tokens.LOGOUT: None}),
    "events that are a list": lambda op: op.logout_token(sub="u-ada", events=[tokens.LOGOUT]),
    "nobody": lambda op: op.logout_token(),
    "an empty person": lambda op: op.logout_token(sub=""),
    "a session that is a list": lambda op: op.logout_token(sid=["a"], sub="u-ada"),
    "no name of its own": lambda op: op.logout_token(sub="u-ada", jti=None),
    "no end": lambda op: op.logout_token(sub="u-ada", exp=None),
    "long ago": lambda op: op.logout_token(sub="u-ada", iat=int(time.time()) - 400),
    "expired": lambda op: op.logout_token(later(iat=-90, exp=-70), sub="u-ada"),
    "another audience": lambda op: op.logout_token(sub="u-ada", aud="other"),
    "several audiences": lambda op: op.logout_token(sub="u-ada", aud=[CLIENT, "other"]),
    "another issuer": lambda op: op.logout_token(sub="u-ada", iss="https://evil.example"),
    "another key": lambda op: op.logout_token(FAULTS["another key of the same name"], sub="u-ada"),
    "no algorithm": lambda op: op.logout_token(unsigned("none"), sub="u-ada"),
    "the client's secret": lambda op: op.logout_token(by_secret(SECRET.encode()), sub="u-ada"),
    "an id token": lambda op: signed(op.claims(nonce="n")),
    "nothing": lambda op: "",
    "no token": lambda op: "x.y.z",
}


@pytest.mark.parametrize("token", LOGOUTS.values(), ids=LOGOUTS)
def test_a_faulty_logout_token_signs_nobody_out(
    oidc: Client,
    provider: Provider,
    valkey: Server,
    caplog: pytest.LogCaptureFixture,
    token: Callable[[Provider], object],
) -> None:
    sign_in(oidc, provider)
    answer = Client(headers={"Host": "127.0.0.1"}).post("/auth/backchannel-logout", {"logout_token": token(provider)})
    assert (answer.status_code, answer.json()) == (400, {"error": "invalid_request"})
    assert "no-store" in answer["Cache-Control"]
    assert role_of(oidc) == "Admin"
    assert not valkey.client.keys("joobq:admin:revoked:*")
    assert [line.message for line in caplog.records if line.levelname == "WARNING"] == ["logout refused"]
