"""Sign-ins that have begun, each a signed cookie of its own: two tabs that sign in at once both get to their pages."""

import hashlib
import secrets
import time
from base64 import urlsafe_b64encode
from dataclasses import astuple, dataclass

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse

LIFETIME = 600  # seconds
ROOM = 6_000  # characters of their cookies: servers take 8 kB of cookies in all
SALT = "sign-in that began"  # another, when the cookie holds something else: an old one must not be read as a new one


@dataclass(frozen=True, slots=True)
class Attempt:
    """`state` finds it again, `nonce` ties the id token to it, `verifier` the code (RFC 7636). All three follow from
    `secret`, of 128 bits: tabs that begin at one instant cannot drop each other's cookies, so thirty of them must fit.

    `next`: where to go then. `confirms`: somebody who is signed in shows again that it is them. `began`: unix seconds.
    """

    secret: str
    next: str
    confirms: bool
    began: float

    @property
    def state(self) -> str:
        return _digest(f"state {self.secret}")

    @property
    def nonce(self) -> str:
        return _digest(f"nonce {self.secret}")

    @property
    def verifier(self) -> str:
        return _digest(f"verifier {self.secret}")

    @property
    def challenge(self) -> str:
        return _digest(self.verifier)


def new(to: str, confirms: bool) -> Attempt:
    return Attempt(secrets.token_urlsafe(16), to, confirms, time.time())


def keep(request: HttpRequest, response: HttpResponse, attempt: Attempt) -> None:
    """In the browser that gets this response. The oldest go where there is no room for all."""
    value = signing.dumps(astuple(attempt), salt=SALT, compress=True)
    others = {name: _read(kept) for name, kept in request.COOKIES.items() if name.startswith(_name(""))}
    room = ROOM - len(value)
    for name, other in sorted(others.items(), key=lambda item: item[1].began if item[1] else 0, reverse=True):
        room -= len(name) + len(request.COOKIES[name])
        if other is None or room < 0:
            response.delete_cookie(name, samesite="Lax")
    response.set_cookie(
        _name(attempt.state), value, max_age=LIFETIME, secure=settings.SECURE, httponly=True, samesite="Lax"
    )


def of(request: HttpRequest, state: str) -> Attempt | None:
    """The attempt that this browser began with this state, if that was lately."""
    attempt = _read(request.COOKIES.get(_name(state), ""))
    return attempt if attempt and attempt.state == state else None


def forget(response: HttpResponse, attempt: Attempt) -> None:
    response.delete_cookie(_name(attempt.state), samesite="Lax")


def _digest(text: str) -> str:
    """SHA-256 as RFC 7636 writes it: 43 characters."""
    return urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def _read(value: str) -> Attempt | None:
    try:
        return Attempt(*signing.loads(value, salt=SALT, max_age=LIFETIME))
    except signing.BadSignature:
        return None


def _name(state: str) -> str:
    return f"{settings.COOKIE_PREFIX}sign-in-{state[:8]}"
