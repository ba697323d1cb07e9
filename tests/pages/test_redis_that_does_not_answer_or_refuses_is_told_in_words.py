"""Redis is gone, busy, read only or holds something else: every page and press says so, and none is a 500."""

import signal
from collections.abc import Callable, Iterator

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from tests.support.database import changed, contents
from tests.support.elsewhere import redis_at
from tests.support.eventually import eventually
from tests.support.html import elements, get, hidden, link, press, says
from tests.support.letters import DIED, digest, jid, letter
from tests.support.servers import Server, free_port

LETTER = letter(1, queue="invoices")
ENTRY = f"/dead-letters/{DIED}-{digest(LETTER)[:16]}/?jid={jid(1)}"


@pytest.fixture
def nowhere(client: Client) -> Iterator[str]:
    """Nobody listens where Redis should be: its address."""
    port = free_port()
    with redis_at(f"redis://ann:hunter2@127.0.0.1:{port}/0"):
        yield f"127.0.0.1:{port}"


@pytest.mark.parametrize("htmx", [True, False])
def test_without_a_connection_nothing_was_sent(client: Client, nowhere: str, htmx: bool) -> None:
    form = {"score": str(DIED), "digest": digest(LETTER), "operation": "op-1"}
    answer = press(client, ENTRY, form, htmx=htmx)
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "Redis does not answer" in says(answer)
    assert "Nothing was sent, so nothing was done." in says(answer)
    assert elements(answer, "button", type="submit", class_="btn")
    assert hidden(answer) == form


PAGES = ["/dead-letters/", "/dead-letters/?queue=a&undated=1", ENTRY, "/jobs/?jid=a", "/operations/a/"]


@pytest.mark.parametrize("url", PAGES)
def test_every_page_says_that_redis_does_not_answer(client: Client, nowhere: str, url: str) -> None:
    answer = get(client, url)
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "Redis does not answer" in says(answer)
    assert f"Server {nowhere}" in says(answer)
    assert "hunter2" not in answer.content.decode()
    assert link(answer, "Try now") == url


@pytest.mark.parametrize("target", ["results", "payload"])
def test_a_fragment_is_loaded_again_as_a_page(client: Client, nowhere: str, target: str) -> None:
    answer = get(client, ENTRY, target=target)
    assert (answer.status_code, answer["HX-Redirect"]) == (503, ENTRY)


def test_it_recovers_by_itself(client: Client, new_server: Callable[..., Server]) -> None:
    server = new_server(persist=True)
    with redis_at(server.url):
        server.client.zadd(keys.DEAD, {LETTER: DIED})
        assert get(client, ENTRY).status_code == 200
        server.stop()
        assert get(client, ENTRY).status_code == 503
        server.start()
        assert get(client, ENTRY).status_code == 200


@pytest.fixture
def own(client: Client, new_server: Callable[..., Server]) -> Iterator[Server]:
    """A server that this test may spoil, with one entry."""
    server = new_server()
    with redis_at(server.url):
        server.client.zadd(keys.DEAD, {LETTER: DIED})
        yield server


def refused(client: Client, server: Server, status: int, *words: str) -> None:
    """The press of a page that was opened before is refused so, and nothing moves."""
    before = contents(server.client)
    answer = press(client, ENTRY, {"score": str(DIED), "digest": digest(LETTER), "jid": jid(1), "operation": "op-1"})
    assert answer.status_code == status
    assert [word for word in words if word not in says(answer)] == []
    assert "Try again" in says(answer)
    assert changed(before, contents(server.client)) == set()


def test_no_replica_to_write_to(client: Client, own: Server) -> None:
    own.client.config_set("min-replicas-to-write", 1)
    refused(client, own, 503, "Redis takes no changes now", "Redis said NOREPLICAS. Nothing was changed.")


def test_rights_that_miss_a_key(client: Client, own: Server) -> None:
    own.client.execute_command("ACL", "SETUSER", "default", "resetkeys", "%R~*", "~joobq:*")
    refused(client, own, 422, "Redis does not allow it", "Nothing was changed.")


def test_a_replica_is_read_but_not_written(client: Client, own: Server, new_server: Callable[..., Server]) -> None:
    replica = new_server(replica_of=own)
    with redis_at(replica.url):
        eventually(lambda: replica.client.zcard(keys.DEAD))
        assert get(client, ENTRY).status_code == 200
        refused(client, replica, 503, "Redis takes no changes now", "Redis said READONLY.")


CHECK = f"/operations/op-1/?action=redrive&entry={DIED}-{digest(LETTER)}-{jid(1)}"


@pytest.mark.parametrize("here", [True, False])
def test_a_replica_that_may_lag_says_neither_done_nor_gone(
    client: Client, own: Server, new_server: Callable[..., Server], here: bool
) -> None:
    if not here:
        own.client.delete(keys.DEAD)
        own.client.set("other", 1)
    replica = new_server(replica_of=own)
    with redis_at(replica.url):
        eventually(lambda: replica.client.dbsize())
        answer = get(client, CHECK, target="action")
    assert answer.status_code == 503
    assert "Outcome unknown" in says(answer)
    assert "Redis said READONLY, so it may not know yet what was done elsewhere." in says(answer)
    for untrue in ("Not done", "Gone", "primary", "Nothing was redriven"):
        assert untrue not in says(answer)
    assert hidden(answer)["operation"] == "op-1"


def test_what_a_replica_does_know_is_told(client: Client, own: Server, new_server: Callable[..., Server]) -> None:
    form = {"score": str(DIED), "digest": digest(LETTER), "operation": "op-1"}
    assert press(client, ENTRY, form).status_code == 200
    replica = new_server(replica_of=own)
    with redis_at(replica.url):
        eventually(lambda: replica.client.exists(keys.AUDIT))
        assert "Done at" in says(get(client, CHECK, target="action"))


def test_on_the_primary_it_says_so(client: Client, own: Server) -> None:
    answer = get(client, CHECK, target="action")
    assert answer.status_code == 200
    assert "Not done as of" in says(answer)
    assert "Checked on the primary at" in says(answer)


def test_a_refused_connection_is_told_apart_from_silence(
    client: Client, nowhere: str, new_server: Callable[..., Server]
) -> None:
    assert "Error Connection refused" in says(get(client, "/dead-letters/"))
    silent = new_server()
    with redis_at(silent.url):
        silent.process.send_signal(signal.SIGSTOP)
        try:
            answer = get(client, "/dead-letters/")
        finally:
            silent.process.send_signal(signal.SIGCONT)
    assert answer.status_code == 503
    assert "Error No answer within 1 s" in says(answer)


def test_a_wrong_password_is_told_in_the_words_of_redis(client: Client, own: Server) -> None:
    with redis_at(own.url.replace("redis://", "redis://:wrong@")):
        own.client.config_set("requirepass", "right")
        for answer in (get(client, "/dead-letters/"), get(client, CHECK, target="action")):
            assert answer.status_code == 503
            assert "does not answer" not in says(answer)
            assert "invalid username-password pair" in says(answer)
        own.client.config_set("requirepass", "")


OTHER_KEYS = ("~joobq:dead_letter*", "~joobq:admin:counts*", "~invoices")


@pytest.mark.parametrize("how", ["another type", "no rights"])
def test_without_the_audit_log_the_rest_is_shown(client: Client, own: Server, how: str) -> None:
    if how == "another type":
        own.client.set(keys.AUDIT, "?")
        own.client.set(keys.AUDIT_INDEX, "?")
    else:
        own.client.execute_command("ACL", "SETUSER", "default", "resetkeys", *OTHER_KEYS)
    for url in ("/dead-letters/", ENTRY, f"/jobs/{jid(1)}/"):
        answer = get(client, url)
        assert answer.status_code == 200
        assert "SMTP 550" in says(answer)
        assert says(answer).count("What was done before is not told: the audit log cannot be read. Redis said:") == 1
    assert "From the entries that are here and the audit log" not in says(answer)


@pytest.mark.parametrize("url", PAGES[:-1])
def test_a_dead_set_of_another_type(client: Client, own: Server, url: str) -> None:
    own.client.delete(keys.DEAD)
    own.client.set(keys.DEAD, "?")
    answer = get(client, url)
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "Redis does not let us read" in says(answer)
    assert "WRONGTYPE" in says(answer)
    form = {"score": str(DIED), "digest": digest(LETTER), "operation": "op-1"}
    pressed = press(client, ENTRY, form)
    assert pressed.status_code == 422
    assert "The key joobq:dead_letter is of another type. Nothing was changed." in says(pressed)


def test_a_page_that_was_open_before_redis_went(client: Client, own: Server) -> None:
    form = hidden(get(client, ENTRY))
    own.stop(hard=True)
    answer = press(client, ENTRY, form)
    assert answer.status_code == 503
    assert hidden(answer) == form
