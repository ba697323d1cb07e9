"""Is a sign-in recent? What cannot be undone asks for one of the last JOOBQ_ADMIN_REAUTH_MINUTES.

A sign-in without a clock of its own (a proxy's, or dev's) counts as recent after its user has confirmed it: in a signed
cookie, which is worth nothing to anybody else.
"""

import time

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from joobq_admin.sso.roles import User


def is_recent(request: HttpRequest) -> bool:
    """By the clock of the sign-in of `request.user`, if it has one; else by what was confirmed."""
    user: User = request.user
    if user.auth_time is not None:
        return time.time() - user.auth_time <= _seconds()
    return bool(request.get_signed_cookie(_cookie(), default="", salt=_salt(user), max_age=_seconds()))


def confirm(response: HttpResponse, user: User) -> None:
    """From now on this user's sign-in is recent, in the browser that gets this response."""
    response.set_signed_cookie(
        _cookie(), "1", salt=_salt(user), max_age=_seconds(), secure=settings.SECURE, httponly=True, samesite="Lax"
    )


def _cookie() -> str:
    return f"{settings.COOKIE_PREFIX}confirmed"


def _salt(user: User) -> str:
    return f"confirmed by {user.sub}"


def _seconds() -> int:
    minutes: int = settings.REAUTH_MINUTES
    return minutes * 60
