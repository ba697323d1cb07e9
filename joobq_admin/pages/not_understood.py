"""What an address got wrong, in words of its own, with a way on: nothing of it is dropped in silence."""

from collections.abc import Callable
from functools import wraps

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse

from joobq_admin.pages import answer
from joobq_admin.pages.answer import Problem
from joobq_admin.pages.tokens import plain
from joobq_admin.sso.roles import View


def not_understood(request: HttpRequest, wrong: BadRequest, nav: str, label: str) -> HttpResponse:
    """`nav`: the name of the page that the way on leads to."""
    text = f"{plain(str(wrong), 600)} Nothing was looked for."
    links = ((reverse(nav), label, ""),)
    return answer.problem(
        request, Problem(400, "Not understood", "This request makes no sense here", text, links=links), nav=nav
    )


def tells_what_is_wrong(nav: str, label: str) -> Callable[[View], View]:
    def of(view: View) -> View:
        @wraps(view)
        def tells(request: HttpRequest) -> HttpResponseBase:
            try:
                return view(request)
            except BadRequest as wrong:
                return not_understood(request, wrong, nav, label)

        return tells

    return of
