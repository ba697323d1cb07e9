"""JOOBQ_ADMIN_PUBLIC_URL=https://ops.example.com/dlq: links, cookies, redirects and static files all follow from it."""

import re
from collections.abc import Callable, Iterator

import pytest

from joobq_admin.joobq import keys
from tests.support.dashboard import Dashboard, signed_in
from tests.support.letters import DIED, jid, letter
from tests.support.servers import Server
from tests.support.wire import ask

PUBLIC = "https://ops.example.com/dlq"
US = {"Host": "ops.example.com"}


@pytest.fixture(scope="module")
def guarded(running: Callable[[str], Server]) -> Iterator[Dashboard]:
    with Dashboard(running("valkey").url, auth="proxy", JOOBQ_ADMIN_PUBLIC_URL=PUBLIC) as started:
        yield started


@pytest.mark.parametrize("prefix", ["/dlq", ""])
def test_a_proxy_may_leave_the_prefix_in_the_path_or_take_it_out(guarded: Dashboard, prefix: str) -> None:
    page = ask(f"{guarded.url}{prefix}/dead-letters/", signed_in("otto") | US)
    assert page.status == 200
    links = [link for link in re.findall(r'(?:href|src|action|hx-\w+)="([^"]+)"', page.text) if link[0] == "/"]
    assert links
    assert [link for link in links if not link.startswith("/dlq/")] == []
    for link in (link for link in links if link.startswith("/dlq/static/")):
        assert ask(guarded.url + link.removeprefix("/dlq" if prefix == "" else "")).status == 200


@pytest.mark.parametrize("path", ["/dlq", "/dlq/", "/"])
def test_the_first_page_is_the_list(guarded: Dashboard, path: str) -> None:
    answer = ask(guarded.url + path, signed_in("otto") | US)
    assert (answer.status, answer.headers["Location"]) == (302, "/dlq/dead-letters/")


def csrf_cookie(guarded: Dashboard, valkey: Server) -> str:
    """As the page of an entry sets it: that one has a form."""
    valkey.client.zadd(keys.DEAD, {letter(1): DIED})
    answer = ask(f"{guarded.url}/dlq/jobs/{jid(1)}/", signed_in("otto") | US)
    return answer.headers["Set-Cookie"]


def test_the_cookie_is_bound_to_the_host_and_to_https(guarded: Dashboard, valkey: Server) -> None:
    cookie = csrf_cookie(guarded, valkey)
    assert cookie.startswith("__Host-csrf=")
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=Lax"} <= set(cookie.split("; "))
    assert "Domain" not in cookie


def test_a_form_from_https_is_ours_though_the_proxy_speaks_http(guarded: Dashboard, valkey: Server) -> None:
    cookie = csrf_cookie(guarded, valkey).partition(";")[0]
    url = f"{guarded.url}/dlq/dead-letters/1-{'0' * 64}/redrive"
    form = {"csrfmiddlewaretoken": cookie.partition("=")[2]}
    for origin, ours in (("https://ops.example.com", True), ("http://ops.example.com", False)):
        answer = ask(url, signed_in("otto") | US | {"Cookie": cookie, "Origin": origin}, "POST", form)
        assert (answer.status != 403) == ours
