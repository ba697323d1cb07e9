"""Tokens with a fault each, made of good claims; what a good token is signed with is in provider."""

import hashlib
import hmac
import json
import time
from base64 import urlsafe_b64decode
from collections.abc import Callable
from typing import Any

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import RSAAlgorithm

from tests.support.provider import CLIENT, SECRET, Claims, part, public, signed, signing_key

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
