"""Signing in, as far as it is ours: the role picker of JOOBQ_ADMIN_AUTH=dev, and the confirmation of a sign-in."""

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from joobq_admin.pages import answer
from joobq_admin.sso import dev, recent
from joobq_admin.sso.roles import Action, needs
from joobq_admin.sso.way_back import is_ours


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
    to = request.POST.get("next", "")
    return HttpResponseRedirect(to if is_ours(to) else reverse("entries"), status=303)
