"""A session: one signed cookie of under 1 kB, in one browser, that ends after JOOBQ_ADMIN_SESSION_HOURS.

Nothing is kept on our side, so a copy of the cookie outlives a sign-out: `ids` are what an ended session is found by.
"""

import hashlib
import json
import secrets
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse

from joobq_admin.sso.roles import Role, User

SALT = "session"  # another, when the cookie holds something else: an old one must not be read as a new one
NAME_BYTES = 240


@dataclass(frozen=True, slots=True)
class Session:
    """`id`: random, the same while one person stays signed in in one browser. `at`: when its token was made, by the
    issuer's clock, unix seconds. `auth_time`: when they last showed who they are; 0 where the issuer does not tell.
    `sid`: of the issuer's own session, as `ended_by` gives it; '' where there is none.
    """

    sub: str
    name: str
    role: Role | None
    auth_time: int
    id: str
    at: int
    sid: str = ""

    @property
    def user(self) -> User:
        return User(self.sub, self.name, self.role, self.auth_time)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.id, self.sid, ended_by(sub=self.sub))))


def new_id() -> str:
    return secrets.token_urlsafe(16)


def ended_by(*, sub: str = "", sid: str = "") -> str:
    """The id by which all sessions of somebody end, or all that belong to one session of the issuer."""
    kind, value = ("sid", sid) if sid else ("sub", sub)
    return hashlib.sha256(f"{kind} {value}".encode(errors="surrogatepass")).hexdigest()[:32]


def read(request: HttpRequest) -> Session | None:
    """None: nobody, or a session that is over, or a cookie that we did not make."""
    try:
        said = signing.loads(
            request.COOKIES.get(_name(), ""), salt=_salt(), serializer=_Compact, max_age=settings.SESSION_HOURS * 3600
        )
    except signing.BadSignature:
        return None
    sub, name, role, *rest = said
    return Session(sub, name, Role[role] if role else None, *rest)


def write(response: HttpResponse, session: Session) -> None:
    """Signs them in, in the browser that gets this response, whatever was before."""
    name = session.name.encode(errors="replace")[:NAME_BYTES].decode(errors="ignore")
    role = session.role.name if session.role else ""
    said = [session.sub, name, role, session.auth_time, session.id, session.at, session.sid]
    response.set_cookie(
        _name(),
        signing.dumps(said, salt=_salt(), serializer=_Compact),
        max_age=settings.SESSION_HOURS * 3600,
        secure=settings.SECURE,
        httponly=True,
        samesite="Lax",
    )


def end(response: HttpResponse) -> None:
    response.delete_cookie(_name(), samesite="Lax")


def _salt() -> str:
    """A `sub` is somebody to one issuer only: to another it may be somebody else."""
    return f"{SALT} of {settings.OIDC.client_id} at {settings.OIDC.issuer}"


def _name() -> str:
    return f"{settings.COOKIE_PREFIX}session"


class _Compact:
    """JSON in UTF-8: a name in another script is no longer than it must be."""

    def dumps(self, said: Any) -> bytes:
        return json.dumps(said, separators=(",", ":"), ensure_ascii=False).encode()

    def loads(self, text: bytes) -> Any:
        return json.loads(text)
