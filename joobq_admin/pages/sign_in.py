"""Signing in and out by the company's OpenID provider, and what is ours of the other ways."""

import logging
from dataclasses import replace
from functools import wraps
from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from joobq_admin import connection
from joobq_admin.pages import answer
from joobq_admin.pages.links import Link
from joobq_admin.sso import attempts, dev, oidc, recent, session
from joobq_admin.sso.fetch import Unavailable
from joobq_admin.sso.roles import Action, View, needs
from joobq_admin.sso.tokens import Refused
from joobq_admin.sso.way_back import came_from, login_address, ours

log = logging.getLogger(__name__)


@require_POST
def dev_role(request: HttpRequest) -> HttpResponse:
    """Takes `role`, a key of dev.ROLES, and goes back to `next`. Open to every role, since one of them is none."""
    role = request.POST.get("role")
    if settings.AUTH != "dev":
        raise Http404
    if role not in dev.ROLES:
        raise BadRequest("no such role")
    response = _back(request)
    response.set_signed_cookie(dev.COOKIE, role, salt=dev.COOKIE, httponly=True, samesite="Lax")
    return response


@answer.only_pressed
@needs(Action.VIEW)
def confirm(request: HttpRequest) -> HttpResponse:
    """Makes the sign-in recent, and goes back to `next`."""
    response = _back(request)
    recent.confirm(response, request.user)
    return response


def _back(request: HttpRequest) -> HttpResponse:
    return HttpResponseRedirect(ours(request.POST.get("next")), status=303)


# -- by oidc; nobody is signed in here yet, so none of these says what it needs


def by_oidc(view: View) -> View:
    """There is nothing at this address where others sign people in."""

    @wraps(view)
    def only(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        if settings.AUTH != "oidc":
            raise Http404
        return view(request, *args, **kwargs)

    return only


def sign_in_first(request: HttpRequest) -> HttpResponse:
    """The answer to whoever is not signed in, or not any more. A press is told that it did nothing."""
    looks = request.method in ("GET", "HEAD")
    if getattr(request, "htmx", False):  # a redirect would put the sign-in into the page
        lost = {} if looks else {"pressed": "1"}
        return HttpResponse(status=401, headers={"HX-Redirect": login_address(came_from(request), **lost)})
    if looks:
        return HttpResponseRedirect(login_address(request.get_full_path()))
    return _pressed(request, came_from(request))


def _pressed(request: HttpRequest, to: str) -> HttpResponse:
    heading = "You are signed out. Your press did nothing"
    text = "Sign in, look at the page again, and press once more."
    return _door(request, 401, heading, text, (login_address(to), "Sign in", "primary"))


@by_oidc
@require_safe
def login(request: HttpRequest) -> HttpResponse:
    """Leads to the provider, and from there to `next`. `confirms=1`: who is signed in shows again that it is them."""
    to = request.GET.get("next", "")
    if "pressed" in request.GET:
        return _pressed(request, to)
    attempt = attempts.new(ours(to), confirms="confirms" in request.GET)
    try:
        response = HttpResponseRedirect(oidc.provider().address(attempt, _public("callback")))
    except Unavailable as error:
        return _no_provider(request, to, error)
    attempts.keep(request, response, attempt)
    return response


@by_oidc
@require_safe
def callback(request: HttpRequest) -> HttpResponse:
    """Where the provider leads back to: signs in who it says, and goes on."""
    attempt = attempts.of(request, request.GET.get("state", ""))
    if attempt is None:
        text = "It began in another browser or over 10 minutes ago, or it is done already."
        return _door(request, 400, "This sign-in is over", text, (reverse("home"), "Open dead letters", "primary"))
    try:
        found = oidc.provider().signed_in(attempt, request.GET.dict(), _public("callback"))
    except Unavailable as error:
        return _no_provider(request, attempt.next, error)
    except Refused as error:
        log.warning("sign-in refused", extra={"reason": str(error), "peer": request.META["REMOTE_ADDR"]})
        response = _refused(request, attempt, isinstance(error, oidc.NotAsked))
    else:
        before = session.read(request)
        if attempt.confirms and before and before.sub == found.sub:
            found = replace(found, id=before.id)  # one sign-out ends both
        log.info("signed in", extra={"user": found.sub, "role": str(found.role or "none")})
        response = HttpResponseRedirect(attempt.next)
        session.write(response, found)
    attempts.forget(response, attempt)
    return response


def _refused(request: HttpRequest, attempt: attempts.Attempt, not_asked: bool) -> HttpResponse:
    host = settings.OIDC.host
    if not_asked:
        text = f"{host} did not say that it has just asked you who you are. Nothing was done."
        return _door(request, 403, "That was no fresh sign-in", text, (attempt.next, "Back to the page", "primary"))
    text = f"{host} did not prove to this dashboard who you are. The dashboard's log says why."
    again = (login_address(attempt.next), "Sign in again", "primary")
    return _door(request, 403, "You were not signed in", text, again)


def _no_provider(request: HttpRequest, to: str, why: Unavailable) -> HttpResponse:
    log.error("the provider does not answer as it must", extra={"reason": str(why)})
    text = f"{settings.OIDC.host} does not answer, or not as it must. Whoever is signed in goes on working."
    return _door(request, 503, "Nobody can sign in just now", text, (login_address(to), "Try again", "primary"))


@by_oidc
def logout(request: HttpRequest) -> HttpResponse:
    """Ends the session. The provider's own is left by a link: browsers let no form of ours lead to another site."""
    if request.method != "POST":
        return HttpResponseRedirect(reverse("entries"))
    found, host, more = session.read(request), settings.OIDC.host, ""
    if found:
        try:
            connection.end_sessions(found.id)
        except connection.TROUBLE:
            more = f" Redis could not be told: a copy of your sign-in stays good for up to {settings.SESSION_HOURS} h."
        log.info("signed out", extra={"user": found.sub})
    away = oidc.provider().sign_out_address(_public("signed-out"))
    links = ((away, f"Sign out of {host} too", "primary"),) if away else ((reverse("login"), "Sign in again", ""),)
    response = _door(request, 200, "Signed out here", f"Your session at {host} may still be open.{more}", *links)
    session.end(response)
    return response


@by_oidc
@require_safe
def signed_out(request: HttpRequest) -> HttpResponse:
    """Where the provider leads back to, after one has signed out of it too."""
    if session.read(request):
        return HttpResponseRedirect(reverse("entries"))
    return _door(request, 200, "Signed out", "You can close this page.", (reverse("login"), "Sign in again", ""))


@csrf_exempt
@by_oidc
@require_POST
def backchannel_logout(request: HttpRequest) -> HttpResponse:
    """The provider itself says that somebody signed out of it. 400: it did not; 503: it is to say so again."""
    try:
        connection.end_sessions(*oidc.provider().ended(request.POST.get("logout_token", "")))
    except Refused as error:
        log.warning("logout refused", extra={"reason": str(error), "peer": request.META["REMOTE_ADDR"]})
        return JsonResponse({"error": "invalid_request"}, status=400)
    except (Unavailable, *connection.TROUBLE) as error:
        log.error("a logout could not be kept", extra={"reason": str(error)})
        return JsonResponse({"error": "temporarily_unavailable"}, status=503)
    return HttpResponse()


def _public(name: str) -> str:
    """The address of a view as the provider and its registration of us have it."""
    return f"{settings.PUBLIC.origin}{reverse(name)}"


def _door(request: HttpRequest, status: int, heading: str, text: str, *links: Link) -> HttpResponse:
    """What stands before the dashboard: a few words, a way on, and whom to ask unless all is well."""
    support = "" if status == 200 else settings.SUPPORT_CONTACT
    context = {"title": heading, "text": text, "links": links, "support": support}
    return answer.page(request, "auth/door.html", context, status=status, read=False)
