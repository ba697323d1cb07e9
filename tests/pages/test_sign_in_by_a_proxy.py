"""Behind a proxy: its headers count with its secret and never without, sent straight to gunicorn in any spelling."""

import json
from collections.abc import Callable, Iterator

import pytest

from joobq_admin.joobq import keys
from tests.support.dashboard import SECRET, Dashboard, signed_in
from tests.support.letters import DIED, digest, jid, letter
from tests.support.servers import Server
from tests.support.wire import ask

SECRET_HEADER = "X-JoobQ-Admin-Proxy-Secret"
GIVEN = [("X-Forwarded-User", "ada"), ("X-Forwarded-Groups", "admins")]


@pytest.fixture(scope="module")
def guarded(running: Callable[[str], Server]) -> Iterator[Dashboard]:
    with Dashboard(
        running("valkey").url, auth="proxy", JOOBQ_ADMIN_PROXY_SECRET_OLD="the one before it " * 2
    ) as started:
        yield started


@pytest.fixture
def the_list(guarded: Dashboard) -> str:
    return f"{guarded.url}/dead-letters/"


@pytest.mark.parametrize("secret", [SECRET, ("the one before it " * 2).strip()])
def test_with_the_secret_the_user_is_signed_in_by_name_and_role(the_list: str, secret: str) -> None:
    answer = ask(the_list, signed_in("zoë łukasiewicz") | {SECRET_HEADER: secret})
    assert answer.status == 200
    assert "Zoë łukasiewicz" in answer.text
    assert "Operator" in answer.text
    assert "Development sign-in" not in answer.text


UNPROVEN = [
    [],
    [(SECRET_HEADER, "")],
    [(SECRET_HEADER, "wrong")],
    [(SECRET_HEADER, SECRET[:-1])],
    [(SECRET_HEADER, SECRET + "x")],
    [(SECRET_HEADER, "(null)")],
    [(SECRET_HEADER, SECRET), (SECRET_HEADER, SECRET)],
    [(SECRET_HEADER, "wrong"), (SECRET_HEADER, SECRET)],
    [(SECRET_HEADER, f"{SECRET}, {SECRET}")],
    [(SECRET_HEADER.replace("-", "_"), SECRET)],
    [("X-JoobQ_Admin-Proxy-Secret", SECRET)],
    [("Authorization", f"Bearer {SECRET}")],
    [("Cookie", f"{SECRET_HEADER}={SECRET}; csrf=x; dev-role=admin")],
]


@pytest.mark.parametrize("proof", UNPROVEN)
@pytest.mark.parametrize("more", [[], [("HX-Request", "true")]])
@pytest.mark.parametrize("method", ["GET", "POST", "HEAD"])
def test_without_it_nobody_is_and_everything_is_401(
    the_list: str, proof: list[tuple[str, str]], more: list[tuple[str, str]], method: str
) -> None:
    answer = ask(the_list, GIVEN + proof + more, method)
    assert answer.status == 401
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-store, private"
    assert "Location" not in answer.headers
    assert "Set-Cookie" not in answer.headers
    assert method == "HEAD" or answer.text.startswith("401: nobody is signed in")
    assert SECRET not in answer.text


@pytest.mark.parametrize(
    "path", ["/", "/dead-letters/1-0123456789abcdef/", "/jobs/", "/auth/dev-role", "/nowhere", "/static/"]
)
def test_it_is_401_at_every_address(guarded: Dashboard, path: str) -> None:
    assert ask(guarded.url + path, GIVEN).status == 401


HOSTILE = [
    ("X-Forwarded-User", ""),
    ("X-Forwarded-User", "(null)"),
    ("X-Forwarded-User", "vera,ada"),
    ("X-Forwarded-User", "vera\tada"),
    ("X-Forwarded-User", "vera\u0085ada"),
    ("X-Forwarded-User", "vera\u202eada"),
    ("X-Forwarded-User", "v" * 257),
]


@pytest.mark.parametrize(("name", "value"), HOSTILE)
def test_a_user_that_is_no_clean_value_is_nobody(the_list: str, name: str, value: str) -> None:
    assert ask(the_list, signed_in("vera") | {name: value}).status == 401


def test_a_user_that_comes_twice_is_nobody(the_list: str) -> None:
    assert ask(the_list, [*signed_in("vera").items(), ("X-Forwarded-User", "ada")]).status == 401


@pytest.mark.parametrize("more", ["admins", "viewers", "x,admins,x", ""])
def test_groups_that_come_twice_are_none(guarded: Dashboard, the_list: str, more: str) -> None:
    both = [*signed_in("vera", "viewer").items(), ("x-forwarded-groups", more)]
    for headers in (both, both[::-1]):
        answer = ask(the_list, headers)
        assert answer.status == 403
        assert "You are signed in, but have no role here" in answer.text
    assert "X-FORWARDED-GROUPS came more than once: none of it counts" in guarded.log


def test_a_header_in_another_spelling_adds_nothing(the_list: str) -> None:
    spelled = [("X_Forwarded_User", "ada"), ("X-Forwarded_User", "ada"), ("X_Forwarded_Groups", "admins")]
    spelled += [("X_Forwarded_Preferred_Username", "Ada"), ("Remote-User", "ada"), ("REMOTE_USER", "ada")]
    answer = ask(the_list, [*signed_in("vera", "viewer").items(), *spelled])
    assert answer.status == 200
    assert "Vera" in answer.text
    assert "Viewer" in answer.text
    assert "Ada" not in answer.text
    assert "Admin<" not in answer.text


def test_somebody_without_a_group_of_ours_is_told_so(the_list: str) -> None:
    for groups in ({}, {"X-Forwarded-Groups": "ADMINS"}, {"X-Forwarded-Groups": "admins-readonly"}):
        headers = {name: value for name, value in signed_in("nora").items() if name != "X-Forwarded-Groups"} | groups
        answer = ask(the_list, headers)
        assert answer.status == 403
        assert "You are signed in, but have no role here" in answer.text


STEERING = {
    "SCRIPT_NAME": "/healthz",
    "SCRIPT-NAME": "/healthz",
    "PATH_INFO": "/healthz",
    "PATH-INFO": "/healthz",
    "X-Forwarded-Host": "evil.example",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Ssl": "off",
    "X-Forwarded-Prefix": "/evil",
    "X-Forwarded-Uri": "/healthz",
    "X-Original-Url": "/healthz",
    "X-Rewrite-Url": "/healthz",
    "X-Http-Method-Override": "POST",
    "X-Forwarded-Port": "1",
    "Forwarded": "for=10.0.0.1;host=evil.example;proto=https",
}


@pytest.mark.parametrize("name", STEERING)
def test_no_header_says_where_we_are_or_what_is_asked(guarded: Dashboard, name: str) -> None:
    for path in ("/", "/dead-letters/", "/jobs/?jid=x", "/nowhere"):
        plain = ask(guarded.url + path, signed_in("vera", "viewer"))
        steered = ask(guarded.url + path, [*signed_in("vera", "viewer").items(), (name, STEERING[name])])
        assert steered.status == plain.status
        assert steered.headers["Location"] == plain.headers["Location"]
        assert "evil" not in steered.text
        assert "https://127.0.0.1" not in steered.text
        assert ask(guarded.url + path, [*GIVEN, (name, STEERING[name])]).status == 401


def test_headers_that_contradict_each_other_about_https_are_not_looked_at(the_list: str) -> None:
    assert ask(the_list, signed_in("vera") | {"X-Forwarded-Proto": "https", "X-Forwarded-Ssl": "off"}).status == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "127.0.0.1@evil.example", ""])
def test_another_host_is_not_ours(the_list: str, host: str) -> None:
    assert ask(the_list, signed_in("vera") | {"Host": host}).status == 400


def test_what_is_too_long_is_refused_in_words_or_by_the_server_itself(the_list: str) -> None:
    vera = signed_in("vera")
    assert "This address is longer than 6,000 bytes" in ask(f"{the_list}?q={'x' * 7_000}", vera).text
    for asked, status in (
        (ask(f"{the_list}?q={'x' * 9_000}", vera), 414),
        (ask(the_list, vera | {"X-A": "x" * 9_000}), 431),
    ):
        assert (asked.status, "too large" in asked.text or "Too Large" in asked.text) == (status, True)


def test_the_log_says_why_in_one_line_and_tells_no_secret(guarded: Dashboard, the_list: str) -> None:
    ask(the_list, [*GIVEN, (SECRET_HEADER, "a guess that is wrong"), ("User-Agent", "x")])
    ask(f"{the_list}?q=private", signed_in("vera\x9b2J\u2028"))
    ask(the_list, signed_in("nora", "nobody"))
    lines = [json.loads(line) for line in guarded.log.splitlines()]
    told = [(line["message"], line.get("reason"), line.get("path")) for line in lines if "sso" in line["logger"]]
    assert told[-3:] == [
        ("not signed in", f"{SECRET_HEADER} is wrong", "/dead-letters/"),
        ("not signed in", "X-Forwarded-User holds a control character or is not UTF-8", "/dead-letters/"),
        ("denied", None, "/dead-letters/"),
    ]
    assert [line["user"] for line in lines[-2:]] == ["nora", "nora"]
    assert SECRET not in guarded.log
    assert "a guess" not in guarded.log
    assert "private" not in guarded.log


def test_probes_are_open_by_any_name_and_say_nothing(guarded: Dashboard) -> None:
    for path in ("/healthz", "/readyz"):
        answer = ask(guarded.url + path, {"Host": "10.1.2.3:8000"})
        assert (answer.status, answer.text) == (200, "ok\n")
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_only_named_peers_are_heard(valkey: Server) -> None:
    with Dashboard(valkey.url, auth="proxy", JOOBQ_ADMIN_PROXY_PEERS="10.0.0.0/8") as guarded:
        assert ask(f"{guarded.url}/dead-letters/", signed_in("vera")).status == 401
        assert ask(f"{guarded.url}/healthz").status == 200


def test_a_form_needs_a_token_of_its_own_browser_and_an_origin_of_ours(guarded: Dashboard, valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, {letter(1): DIED})
    cookie = ask(f"{guarded.url}/jobs/{jid(1)}/", signed_in("otto")).headers["Set-Cookie"].partition(";")[0]
    form = {"jid": jid(1), "digest": digest(letter(1)), "score": str(DIED), "operation": "0123456789abcdef"}
    token = {"csrfmiddlewaretoken": cookie.partition("=")[2]}

    def press(headers: dict[str, str], token: dict[str, str]) -> int:
        url = f"{guarded.url}/dead-letters/{DIED}-{digest(letter(1))}/redrive"
        return ask(url, signed_in("otto") | headers, "POST", form | token).status

    assert press({}, token) == 403
    assert press({"Cookie": cookie}, {}) == 403
    assert press({"Cookie": cookie}, {"csrfmiddlewaretoken": "x" * 32}) == 403
    for other in ("https://evil.example", "null", guarded.url.replace("http", "https"), "http://localhost", ""):
        assert press({"Cookie": cookie, "Origin": other}, token) == 403
    assert valkey.client.zcard(keys.DEAD) == 1
    assert press({"Cookie": cookie, "Origin": guarded.url}, token) == 303
    assert valkey.client.zcard(keys.DEAD) == 0
