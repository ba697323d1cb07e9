"""Each request is a line of the log, and whatever is logged while it is answered has its id."""

import logging
import re
from collections.abc import Callable
from time import monotonic
from uuid import uuid4

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from joobq_admin.log_lines import request_id
from joobq_admin.pages.health import PROBES

log = logging.getLogger(__name__)

_sound = re.compile(r"[\w.:+=/@-]{1,128}", re.ASCII).fullmatch


def log_requests(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware before all others. The id is that of X-Request-ID, if it is one, else our own; the answer tells it.

    Of the address only its path is logged: a query or a form may hold what is not for a log. Probes and static files
    are lines for debugging.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-ID", "")
        request.id, began = given if _sound(given) else uuid4().hex, monotonic()
        token = request_id.set(request.id)
        try:
            response = get_response(request)
            response["X-Request-ID"] = request.id
            told = {"method": request.method, "path": request.path, "status": response.status_code}
            who = getattr(request, "user", None)
            told |= {"ms": round((monotonic() - began) * 1000), "user": who.sub if who else ""}
            log.log(logging.DEBUG if _is_quiet(request) else logging.INFO, "answered", extra=told)
        finally:
            request_id.reset(token)
        return response

    return answer


def _is_quiet(request: HttpRequest) -> bool:
    return request.path_info in PROBES or request.path.startswith(settings.STATIC_URL)
