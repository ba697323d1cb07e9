"""JOOBQ_ADMIN_AUTH=dev: an admin at once, on this machine only, in any role that one picks."""

import pytest

from tests.support.dashboard import Dashboard
from tests.support.wire import ask


@pytest.fixture
def the_list(dashboard: Dashboard) -> str:
    return f"{dashboard.url}/dead-letters/"


def test_it_listens_on_loopback_alone(dashboard: Dashboard) -> None:
    assert f"Listening at: http://127.0.0.1:{dashboard.port}" in dashboard.log


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8000", "[::1]:9000"])
def test_a_local_request_is_an_admins(the_list: str, host: str) -> None:
    answer = ask(the_list, {"Host": host})
    assert answer.status == 200
    assert "Admin" in answer.text
    assert "Development sign-in: whoever can open this page acts as <strong>dev</strong>." in answer.text


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example"},
        {"X-Forwarded-For": "10.0.0.7"},
        {"X-Forwarded-Host": "127.0.0.1"},
        {"Forwarded": "for=127.0.0.1"},
        {"X-Real-Ip": "127.0.0.1"},
        {"Via": "1.1 proxy"},
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_is_not_local_is_refused_in_words(the_list: str, headers: dict[str, str], method: str) -> None:
    answer = ask(the_list, headers, method)
    assert answer.status == 403
    assert answer.text.startswith("403: this dashboard is open on its own machine only")
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"


def picked(dashboard: Dashboard, role: str, back: str = "") -> tuple[int, str, str]:
    """Status, Location and cookie of a press on the role picker."""
    csrf = ask(f"{dashboard.url}/dead-letters/").headers["Set-Cookie"].partition(";")[0]
    form = {"csrfmiddlewaretoken": csrf.partition("=")[2], "role": role, "next": back}
    answer = ask(f"{dashboard.url}/auth/dev-role", {"Cookie": csrf}, "POST", form)
    return answer.status, answer.headers["Location"] or "", answer.headers["Set-Cookie"] or ""


@pytest.mark.parametrize(
    ("role", "status", "words"),
    [
        ("viewer", 200, "Viewer"),
        ("operator", 200, "Operator"),
        ("admin", 200, "Admin"),
        ("none", 403, "have no role here"),
    ],
)
def test_a_role_can_be_picked(dashboard: Dashboard, the_list: str, role: str, status: int, words: str) -> None:
    answered, to, cookie = picked(dashboard, role, "/dead-letters/?queue=a%2Fb")
    assert (answered, to) == (303, "/dead-letters/?queue=a%2Fb")
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    answer = ask(the_list, {"Cookie": cookie.partition(";")[0]})
    assert answer.status == status
    assert words in answer.text


def test_with_no_role_another_can_still_be_picked(dashboard: Dashboard, the_list: str) -> None:
    cookie = picked(dashboard, "none")[2].partition(";")[0]
    answer = ask(the_list, {"Cookie": cookie})
    assert "/auth/dev-role" in answer.text
    csrf = answer.headers["Set-Cookie"].partition(";")[0]
    form = {"csrfmiddlewaretoken": csrf.partition("=")[2], "role": "viewer"}
    assert ask(f"{dashboard.url}/auth/dev-role", {"Cookie": f"{cookie}; {csrf}"}, "POST", form).status == 303


@pytest.mark.parametrize("role", ["", "root", "ADMIN", "None"])
def test_no_other_role_can(dashboard: Dashboard, role: str) -> None:
    assert picked(dashboard, role)[0] == 400


ELSEWHERE = [
    "",
    "dead-letters/",
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "https:evil.example",
    "http:///evil.example",
    "https://evil.example/",
    "javascript:alert(1)",
    "/\t/evil.example",
    "/a\r\nSet-Cookie: x=1",
    " //evil.example",
    "/" + "a" * 2000,
]


@pytest.mark.parametrize("back", ELSEWHERE)
def test_the_way_back_never_leaves_this_site(dashboard: Dashboard, back: str) -> None:
    assert picked(dashboard, "admin", back)[:2] == (303, "/dead-letters/")


def test_a_role_that_somebody_wrote_themselves_is_the_one_of_the_first_visit(the_list: str) -> None:
    for cookie in ("dev-role=viewer", "dev-role=viewer:1vPaQn:AAAA"):
        answer = ask(the_list, {"Cookie": cookie})
        assert answer.status == 200
        assert "Admin" in answer.text
