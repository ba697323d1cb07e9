"""Why nothing can be changed just now: because it is set so, or because Redis said so when the page was read."""

from collections.abc import Callable
from typing import NamedTuple

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from joobq_admin import connection
from joobq_admin.joobq.outcome import Refusal
from joobq_admin.pages import words
from joobq_admin.sso.roles import Action


class Off(NamedTuple):
    """What stands beside buttons that do nothing."""

    heading: str
    text: str


LOOK_AGAIN = "Load this page again to see whether it does."
NOT_ALLOWED = f"Its user may not take entries out of dead letters. {words.ENGINEER}"


def asks_redis(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware behind SignIn: what is read for somebody who may change things asks whether that can be done."""

    def answer(request: HttpRequest) -> HttpResponse:
        user = getattr(request, "user", None)
        if not user or not user.can(Action.REDRIVE) or user.read_only:
            return get_response(request)
        with connection.asking_for_changes() as request.changes:
            return get_response(request)

    return answer


def off(request: HttpRequest) -> Off | None:
    """Why the buttons of this page are off; None while they are not."""
    if settings.READ_ONLY:
        return Off("Read only", words.nobody_changes())
    question = getattr(request, "changes", None)
    refusal = connection.refused(question) if question else None
    if refusal is Refusal.NOT_ALLOWED:
        return Off("Redis does not allow changes", NOT_ALLOWED)
    return Off("Redis takes no changes now", f"It said {refusal}. {LOOK_AGAIN}") if refusal else None
