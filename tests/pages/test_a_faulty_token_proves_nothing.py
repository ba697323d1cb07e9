"""Id tokens and logout tokens with a fault each: refused with a page that leads on, or in the provider's own words."""

import hashlib
import hmac
import json
import time
from base64 import urlsafe_b64decode
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.test import Client
from jwt.algorithms import RSAAlgorithm

from joobq_admin.sso import tokens
from tests.support.html import link, says
from tests.support.provider import CLIENT, SECRET, Claims, Provider, part, public, signed, signing_key
from tests.support.servers import Server
from tests.support.signing_in import next_of, role_of, sign_in

Sign = Callable[[Claims], object]
RS256 = RSAAlgorithm(RSAAlgorithm.SHA256)
PEM = signing_key("k1").public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
DER = signing_key("k1").public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def with_claims(**changed: Any) -> Sign:
    """Signed as it must be; a claim of None is left out."""
    return lambda claims: signed({name: value for name, value in (claims | changed).items() if value is not None})


def later(**seconds: int) -> Sign:
    return lambda claims: signed(claims | {name: int(time.time()) + off for name, off in seconds.items()})


def with_header(**header: Any) -> Sign:
    """Signed with the right key over a header that PyJWT would not write."""

    def sign(claims: Claims) -> str:
        head = {"alg": "RS256", "kid": "k1", **header}
        body = f"{part({name: value for name, value in head.items() if value is not None})}.{part(claims)}"
        return f"{body}.{part(RS256.sign(body.encode(), signing_key('k1')))}"

    return sign


def by_secret(secret: bytes) -> Sign:
    def sign(claims: Claims) -> str:
        body = f"{part({'alg': 'HS256', 'kid': 'k1'})}.{part(claims)}"
        return f"{body}.{part(hmac.new(secret, body.encode(), hashlib.sha256).digest())}"

    return sign


def unsigned(algorithm: str) -> Sign:
    return lambda claims: f"{part({'alg': algorithm})}.{part(claims)}."


def tampered(claims: Claims) -> str:
    head, body, signature = signed(claims).split(".")
    body = json.loads(urlsafe_b64decode(body + "=="))
    return f"{head}.{part(body | {'groups': ['admins', 'more']})}.{signature}"


ROGUE = public("rogue", kid="k1")
FAULTS: dict[str, Sign] = {
    "no algorithm": unsigned("none"),
    "no algorithm in capitals": unsigned("NONE"),
    "the public key as a secret": by_secret(PEM),
    "the public key as a secret, DER": by_secret(DER),
    "the client's secret": by_secret(SECRET.encode()),
    "an empty secret": by_secret(b""),
    "another key of the same name": lambda claims: signed(claims, "rogue", kid="k1"),
    "a key of another name": lambda claims: signed(claims, "rogue"),
    "no name, another key": lambda claims: signed(claims, "rogue", kid=None),
    "a name that is a path": lambda claims: signed(claims, kid="../../keys"),
    "its own key": lambda claims: signed(claims, "rogue", kid=None, jwk=ROGUE),
    "an address of its key": lambda claims: signed(claims, "rogue", kid="k1", jku="https://evil.example/keys"),
    "another algorithm": lambda claims: signed(claims, algorithm="RS512"),
    "a curve for our key": lambda claims: signed(claims, "es", kid="k1"),
    "a critical header that nobody knows": with_header(crit=["x"], x=1),
    "a name that is a number": with_header(kid=5),
    "an algorithm that is a list": with_header(alg=["RS256"]),
    "a body that is elsewhere": with_header(b64=False, crit=["b64"]),
    "a changed body": tampered,
    "another audience": with_claims(aud="someone-else"),
    "no audience": with_claims(aud=None),
    "several audiences, none named": with_claims(aud=[CLIENT, "other"]),
    "several audiences, another named": with_claims(aud=[CLIENT, "other"], azp="other"),
    "one audience, another named": with_claims(azp="other"),
    "an audience that is an object": with_claims(aud={CLIENT: 1}),
    "expired": later(iat=-7200, exp=-3600),
    "of a time to come": later(iat=3600, nbf=3600, exp=7200),
    "no end": with_claims(exp=None),
    "an end that is no number": with_claims(exp="tomorrow"),
    "an end without end": with_claims(exp=1e400),
    "no time": with_claims(iat=None),
    "another issuer": with_claims(iss="https://evil.example"),
    "an issuer with a slash more": lambda claims: signed(claims | {"iss": claims["iss"] + "/"}),
    "no issuer": with_claims(iss=None),
    "an issuer that is a list": lambda claims: with_header()(claims | {"iss": [claims["iss"]]}),
    "no nonce": with_claims(nonce=None),
    "another nonce": with_claims(nonce="attacker"),
    "a nonce that is an object": with_claims(nonce={"a": 1}),
    "nobody": with_claims(sub=None),
    "an empty person": with_claims(sub=""),
    "a person that is a list": with_claims(sub=["u-ada"]),
    "a person that is no text": with_claims(sub="\ud800"),
    "a person with a line break": with_claims(sub="ada\nadmin"),
    "a person longer than one can be": with_claims(sub="é" * 128),
    "of another access token": with_claims(at_hash="AAAAAAAAAAAAAAAAAAAAAA"),
    "no token": lambda _: None,
    "an object": lambda claims: claims,
    "no three parts": lambda _: "not.a",
    "nothing that can be read": lambda _: "not.a.jwt",
    "a header that is a list": lambda claims: f"{part([])}.{part(claims)}.{part(b'x')}",
    "a deep header": lambda claims: f"{part(b'[' * 100_000)}.{part(claims)}.{part(b'x')}",
    "a deep body": lambda _: f"{part({'alg': 'RS256', 'kid': 'k1'})}.{part(b'[' * 100_000)}.{part(b'x')}",
    "no ASCII": lambda _: "é.ü.\ud800",
}


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
    oidc: Client, provider: Provider, valkey: Server, token: Callable[[Provider], object]
) -> None:
    sign_in(oidc, provider)
    answer = Client(headers={"Host": "127.0.0.1"}).post("/auth/backchannel-logout", {"logout_token": token(provider)})
    assert (answer.status_code, answer.json()) == (400, {"error": "invalid_request"})
    assert "no-store" in answer["Cache-Control"]
    assert role_of(oidc) == "Admin"
    assert not valkey.client.keys("joobq:admin:revoked:*")
