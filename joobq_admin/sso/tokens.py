"""Signed tokens of others: an id token, a logout token, a proxy's assertion. What is not proved raises Refused.

OpenID Connect Core 3.1.3.7, Back-Channel Logout 2.6, RFC 8725. A key comes from the address that the settings lead to
and from nowhere else: what a token says of its own key (jwk, jku, x5u) is not looked at.
"""

import hashlib
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable
from hmac import compare_digest

import jwt

from joobq_admin.sso.claims import Claims
from joobq_admin.sso.fetch import Kept, Unavailable

KINDS = {"RS256": "RSA", "PS256": "RSA", "ES256": "EC"}  # the signatures that count, and the type of their key
LEEWAY = 60  # seconds that two clocks may differ
LOGOUT_AGE = 300  # seconds; a logout token is sent at once
LOGOUT = "http://schemas.openid.net/event/backchannel-logout"


class Refused(Exception):
    """It proves nobody. Why is for the log: it may hold what somebody sent."""


class Keys:
    """The public keys of one signer, by JSON Web Key Set. `load` fetches it anew, and may raise Unavailable."""

    def __init__(self, load: Callable[[], Claims]) -> None:
        self._kept = Kept(lambda: self._listed(load()))

    def find(self, kid: str | None, algorithm: str) -> jwt.PyJWK:
        """The key of this name; of no name, where there is but one. A name that is new to us is looked for anew."""
        for keys in (self._kept.get, self._kept.renewed):
            fit = [key for key in keys() if self._fits(key, algorithm) and kid in (None, key.get("kid"))]
            if len(fit) == 1 or (fit and kid is not None):
                return jwt.PyJWK(fit[0], algorithm)
            if kid is None:
                break
        raise Refused("no key of theirs has this kid" if kid else "it has no kid, and they have not exactly one key")

    @staticmethod
    def _listed(keys: Claims) -> list[Claims]:
        listed = keys.get("keys")
        if not isinstance(listed, list) or not listed:
            raise Unavailable("the key set holds no keys")
        return [key for key in listed if isinstance(key, dict)]

    @staticmethod
    def _fits(key: Claims, algorithm: str) -> bool:
        mine = key.get("kty") == KINDS[algorithm] and key.get("alg", algorithm) == algorithm
        return mine and key.get("use", "sig") == "sig"


def verified(token: object, keys: Keys, issuer: str, audience: str, needed: Iterable[str] = ()) -> Claims:
    """The claims of a token that this issuer signed for this audience and that has not expired.

    Has `exp`, `iat` and what is `needed`. Raises Refused, or Unavailable when no keys could be had.
    """
    if not isinstance(token, str):
        raise Refused("it is no token")
    try:
        header = jwt.get_unverified_header(token)
        algorithm = header.get("alg")
        if not isinstance(algorithm, str) or algorithm not in KINDS:
            raise Refused(f"its algorithm is {algorithm!r:.40}")
        return jwt.decode(
            token,
            keys.find(header.get("kid"), algorithm),
            algorithms=[algorithm],
            audience=audience,
            issuer=issuer,
            leeway=LEEWAY,
            options={"require": ["exp", "iat", *needed], "enforce_minimum_key_length": True},
        )
    except (jwt.PyJWTError, ValueError) as error:  # ValueError: a text that cannot be encoded
        raise Refused(f"{error!s:.200}") from error


def id_token(token: object, keys: Keys, issuer: str, client: str, nonce: str, access_token: str) -> Claims:
    """Who signed in, in answer to the very question that had this nonce. `access_token`: '' when none came."""
    claims = verified(token, keys, issuer, client, ["sub", "nonce"])
    if not compare_digest(str(claims["nonce"]).encode(errors="replace"), nonce.encode()):
        raise Refused("its nonce is of another sign-in")
    _azp(claims, client)
    digest = urlsafe_b64encode(hashlib.sha256(access_token.encode(errors="replace")).digest()[:16]).rstrip(b"=")
    if access_token and claims.get("at_hash", digest.decode()) != digest.decode():
        raise Refused("its at_hash is of another access token")
    return claims


def logout_token(token: object, keys: Keys, issuer: str, client: str) -> Claims:
    """Whose sign-in ended: `sid`, or else `sub`; when, by the issuer's clock: `iat`.

    The same token again ends nothing that the first did not, so `jti` is asked for but not remembered.
    """
    claims = verified(token, keys, issuer, client, ["jti", "events"])
    if not isinstance(claims["events"], dict) or not isinstance(claims["events"].get(LOGOUT), dict):
        raise Refused("it is no logout token: it does not tell of a logout")
    if "nonce" in claims:
        raise Refused("it is no logout token: it has a nonce")
    if int(claims["iat"]) < time.time() - LOGOUT_AGE:
        raise Refused("it was made long ago")
    ended = [claims[name] for name in ("sid", "sub") if name in claims]
    if not ended or not all(isinstance(each, str) and each for each in ended):
        raise Refused("it does not say whose sign-in ended")
    _azp(claims, client)
    return claims


def _azp(claims: Claims, client: str) -> None:
    """Of several audiences one must be named as the one that asked; where one is named, it must be us."""
    several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if claims.get("azp", None if several else client) != client:
        raise Refused("it was made for somebody else")
