"""How everything is answered: a page or a fragment, its status, and the pages for what went wrong."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest, RequestDataTooBig, TooManyFieldsSent
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import escape_leading_slashes

from joobq_admin import connection
from joobq_admin.joobq import refusals
from joobq_admin.pages import reader, times, words
from joobq_admin.pages.counts import Rail
from joobq_admin.pages.links import Link
from joobq_admin.pages.read_only import off
from joobq_admin.pages.reader import Reader
from joobq_admin.sso import dev
from joobq_admin.sso.roles import Action, NotRecent, ReadOnly, Role, User, View, needs
from joobq_admin.sso.way_back import came_from, login_address

RETRY_AFTER = 5  # seconds


@dataclass(frozen=True, slots=True)
class Me:
    """Who is signed in, as every page says it."""

    name: str
    initials: str
    role: str
    reads: bool  # may look at pages, so choose how they look


@dataclass(frozen=True, slots=True)
class Shell:
    """What stands around every page. `rail`: the queues with their counts; None where they were not read."""

    reader: Reader
    environment: str
    at: str
    here: str
    me: Me | None
    auth: str
    sign_out: str  # of the proxy, where it has one
    roles: list[tuple[str, str, bool]]
    nav: str = ""
    rail: Rail | None = None
    read: bool = True
    down: bool = False


def shell(request: HttpRequest, **more: Any) -> Shell:
    user = getattr(request, "user", None)
    role = str(user.role) if user and user.role else "no role"
    return Shell(
        reader=reader.of(request),
        environment=settings.ENVIRONMENT,
        at=times.named(times.now()),
        here=looked_at(request),
        me=Me(user.name, user.initials, role, user.can(Action.VIEW)) if user else None,
        auth=settings.AUTH,
        sign_out=settings.PROXY_LOGOUT_URL if settings.AUTH == "proxy" else "",
        roles=[(word, str(of or "no role"), bool(user and user.role == of)) for word, of in dev.ROLES.items()],
        **more,
    )


def looked_at(request: HttpRequest) -> str:
    """The address to come back to: this one, or after a press the list."""
    return request.get_full_path() if request.method == "GET" else reverse("entries")


def page(
    request: HttpRequest, template: str, context: dict[str, Any], *, status: int = 200, **more: Any
) -> HttpResponse:
    """A whole page; `more`: fields of its shell."""
    return fragment(request, template, {"shell": shell(request, **more), **context}, status=status)


def fragment(request: HttpRequest, template: str, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    """One element with a fixed id, that htmx puts in the place of the old one; no shell around it."""
    return _with_status(render(request, template, {"off": off(request), **context}), status)


def dialog(request: HttpRequest, template: str, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    """A fragment that asks before anything is done, wherever the answer was to go."""
    response = fragment(request, template, context, status=status)
    response["HX-Retarget"], response["HX-Reswap"] = "#dialog", "innerHTML"
    return response


def wants(request: HttpRequest, target: str) -> bool:
    """Does htmx ask for the element of this id?"""
    htmx: Any = getattr(request, "htmx", None)
    return bool(htmx) and htmx.target == target


def _with_status(response: HttpResponse, status: int) -> HttpResponse:
    response.status_code = status
    if status == 503:
        response["Retry-After"] = str(RETRY_AFTER)
    return response


# -- what went wrong


class TooMuch(BadRequest):
    """A request larger than what pages of ours send. The words are for its reader."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that went wrong, as a page, or as a slip when it happened in answer to a press."""

    code: int
    title: str
    heading: str
    text: str
    facts: tuple[tuple[str, str, str], ...] = ()
    links: tuple[Link, ...] = ()
    tone: str = "warn"
    icon: str = "warn"


def problem(request: HttpRequest, what: Problem, **more: Any) -> HttpResponse:
    """The page of an error. In answer to a press it is the slip; any other fragment is loaded again as a page."""
    if wants(request, "action"):
        return fragment(request, "dead_letters/actions/_told.html", {"x": what}, status=what.code)
    answer = page(request, "errors/error.html", {"title": what.title, "x": what}, status=what.code, read=False, **more)
    if getattr(request, "htmx", False) and request.method == "GET":
        answer["HX-Redirect"] = escape_leading_slashes(request.get_full_path())
    return answer


def home() -> Link:
    return reverse("entries"), "Dead letters", ""


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    text = "A part of this address or form is not of a form that this dashboard writes. Nothing was done."
    if isinstance(exception, TooMuch):
        text = f"{exception} Nothing was done."
    elif isinstance(exception, RequestDataTooBig | TooManyFieldsSent):
        text = "This form holds more than any of this dashboard. Nothing was done."
    return problem(request, Problem(400, "Not understood", "This request makes no sense here", text, links=(home(),)))


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    text = "This dashboard has no page at this address."
    return problem(request, Problem(404, "No such page", "No such page", text, links=(home(),)))


def server_error(request: HttpRequest) -> HttpResponse:
    text = (
        "This dashboard made a mistake. After a press of a button look at the entry again: it may or may not be done."
    )
    facts = (("Request", request.id, "by this its log tells what went wrong"),)
    return problem(
        request, Problem(500, "Our mistake", "Something is wrong with this dashboard", text, facts, links=(home(),))
    )


def denied(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Somebody is signed in, and may not do this, or not by a sign-in of so long ago."""
    if isinstance(exception, NotRecent):
        return not_recent(request)
    if isinstance(exception, ReadOnly):
        text = f"Nothing was done. {words.nobody_changes()}"
        return problem(request, Problem(403, "Read only", "Read only", text, links=(home(),), tone="mute", icon="lock"))
    user: User = request.user
    if user.role is None:
        return no_role(request, user)
    action = exception.args[0] if exception else Action.REDRIVE
    alone = words.reads_only("ledger" if action in words.OF_A_LEDGER else "entry")
    heading = alone if user.role is Role.VIEWER else f"This needs {action.role}"
    text = f"Nothing was done. {words.may_not(user, action)}"
    what = Problem(403, "Not allowed", heading, text, links=(home(),), tone="mute", icon="lock")
    return problem(request, what)


def no_role(request: HttpRequest, user: User) -> HttpResponse:
    text = "Your groups do not include one that may see dead letters."
    facts = (
        ("Signed in as", user.name, ""),
        ("Needed", "one of the groups set for viewer, operator or admin", ""),
        *((("Ask", settings.SUPPORT_CONTACT, ""),) if settings.SUPPORT_CONTACT else ()),
    )
    anew = login_address(looked_at(request))
    links = ((anew, "Sign in again", ""),) if settings.AUTH == "oidc" else ()  # with the groups of now
    return problem(request, Problem(403, "No access", "You are signed in, but have no role here", text, facts, links))


@dataclass(frozen=True, slots=True)
class Confirm:
    """Asks whoever is not recently signed in to confirm it, in ui/_confirm.html. `next`: where they go then."""

    next: str
    done: str = ""  # what became of the press
    minutes: int = settings.REAUTH_MINUTES
    environment: str = settings.ENVIRONMENT

    @property
    def login(self) -> str:
        """Where the provider asks them anew; '' where their own word is all there is."""
        return login_address(self.next, confirms="1") if settings.AUTH == "oidc" else ""


def not_recent(request: HttpRequest) -> HttpResponse:
    """In answer to htmx it is a dialog, wherever the answer was to go; else a page."""
    done = "Nothing was done. Press again afterwards."
    context = {"confirm": Confirm(came_from(request) or reverse("entries"), done), "title": "Confirm"}
    if not getattr(request, "htmx", False):
        return page(request, "errors/confirm.html", context, status=403, read=False)
    return dialog(request, "ui/_confirm_dialog.html", context, status=403)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """The form's token is not of this browser's cookie: most often because somebody signed in anew in another tab."""
    link = (came_from(request) or reverse("entries"), "Load the page again", "primary")
    text = "Nothing was done. Load the page again and press once more."
    return problem(request, Problem(403, "Reload", "Your sign-in is newer than this page", text, links=(link,)))


class RedisTrouble:
    """Middleware: what reading may raise becomes a page that says so. The next request tries again."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return redis_trouble(request, exception) if isinstance(exception, connection.TROUBLE) else None


def redis_trouble(request: HttpRequest, trouble: Exception) -> HttpResponse:
    if said := refusals.said(trouble):
        title, heading, why = "Redis refuses", "Redis does not let us read", ("Redis said", said, "")
        text = "It answers, but not with what this page shows. Nothing was changed."
    else:
        title = heading = "Redis does not answer"
        why = ("Error", refusals.silence(trouble), "")
        text = "All that this dashboard shows lives in Redis, so there is nothing to show until it answers."
    facts = (("Server", connection.address(), ""), why, ("Tried", times.named(times.now()), ""))
    links = ((looked_at(request), "Try now", "primary"),)
    return problem(request, Problem(503, title, heading, text, facts, links), down=True)


@needs(Action.VIEW)
def to_the_list(request: HttpRequest) -> HttpResponse:
    return HttpResponseRedirect(reverse("entries"))


def only_pressed(view: View) -> View:
    """An action: anything but POST on its URL does nothing and leads whoever may read to the list."""

    @wraps(view)
    def pressed(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return view(request, *args, **kwargs) if request.method == "POST" else to_the_list(request)

    return pressed
