"""Sessions that were ended elsewhere: asked for with the first thing that a page reads, and before any change."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from joobq_admin import connection
from joobq_admin.joobq.sessions import SessionOver
from joobq_admin.pages.sign_in import sign_in_first


class Sessions:
    """Middleware behind SignIn. While Redis is down nobody is signed out: there is nothing to read or to change."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        session = getattr(request, "session", None)
        if session is None:
            return self.get_response(request)
        with connection.while_signed_in(session.ids, session.at) as condition:
            response = self.get_response(request)
            if condition.tried:
                return response
            try:  # this page read nothing
                connection.ask()
            except SessionOver:
                return sign_in_first(request)
            except connection.TROUBLE:
                return response
            return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return sign_in_first(request) if isinstance(exception, SessionOver) else None
