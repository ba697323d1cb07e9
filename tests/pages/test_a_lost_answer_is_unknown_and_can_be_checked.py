"""The answer of Redis is lost: the slip says that nobody knows, 'Check again' finds out, and pressing again is safe."""

from collections.abc import Callable, Iterator

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from tests.support.elsewhere import redis_at
from tests.support.eventually import eventually
from tests.support.html import get, hidden, link, press, says
from tests.support.letters import DIED, digest, jid, letter
from tests.support.servers import Proxy, Server

LETTER, WARM = letter(1, queue="invoices"), letter(2, queue="invoices")
ENTRY = f"/dead-letters/{DIED}-{digest(LETTER)[:16]}/?jid={jid(1)}"


@pytest.fixture
def proxy(client: Client, valkey: Server, new_proxy: Callable[[Server], Proxy]) -> Iterator[Proxy]:
    """Between the dashboard and Redis. The scripts are loaded: the first one was pressed."""
    between = new_proxy(valkey)
    with redis_at(between.url):
        warm(client, valkey)
        yield between


def warm(client: Client, valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED, WARM: DIED})
    form = {"score": str(DIED), "digest": digest(WARM), "operation": "warm"}
    assert press(client, f"/dead-letters/{DIED}-{digest(WARM)[:16]}/", form).status_code == 200
    valkey.client.delete("invoices")


@pytest.mark.parametrize(("htmx", "lose"), [(True, Proxy.swallow), (False, Proxy.cut)])
def test_nobody_knows_and_it_says_so(client: Client, proxy: Proxy, htmx: bool, lose: Callable[[Proxy], None]) -> None:
    form = hidden(get(client, ENTRY))
    lose(proxy)
    answer = press(client, ENTRY, form, htmx=htmx)
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    words = says(answer)
    assert "Outcome unknown" in words
    assert "The connection to Redis was lost after the operation was sent." in words
    assert "The job may or may not be in queue invoices." in words
    assert "Pressing again is safe: it cannot run twice." in words
    assert hidden(answer) == {**form, "unsure": "1"}


def test_checked_it_was_done(client: Client, valkey: Server, proxy: Proxy) -> None:
    form = hidden(get(client, ENTRY))
    proxy.cut()
    check = link(press(client, ENTRY, form), "Check again")
    proxy.passes()
    eventually(lambda: valkey.client.llen("invoices") == 1)
    answer = get(client, check, target="action")
    assert answer.status_code == 200
    assert "by you Your first press arrived, only its answer was lost." in says(answer)
    assert "The job was added to invoices once." in says(answer)
    assert "retries 0 becomes 3" in says(answer)
    assert get(client, check).status_code == 200


def test_checked_it_was_not_done_and_a_late_arrival_and_a_new_press_are_one(
    client: Client, valkey: Server, proxy: Proxy
) -> None:
    form = hidden(get(client, ENTRY))
    proxy.hold()
    unknown = press(client, ENTRY, form)
    proxy.passes()
    answer = get(client, link(unknown, "Check again"), target="action")
    assert answer.status_code == 200
    assert "Not done as of" in says(answer)
    assert "Redis answers again and has no record of this operation. The entry is still here." in says(answer)
    again = hidden(answer)
    assert {**again, "reviewed": form["reviewed"]} == {**form, "unsure": "1"}
    assert press(client, ENTRY, again).status_code == 200
    proxy.release()
    assert press(client, ENTRY, again).status_code == 200
    assert valkey.client.llen("invoices") == 1


def test_while_redis_does_not_answer_checking_says_so(client: Client, proxy: Proxy) -> None:
    form = hidden(get(client, ENTRY))
    proxy.cut()
    check = link(press(client, ENTRY, form), "Check again")
    proxy.close()
    for target in ("action", ""):
        answer = get(client, check, target=target)
        assert answer.status_code == 503
        assert "Outcome unknown" in says(answer)
        assert "Redis did not answer." in says(answer)
        assert hidden(answer)["operation"] == form["operation"]
