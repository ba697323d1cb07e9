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
MOST, ROOM = 5, 6_000  # attempts, and characters of their cookies: servers take 8 kB of cookies in all
SALT = "sign-in attempt"


@dataclass(frozen=True, slots=True)
class Attempt:
    """`state` finds it again, `nonce` ties the id token to it, `verifier` the code (RFC 7636).

    `next`: where to go then. `confirms`: somebody who is signed in shows again that it is them. `began`: unix seconds.
    """

    state: str
    nonce: str
    verifier: str
    next: str
    confirms: bool
    began: float

    @property
    def challenge(self) -> str:
        return urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()


def new(to: str, confirms: bool) -> Attempt:
    state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
    return Attempt(state, nonce, verifier, to, confirms, time.time())


def keep(request: HttpRequest, response: HttpResponse, attempt: Attempt) -> None:
    """In the browser that gets this response. The oldest go where there are too many."""
    value = signing.dumps(astuple(attempt), salt=SALT, compress=True)
    others = {name: _read(kept) for name, kept in request.COOKIES.items() if name.startswith(_prefix())}
    room, places = ROOM - len(value), MOST - 1
    for name, other in sorted(others.items(), key=lambda item: item[1].began if item[1] else 0, reverse=True):
        room, places = room - len(name) - len(request.COOKIES[name]), places - 1
        if other is None or room < 0 or places < 0:
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


def _read(value: str) -> Attempt | None:
    try:
        return Attempt(*signing.loads(value, salt=SALT, max_age=LIFETIME))
    except signing.BadSignature:
        return None


def _name(state: str) -> str:
    return _prefix() + hashlib.sha256(state.encode(errors="replace")).hexdigest()[:16]


def _prefix() -> str:
    return "__Host-sign-in-" if settings.SECURE else "sign-in-"
