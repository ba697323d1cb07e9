"""More than people and our pages ever send: refused in words, before anything is read or done. No press is lost."""

import logging
import math
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from joobq_admin.pages import answer
from joobq_admin.pages.answer import TooMuch
from joobq_admin.sso.roles import Action

log = logging.getLogger(__name__)

LONGEST_QUERY = 6_000  # bytes; with its path an address stays below the 8,190 of the server
PRESSES = 60  # that somebody may do at once, in this process
A_SECOND = 20  # and from then on; what goes on in steps, a repair or a purge of one queue, takes up to 8 of them
MOST_PEOPLE = 1_000


class Allowance:
    """What is left to each person: `PRESSES` at most, and `A_SECOND` more with time. For any number of threads."""

    def __init__(self) -> None:
        self._left: dict[str, tuple[float, float]] = {}  # person -> presses, and when that was so
        self._lock = Lock()

    def ask(self, person: str, now: float) -> float:
        """One press more: 0 when it may be done, else for how many seconds it may not. `now`: in seconds."""
        with self._lock:
            left = self._now(person, now)
            if left < 1:
                return (1 - left) / A_SECOND
            self._left[person] = left - 1, now
            if len(self._left) > MOST_PEOPLE:
                self._left = {one: kept for one, kept in self._left.items() if self._now(one, now) < PRESSES}
        return 0

    def _now(self, person: str, now: float) -> float:
        left, at = self._left.get(person, (PRESSES, now))
        return min(PRESSES, left + (now - at) * A_SECOND)


allowance = Allowance()


class Limits:
    """Middleware behind that of forms' tokens."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if len(request.META.get("QUERY_STRING", "")) > LONGEST_QUERY:
            raise TooMuch(
                f"This address is longer than {LONGEST_QUERY:,} bytes behind its “?”. Look for something shorter."
            )
        if int(request.META.get("CONTENT_LENGTH") or 0) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            raise TooMuch("This form is larger than any of this dashboard.")
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        action: Action | None = vars(view).get("needs")
        if request.method != "POST" or action in (None, Action.VIEW):
            return None
        wait = allowance.ask(request.user.sub, monotonic())
        return too_many(request, action, math.ceil(wait)) if wait else None


def too_many(request: HttpRequest, action: Action | None, seconds: int) -> HttpResponse:
    """The same press again stands on a button: with the same operation, so it is done once at most."""
    log.warning("too many presses", extra={"action": str(action), "user": request.user.sub})
    posted: Any = request.POST
    fields = [(name, value) for name, values in posted.lists() for value in values if name != "csrfmiddlewaretoken"]
    context = {"title": "Too many presses", "url": request.get_full_path(), "fields": fields, "seconds": seconds}
    if answer.wants(request, "action"):
        response = answer.fragment(request, "errors/_too_many.html", context, status=503)
    else:
        response = answer.page(request, "errors/too_many.html", context | {"plain": True}, status=503, read=False)
    response["Retry-After"] = str(seconds)
    return response
