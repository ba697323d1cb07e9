"""Where somebody goes on after signing in or confirming it: a page of this dashboard, never another place."""

import posixpath
import re
from urllib.parse import unquote, urlencode, urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.urls import get_script_prefix, reverse
from django.utils.encoding import iri_to_uri
from django.utils.http import url_has_allowed_host_and_scheme

LONGEST = 2_000  # characters


def is_ours(path: str) -> bool:
    """Whether every browser reads it as a path of this dashboard, and not as one of signing in and out.

    With a step up it could be one of another application that has the same host.
    """
    if not path.startswith(get_script_prefix()) or path.startswith("//") or len(path) > LONGEST:
        return False
    if "\\" in path or not path.isprintable():
        return False
    meant = unquote(re.split(r"[?#]", path, maxsplit=1)[0])
    if not {".", ".."}.isdisjoint(meant.split("/")):
        return False
    return not f"{posixpath.normpath(meant)}/".startswith(f"{get_script_prefix()}auth/")


def ours(to: str | None) -> str:
    """A page of ours as a browser asks for it: this one, or the list."""
    return to if to and is_ours(to) and is_ours(to := iri_to_uri(to)) else reverse("entries")


def login_address(to: str, **more: str) -> str:
    """Of the sign-in by oidc, and from there to this page of ours."""
    return f"{reverse('login')}?{urlencode(({'next': to} if is_ours(to) else {}) | more)}"


def came_from(request: HttpRequest) -> str:
    """The path of the page that it was sent from; '' when that is not told, or not ours."""
    page = request.headers.get("HX-Current-URL") or request.headers.get("Referer", "")
    hosts = {request.get_host(), urlsplit(settings.PUBLIC.origin).netloc}  # a proxy may leave the port out of Host
    if not url_has_allowed_host_and_scheme(page, allowed_hosts=hosts):
        return ""
    path = urlsplit(page)._replace(scheme="", netloc="", fragment="").geturl()
    return path if is_ours(path) else ""
