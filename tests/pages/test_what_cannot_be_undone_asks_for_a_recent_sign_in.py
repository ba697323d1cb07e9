"""A sign-in without a clock counts as recent for a while after it was confirmed, for its user and in that browser."""

import re
from collections.abc import Callable, Iterator
from http.cookies import SimpleCookie
from types import SimpleNamespace

import pytest
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.test import Client, RequestFactory

from joobq_admin.pages import answer
from joobq_admin.sso import recent, way_back
from joobq_admin.sso.roles import RECENT, Action, NotRecent, Role, User, needs
from tests.support.dashboard import Dashboard, signed_in
from tests.support.html import elements, says
from tests.support.servers import Server
from tests.support.wire import ask

NOW = 1_800_000_000
ADMIN = User("ada", "Ada", Role.ADMIN)
pytestmark = pytest.mark.usefixtures("with_django")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    clock = SimpleNamespace(now=NOW)
    monkeypatch.setattr("time.time", lambda: clock.now)
    return clock


def asking(user: User, cookies: str = "") -> object:
    request = RequestFactory().post("/", headers={"Cookie": cookies} if cookies else {})
    request.user = user
    return request


def confirmed(user: User) -> str:
    """The cookie of a confirmation, as the browser sends it back."""
    response = HttpResponse()
    recent.confirm(response, user)
    return "; ".join(f"{name}={morsel.coded_value}" for name, morsel in response.cookies.items())


def test_a_sign_in_with_a_clock_is_recent_by_it_and_by_nothing_else(clock: SimpleNamespace) -> None:
    cookie = confirmed(ADMIN)
    for age, is_recent in ((0, True), (900, True), (901, False), (10**6, False)):
        user = User("ada", "Ada", Role.ADMIN, auth_time=NOW - age)
        assert recent.is_recent(asking(user, cookie)) == is_recent


def test_one_without_is_recent_for_fifteen_minutes_after_it_was_confirmed(clock: SimpleNamespace) -> None:
    assert not recent.is_recent(asking(ADMIN))
    cookie = confirmed(ADMIN)
    for later, is_recent in ((0, True), (899, True), (901, False)):
        clock.now = NOW + later
        assert recent.is_recent(asking(ADMIN, cookie)) == is_recent


def test_a_confirmation_is_worth_nothing_to_another_user_nor_changed(clock: SimpleNamespace) -> None:
    cookie = confirmed(ADMIN)
    assert not recent.is_recent(asking(User("vera", "Ada", Role.ADMIN), cookie))
    for forged in ("confirmed=1", cookie[:-1], cookie.replace("=1:", "=2:"), cookie.replace("confirmed", "dev-role")):
        assert not recent.is_recent(asking(ADMIN, forged))


@pytest.mark.parametrize("action", Action)
def test_a_press_of_what_cannot_be_undone_runs_by_a_recent_sign_in_alone(action: Action) -> None:
    view = needs(action)(lambda request: "done")

    def answer(user: User, method: str) -> str:
        return str(view(SimpleNamespace(user=user, method=method)))

    assert answer(ADMIN, "GET") == "done"
    assert answer(User("ada", "Ada", Role.ADMIN, recent=True), "POST") == "done"
    if action in RECENT:
        with pytest.raises(NotRecent) as refused:
            answer(ADMIN, "POST")
        assert refused.value.args == (action,)
        with pytest.raises(PermissionDenied) as denied:
            answer(User("otto", "Otto", Role.OPERATOR, recent=True), "POST")
        assert not isinstance(denied.value, NotRecent)
    else:
        assert answer(ADMIN, "POST") == "done"


OURS = ["/", "/dead-letters/?queue=%C3%A9&q=a%26b", "/jobs/a/b/", "/authors", "/jobs/auth/", "/x?next=/auth/login",
        "/" + "a" * 1999]  # fmt: skip
NOT_OURS = [
    "", "dead-letters/", "//evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example", "/a\\b",
    "https:evil.example", "https://evil.example/", "javascript:alert(1)", "/\t/evil.example", "/a\r\nSet-Cookie: x=1",
    "/a\u2028b", " //evil.example", "/" + "a" * 2000, "/auth", "/auth/", "/auth/confirm", "/%61uth/login",
    "/jobs/../auth/login", "/jobs/%2e%2e/auth/login", "/./auth/login?x", "/auth#", "/\ud800", "/../x",
    "/jobs/..", "/jobs/%2E./x", "/.//evil.example", "/a/..//evil.example", "/%2e%2e?x",
]  # fmt: skip


def test_the_way_on_is_a_page_of_this_dashboard() -> None:
    assert [path for path in OURS if not way_back.is_ours(path)] == []
    assert [path for path in NOT_OURS if way_back.is_ours(path)] == []


REFERERS = {
    "http://127.0.0.1/jobs/a/?after=1#x": "/jobs/a/?after=1",
    "http://127.0.0.1": "/dead-letters/",
    "http://127.0.0.1/auth/confirm": "/dead-letters/",
    "http://127.0.0.1//evil.example": "/dead-letters/",
    "http://evil.example/jobs/a/": "/dead-letters/",
    "http://127.0.0.1:99/jobs/a/": "/dead-letters/",
    "http://[": "/dead-letters/",
    "": "/dead-letters/",
}


@pytest.mark.parametrize("referer", REFERERS)
@pytest.mark.parametrize("header", ["Referer", "HX-Current-URL"])
def test_who_must_confirm_is_told_that_nothing_was_done_and_led_back_to_the_page_they_had(
    header: str, referer: str
) -> None:
    request = RequestFactory().post("/x", headers={"Host": "127.0.0.1", header: referer})
    request.user = ADMIN
    refused = answer.denied(request, NotRecent(Action.PURGE_ALL))
    assert refused.status_code == 403
    assert "Confirm that it is you" in says(refused)
    assert "not older than 15 minutes. Nothing was done." in says(refused)
    assert elements(refused, "form", action="/auth/confirm")
    assert elements(refused, "input", name="next")[-1]["value"] == REFERERS[referer]


def test_in_answer_to_htmx_it_is_a_dialog(client: Client) -> None:
    request = RequestFactory().post("/x", headers={"Host": "127.0.0.1", "HX-Request": "true"})
    request.user, request.htmx = ADMIN, True
    refused = answer.denied(request, NotRecent(Action.PURGE_ALL))
    assert refused.status_code == 403
    assert (refused["HX-Retarget"], refused["HX-Reswap"]) == ("#dialog", "innerHTML")
    assert refused.content.startswith(b"<dialog ")


def test_a_press_of_confirm_goes_back_and_a_look_at_its_address_does_nothing(client: Client) -> None:
    pressed = client.post("/auth/confirm", {"next": "/jobs/a/?after=1"})
    assert (pressed.status_code, pressed["Location"]) == (303, "/jobs/a/?after=1")
    morsel = pressed.cookies["confirmed"]
    assert (morsel["httponly"], morsel["samesite"], morsel["path"], morsel["max-age"]) == (True, "Lax", "/", 900)
    assert client.post("/auth/confirm", {"next": "//evil.example"})["Location"] == "/dead-letters/"
    looked = client.get("/auth/confirm")
    assert (looked.status_code, looked["Location"]) == (302, "/dead-letters/")
    assert not looked.cookies


@pytest.fixture(scope="module")
def over_https(running: Callable[[str], Server]) -> Iterator[Dashboard]:
    url = "https://ops.example.com/dlq"
    with Dashboard(running("valkey").url, auth="proxy", JOOBQ_ADMIN_PUBLIC_URL=url) as started:
        yield started


def test_below_a_prefix_over_https_the_cookie_is_bound_to_the_host(over_https: Dashboard) -> None:
    us = signed_in("ada", "admin") | {"Host": "ops.example.com", "Origin": "https://ops.example.com"}
    us |= {"Cookie": f"__Host-csrf={'t' * 32}"}
    for to in ("/dlq/jobs/a/", "/dlq/auth/login", "/jobs/a/", "/dlqx/", "/dlq/../x/"):
        form = {"csrfmiddlewaretoken": "t" * 32, "next": to}
        pressed = ask(f"{over_https.url}/dlq/auth/confirm", us, "POST", form)
        goes = to if to == "/dlq/jobs/a/" else "/dlq/dead-letters/"
        assert (pressed.status, pressed.headers["Location"]) == (303, goes)
    cookie = SimpleCookie(pressed.headers["Set-Cookie"])["__Host-confirmed"]
    assert (cookie["secure"], cookie["httponly"], cookie["path"], cookie["domain"]) == (True, True, "/", "")
    assert re.fullmatch(r"[\w:-]{30,80}", cookie.value)
