"""What machines ask. They are not signed in and may call us by any name, so this stands before both checks."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from joobq_admin import connection
from joobq_admin.joobq import refusals

Answer = Callable[[HttpRequest], HttpResponse]


def healthz(request: HttpRequest) -> HttpResponse:
    """Does this process answer? Redis does not matter: to start it anew would not bring Redis back."""
    return HttpResponse("ok\n", content_type="text/plain")


def readyz(request: HttpRequest) -> HttpResponse:
    """Does Redis answer this process, and is it one that we can work on? If not, why: in words, with 503."""
    try:
        amiss = connection.shortcoming()
    except connection.TROUBLE as trouble:
        said = refusals.said(trouble)
        amiss = f"Redis says: {said}" if said else "Redis does not answer"
    if amiss is None:
        return HttpResponse("ok\n", content_type="text/plain")
    return HttpResponse(f"{amiss}\n", content_type="text/plain", status=503, headers={"Retry-After": "5"})


PROBES = {"/healthz": healthz, "/readyz": readyz}


def probes(get_response: Answer) -> Answer:
    """Middleware that answers the probes and passes on all else."""
    return lambda request: PROBES.get(request.path_info, get_response)(request)
