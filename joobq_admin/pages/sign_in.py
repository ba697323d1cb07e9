"""Signing in, as far as it is ours: the role picker of JOOBQ_ADMIN_AUTH=dev."""

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from joobq_admin.sso import dev


@require_POST
def dev_role(request: HttpRequest) -> HttpResponse:
    """Takes `role`, a key of dev.ROLES, and goes back to `next`. Open to every role, since one of them is none."""
    role, back = request.POST.get("role"), request.POST.get("next", "")
    if settings.AUTH != "dev":
        raise Http404
    if role not in dev.ROLES:
        raise BadRequest("no such role")
    answer = HttpResponseRedirect(back if ours(back) else reverse("entries"), status=303)
    answer.set_signed_cookie(dev.COOKIE, role, salt=dev.COOKIE, httponly=True, samesite="Lax")
    return answer


def ours(path: str) -> bool:
    """Whether it is a path on this host, of up to 2,000 characters, that every browser reads as one."""
    whole = path.startswith("/") and path.isprintable() and len(path) <= 2000
    return whole and url_has_allowed_host_and_scheme(path, allowed_hosts=None)
