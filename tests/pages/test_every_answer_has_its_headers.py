"""Whatever is answered, to whom and why: headers say what may run, who may embed it, and that nobody keeps it."""

import re
from collections.abc import Callable

import pytest
from django.http import HttpResponse
from django.test import Client

from joobq_admin.joobq import keys
from tests.support.elsewhere import redis_at
from tests.support.letters import DIED, digest, jid, letter
from tests.support.servers import Server

LETTER = letter(1, queue="invoices")
ENTRY = f"/dead-letters/{DIED}-{digest(LETTER)}/"
GONE = f"/dead-letters/{DIED}-{'0' * 64}/redrive"
SLIP = {"score": str(DIED), "digest": digest(LETTER), "jid": jid(1), "operation": "op-1"}
HTMX = {"HX-Request": "true", "HX-Target": "action"}

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
ALWAYS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
}
PRIVATE = {
    "Cache-Control": "no-store, private",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
Asked = Callable[[Client], HttpResponse]


def nobody_has_a_role(client: Client) -> HttpResponse:
    client.post("/auth/dev-role", {"role": "none"})
    return client.get("/dead-letters/")


def a_viewer_presses(client: Client) -> HttpResponse:
    client.post("/auth/dev-role", {"role": "viewer"})
    return client.post(f"{ENTRY}redrive", SLIP, headers=HTMX)


def without_a_token(client: Client) -> HttpResponse:
    return Client(headers={"Host": "127.0.0.1"}, enforce_csrf_checks=True).post(f"{ENTRY}redrive", SLIP)


def without_redis(client: Client) -> HttpResponse:
    with redis_at("redis://127.0.0.1:1/0"):
        return client.get("/dead-letters/")


ANSWERS: dict[str, tuple[int, Asked]] = {
    "a page": (200, lambda client: client.get("/dead-letters/")),
    "an entry": (200, lambda client: client.get(ENTRY)),
    "a fragment": (200, lambda client: client.get("/dead-letters/", headers=HTMX | {"HX-Target": "results"})),
    "a slip": (200, lambda client: client.post(f"{ENTRY}redrive", SLIP, headers=HTMX)),
    "a file": (200, lambda client: client.get("/audit/export?format=csv")),
    "a probe": (200, lambda client: client.get("/readyz")),
    "a redirect": (302, lambda client: client.get("/")),
    "a redirect after a press": (303, lambda client: client.post(f"{ENTRY}redrive", SLIP)),
    "what makes no sense": (400, lambda client: client.get("/dead-letters/?after=nowhere")),
    "another host": (403, lambda client: client.get("/", headers={"Host": "evil.example"})),
    "another encoding": (400, lambda client: client.post("/", b"a=1", content_type="text/plain; charset=utf-7")),
    "a proxy on one's own machine": (403, lambda client: client.get("/", headers={"X-Forwarded-For": "10.0.0.1"})),
    "nobody with a role": (403, nobody_has_a_role),
    "a viewer's press": (403, a_viewer_presses),
    "a form of another page": (403, without_a_token),
    "no such page": (404, lambda client: client.get("/nowhere")),
    "no such way": (405, lambda client: client.post("/dead-letters/")),
    "another was faster": (409, lambda client: client.post(GONE, SLIP | {"digest": "0" * 64})),
    "gone": (410, lambda client: client.post(f"{ENTRY}redrive", SLIP) and client.get(f"/jobs/{jid(1)}/")),
    "Redis does not answer": (503, without_redis),
}


@pytest.fixture
def browser(client: Client, valkey: Server) -> Client:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    return client


@pytest.mark.parametrize("kind", ANSWERS)
def test_on(browser: Client, kind: str) -> None:
    status, asked = ANSWERS[kind]
    answer = asked(browser)
    assert answer.status_code == status
    are_all_there(answer)
    assert {name: answer.get(name) for name in PRIVATE} == PRIVATE
    assert {"HX-Request", "Cookie"} <= set(answer["Vary"].split(", "))
    kinds = "text/csv|application/x-ndjson" if kind == "a file" else "text/html|text/plain"
    assert re.fullmatch(rf"({kinds})(; charset=utf-8)?", answer["Content-Type"])


def test_on_a_mistake_of_ours(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("joobq_admin.pages.listing.read", None)
    browser.raise_request_exception = False
    answer = browser.get("/dead-letters/")
    assert answer.status_code == 500
    are_all_there(answer)
    assert answer["Cache-Control"] == "no-store, private"


@pytest.mark.parametrize(("path", "kind"), [("css/app.css", "text/css"), ("js/app.js", "text/javascript")])
def test_a_static_file_may_be_kept_and_no_more(browser: Client, path: str, kind: str) -> None:
    answer = browser.get(f"/static/{path}")
    assert answer.status_code == 200
    are_all_there(answer)
    assert answer["Content-Type"].startswith(kind)
    assert "no-store" not in answer["Cache-Control"]
    assert "Set-Cookie" not in answer.headers
    answer.close()


def are_all_there(answer: HttpResponse) -> None:
    assert {name: answer.get(name) for name in ALWAYS} == ALWAYS
    assert [name for name in answer.headers if name.startswith("Access-Control-")] == []
