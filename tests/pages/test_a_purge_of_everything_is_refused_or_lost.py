"""Purge all, when Redis refuses, does not answer, or its answer is lost: told in words, and it can go on."""

from collections.abc import Callable

import pytest
from django.http import HttpResponse
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.pages import purge_all
from tests.support.database import changed, contents
from tests.support.elsewhere import redis_at
from tests.support.html import elements, get, hidden, says
from tests.support.letters import DIED, letter
from tests.support.operators import dead_letters
from tests.support.servers import Proxy, Server

ALL, EMAILS = ("/dead-letters/purge-all?" + of for of in ("everything=1", "queue=emails"))
MANY = 900
WHY = "Load test from Friday"
BOTH = pytest.mark.parametrize("url", [ALL, EMAILS])


@pytest.fixture(autouse=True)
def confirmed(client: Client, valkey: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    client.post("/auth/confirm", {"next": "/"})
    dead_letters(valkey.client).add(DIED, [letter(n) for n in range(MANY)])
    monkeypatch.setattr(purge_all, "SECONDS", 0)


@pytest.fixture
def proxy(valkey: Server, new_proxy: Callable[[Server], Proxy]) -> Proxy:
    return new_proxy(valkey)


def question(client: Client, url: str) -> HttpResponse:
    """All looked through."""
    asked = client.post(url)
    while "Looking for" in says(asked):
        asked = client.post(url, hidden(asked))
    assert "Type 900 to purge for good" in says(asked)
    return asked


def answer(client: Client, url: str, asked: HttpResponse, **more: str) -> HttpResponse:
    return client.post(url, hidden(asked) | {"reason": WHY, "count": "900"} | more)


def to_the_end(client: Client, url: str, page: HttpResponse) -> None:
    while page.status_code != 303:
        assert page.status_code == 200, says(page)
        page = client.post(url, hidden(page))
    words = says(get(client, page["Location"]))
    assert "Purged everything" in words
    assert "They are gone for good. No copy is kept." in words


@BOTH
def test_a_lost_answer_is_unknown_and_checked_it_was_done(
    client: Client, valkey: Server, proxy: Proxy, url: str
) -> None:
    with redis_at(proxy.url):
        asked = question(client, url)
        proxy.cut()
        lost = answer(client, url, asked)
        proxy.passes()
        assert lost.status_code == 503
        assert lost["Retry-After"]
        assert "Outcome unknown" in says(lost)
        assert "It may or may not be done. Pressing again is safe: what is gone is gone once." in says(lost)
        (check,) = elements(lost, "button", name="check")
        before = contents(valkey.client)
        checked = client.post(url, hidden(lost) | {"check": check["value"]})
        if url == ALL:
            assert changed(before, contents(valkey.client)) == set()
        to_the_end(client, url, checked)
    assert valkey.client.zcard(keys.DEAD) == 0
    assert valkey.client.xlen(keys.AUDIT) == 1


@BOTH
def test_a_press_that_never_came_is_not_done_and_the_same_press_does_it(
    client: Client, valkey: Server, proxy: Proxy, url: str
) -> None:
    with redis_at(proxy.url):
        asked = question(client, url)
        before = contents(valkey.client)
        proxy.hold()
        lost = answer(client, url, asked)
        proxy.passes()
        checked = client.post(url, hidden(lost) | {"check": "1"})
        assert checked.status_code == 200
        assert "Not done as of" in says(checked)
        assert "A late arrival and a new press are one: what is gone is gone once." in says(checked)
        assert changed(before, contents(valkey.client)) == set()
        to_the_end(client, url, client.post(url, hidden(checked)))
        after = contents(valkey.client)
        proxy.release()
    assert valkey.client.xlen(keys.AUDIT) == 1
    assert changed(after, contents(valkey.client)) == set()


@pytest.mark.parametrize("htmx", [True, False])
def test_an_answer_lost_midway_stops_it_and_it_goes_on(
    client: Client, valkey: Server, proxy: Proxy, caplog: pytest.LogCaptureFixture, htmx: bool
) -> None:
    headers = {"HX-Request": "true", "HX-Target": "purging"} if htmx else {}
    with redis_at(proxy.url):
        page = answer(client, EMAILS, question(client, EMAILS))
        assert "Purging everything in emails" in says(page)
        proxy.cut()
        lost = client.post(EMAILS, hidden(page), headers=headers)
        proxy.passes()
        assert lost.status_code == 503
        assert "Stopped Redis did not answer. What is gone until now is gone; the rest is in dead letters." in says(
            lost
        )
        assert ('id="purging"' in lost.content.decode()) == htmx
        pressed = ["done", "unknown"] if htmx else ["done", "done", "unknown"]
        assert [record.outcome for record in caplog.records if record.getMessage() == "purge all"] == pressed
        to_the_end(client, EMAILS, client.post(EMAILS, hidden(lost)))
    assert valkey.client.zcard(keys.DEAD) == 0
    assert valkey.client.hget(keys.COUNTS, "emails") == b"0"
    assert valkey.client.xlen(keys.AUDIT) == 1


@BOTH
def test_a_lost_answer_stays_unknown_while_nothing_better_is_known(
    client: Client, valkey: Server, proxy: Proxy, url: str
) -> None:
    with redis_at(proxy.url):
        asked = question(client, url)
        proxy.cut()
        lost = answer(client, url, asked)
        proxy.close()
        for more in ({}, {"check": "1"}):
            lost = client.post(url, hidden(lost) | more)
            assert lost.status_code == 503
            assert "Outcome unknown" in says(lost)
            assert "Redis does not answer" in says(lost)
    to_the_end(client, url, client.post(url, hidden(lost)))
    assert valkey.client.zcard(keys.DEAD) == 0


@BOTH
@pytest.mark.parametrize("htmx", [True, False])
def test_redis_down_is_told_at_each_step(client: Client, proxy: Proxy, url: str, htmx: bool) -> None:
    headers = {"HX-Request": "true", "HX-Target": "dialog"} if htmx else {}
    with redis_at(proxy.url):
        asked = question(client, url)
        proxy.close()
        for refused in (client.post(url, headers=headers), answer(client, url, asked)):
            assert refused.status_code == 503
            assert "Redis does not answer Nothing was sent, so nothing was done." in says(refused)
            assert "Try again" in says(refused)


FAULTS = {
    "AUDIT_BROKEN": (lambda redis: redis.set(keys.AUDIT, "no stream"), 422, "the audit log cannot be written"),
    "NOT_ALLOWED": (
        lambda redis: redis.acl_setuser("default", commands=["-hincrby", "-unlink"]),
        422,
        "does not allow it",
    ),
    "READONLY": (lambda redis: redis.replicaof("127.0.0.1", 1), 503, "Redis said READONLY. Nothing was changed."),
}


@BOTH
@pytest.mark.parametrize("fault", FAULTS)
def test_what_redis_refuses_is_told_and_nothing_moves(
    client: Client, new_server: Callable[..., Server], caplog: pytest.LogCaptureFixture, url: str, fault: str
) -> None:
    server = new_server("valkey")
    dead_letters(server.client).add(DIED, [letter(n) for n in range(MANY)])
    spoil, status, words = FAULTS[fault]
    with redis_at(server.url):
        asked = question(client, url)
        spoil(server.client)
        before = contents(server.client)
        refused = answer(client, url, asked)
        assert refused.status_code == status, says(refused)
        assert "Refused: " in says(refused)
        assert words in says(refused)
        assert changed(before, contents(server.client)) == set()
    (line,) = [vars(record) for record in caplog.records if record.getMessage() == "purge all"]
    assert (line["outcome"], line["reason"], line["user"]) == ("refused", fault, "dev")


def test_a_full_server_is_emptied(client: Client, new_server: Callable[..., Server]) -> None:
    server = new_server("valkey")
    dead_letters(server.client).add(DIED, [letter(n) for n in range(MANY)])
    server.client.config_set("maxmemory", "1mb")
    with redis_at(server.url):
        to_the_end(client, EMAILS, answer(client, EMAILS, question(client, EMAILS)))
    assert server.client.zcard(keys.DEAD) == 0


def test_what_was_planned_of_one_queue_is_confirmed_for_no_other(client: Client, valkey: Server) -> None:
    asked = question(client, EMAILS)
    before = contents(valkey.client)
    for url in ("/dead-letters/purge-all?unknown=1", EMAILS.replace("emails", "invoices")):
        for refused in (client.post(url, hidden(asked)), answer(client, url, asked)):
            assert refused.status_code == 400
            assert "This operation is about other entries Nothing was purged by this press." in says(refused)
    assert changed(before, contents(valkey.client)) == set()
    to_the_end(client, EMAILS, answer(client, EMAILS, asked))
