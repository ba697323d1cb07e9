"""What every answer tells the browser, and the one charset that forms may come in."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

GetResponse = Callable[[HttpRequest], HttpResponse]


def content_security_policy(get_response: GetResponse) -> GetResponse:
    """Sends SECURE_CSP, written as Django 6 reads it: this goes when django.middleware.csp is there."""
    policy = "; ".join(f"{directive} {' '.join(sources)}" for directive, sources in settings.SECURE_CSP.items())

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response["Content-Security-Policy"] = policy
        return response

    return answer


def private(get_response: GetResponse) -> GetResponse:
    """What is answered is for one reader, now: kept nowhere, told apart by fragment and cookie, without any device."""

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response["Cache-Control"] = "no-store, private"
        response["Permissions-Policy"] = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"
        patch_vary_headers(response, ["HX-Request", "Cookie"])
        return response

    return answer


def forms_in_utf_8(get_response: GetResponse) -> GetResponse:
    """Pages are in UTF-8, and so is what their forms send. Django would look any other name up in Python's codecs."""

    def answer(request: HttpRequest) -> HttpResponse:
        if (request.content_params or {}).get("charset", "utf-8").lower() != "utf-8":
            return HttpResponse("400: forms are sent in UTF-8 here\n", status=400, content_type="text/plain")
        return get_response(request)

    return answer
