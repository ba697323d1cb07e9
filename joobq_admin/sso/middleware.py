"""Closed by default: nobody unknown reaches a view."""

import logging
from collections.abc import Callable
from dataclasses import replace

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CSRF_SECRET_LENGTH
from django.urls import Resolver404, get_callable, resolve
from django.utils.crypto import salted_hmac

from joobq_admin.sso import dev, session
from joobq_admin.sso.fetch import Unavailable
from joobq_admin.sso.recent import is_recent
from joobq_admin.sso.roles import NotRecent, ReadOnly, User

GetResponse = Callable[[HttpRequest], HttpResponse]
log = logging.getLogger(__name__)

UNPROVEN = """401: nobody is signed in

This request carries no proof that it came through the sign-in of this dashboard, so nothing was done.
The dashboard is at {url}. If you did come by that address, its sign-in is not set up as it must be:
the dashboard's log says what is missing.
"""
NO_KEYS = """503: nobody can be recognised just now

The keys to what the proxy signs cannot be had. Nothing was done; try again in a moment.
"""
NOT_LOCAL = """403: this dashboard is open on its own machine only

It runs with JOOBQ_ADMIN_AUTH=dev, which signs in everybody, and this request is not local: {reason}.
For anybody else's eyes, run it behind a sign-in: JOOBQ_ADMIN_AUTH=oidc or proxy.
"""
OPEN = {"login", "callback", "logout", "signed-out", "backchannel-logout"}  # where one signs in and out by oidc


class SignIn:
    """Sets `request.user` for all that is behind it but where one signs in and out by oidc; then `request.session` too.

    Who is unknown gets plain words, no page, no redirect, no loop; with oidc what SIGN_IN_FIRST_VIEW answers.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if settings.AUTH == "oidc" and is_open(request):
            return self.get_response(request)
        who = WAYS[settings.AUTH](request)
        if isinstance(who, HttpResponse):
            return who
        request.user = who
        request.user = replace(who, recent=is_recent(request), read_only=settings.READ_ONLY)
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> None:
        """Somebody may not do what they asked for: that is for the log too. The answer is handler403's."""
        if isinstance(exception, PermissionDenied):
            why = {NotRecent: ": sign-in not recent", ReadOnly: ": read only"}.get(type(exception), "")
            log.warning(f"denied{why}", extra={"action": str(exception), **about(request), "user": request.user.sub})


def by_proxy(request: HttpRequest) -> User | HttpResponse:
    try:
        who = settings.PROXY.identify(request.META["REMOTE_ADDR"], request.headers)
    except Unavailable as error:
        return refused(request, 503, NO_KEYS, str(error))
    return who if isinstance(who, User) else refused(request, 401, UNPROVEN, who)


def by_loopback(request: HttpRequest) -> User | HttpResponse:
    picked = request.get_signed_cookie(dev.COOKIE, default="", salt=dev.COOKIE)
    who = dev.identify(request.META["REMOTE_ADDR"], request.headers.get("Host", ""), request.headers, picked)
    return who if isinstance(who, User) else refused(request, 403, NOT_LOCAL, who)


def by_session(request: HttpRequest) -> User | HttpResponse:
    if (found := session.read(request)) is None:
        answer: HttpResponse = get_callable(settings.SIGN_IN_FIRST_VIEW)(request)
        return answer
    request.session = found
    return found.user


WAYS = {"proxy": by_proxy, "dev": by_loopback, "oidc": by_session}


def is_open(request: HttpRequest) -> bool:
    try:
        return resolve(request.path_info).url_name in OPEN
    except Resolver404:
        return False


def refused(request: HttpRequest, status: int, words: str, reason: str) -> HttpResponse:
    log.warning("not signed in", extra={"reason": reason, **about(request)})
    text = words.format(url=settings.PUBLIC_URL, reason=reason)
    wait = {"Retry-After": "5"} if status == 503 else {}
    return HttpResponse(text, status=status, content_type="text/plain; charset=utf-8", headers=wait)


def about(request: HttpRequest) -> dict[str, str]:
    return {"method": request.method, "path": request.path, "peer": request.META["REMOTE_ADDR"]}


def one_token_a_person(get_response: GetResponse) -> GetResponse:
    """Two tabs that open at once get one token for their forms: of two that Django draws the browser keeps the last."""

    def answer(request: HttpRequest) -> HttpResponse:
        if hasattr(request, "user") and "CSRF_COOKIE" not in request.META:  # there Django has what the cookie holds
            theirs = salted_hmac("token of forms", request.user.sub).hexdigest()
            request.META["CSRF_COOKIE"] = theirs[:CSRF_SECRET_LENGTH]
        return get_response(request)

    return answer
