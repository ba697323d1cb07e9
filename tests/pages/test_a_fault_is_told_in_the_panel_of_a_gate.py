"""A fault of Redis, of its audit log or of the network is told in the panel of the gate, and nothing is lost."""

from collections.abc import Callable

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.audit import AuditLog
from joobq_admin.joobq.delivery import Ledger, steps
from tests.support.elsewhere import redis_at
from tests.support.gates import LEDGER, close, opens
from tests.support.html import elements, get, says
from tests.support.ledgers import answered_again, at, ledger_of
from tests.support.servers import Proxy, Server


@pytest.fixture
def ledger(client: Client, valkey: Server) -> Ledger:
    """Somebody who signed in lately looks at it."""
    client.post("/auth/confirm", {"next": "/"})
    return ledger_of(valkey.client)


def test_after_a_lost_answer_it_says_how_the_gate_stands_and_the_press_is_recorded(
    client: Client,
    ledger: Ledger,
    valkey: Server,
    new_proxy: Callable[[Server], Proxy],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page, proxy = get(client, LEDGER), new_proxy(valkey)
    for script in (steps.CLOSE_GATE, steps.OPEN_GATE):
        valkey.client.script_load(script.text)
    answered_again(proxy, monkeypatch)
    with redis_at(proxy.url):
        proxy.swallow()
        lost = close(client, page=page)
        assert lost.status_code == 503
        assert "The answer was lost The connection to Redis was lost after it was sent." in says(lost)
        assert "This is how the gate stands now. Gate closed since" in says(lost)
        proxy.swallow()
        opened = opens(client, lost)
        assert "The answer was lost" in says(opened)
        assert elements(opened, "form", action=at("close-gate"))
    assert ledger.gate() is None
    records = AuditLog(ledger.redis).page().records
    assert [(record.action, record.fields["answer"]) for record in records] == [
        ("open gate", "lost"), ("close gate", "lost")]  # fmt: skip


def test_when_it_cannot_be_recorded_it_is_done_and_that_is_said(client: Client, ledger: Ledger) -> None:
    ledger.redis.set(keys.AUDIT, "no stream")
    for htmx in (True, False):
        answer = close(client, htmx=htmx)
        assert answer.status_code == 200
        assert "It is in no record: the audit log does not take one. Redis said AUDIT_BROKEN." in says(answer)
        assert ledger.gate()
        assert "It is in no record" in says(opens(client, answer))
        assert not ledger.gate()


@pytest.mark.parametrize("htmx", [True, False])
def test_where_redis_does_not_answer_nothing_was_done(client: Client, ledger: Ledger, htmx: bool) -> None:
    page = get(client, LEDGER)
    with redis_at("redis://127.0.0.1:1/0"):
        answer = close(client, page=page, htmx=htmx)
    assert answer.status_code == 503
    assert "Redis does not answer Nothing was sent, so nothing was done." in says(answer)
    assert bool(elements(answer, "section", id="gate")) == htmx
    assert elements(answer, "a", href=LEDGER)


def test_a_replica_takes_no_change(client: Client, ledger: Ledger, new_server: Callable[..., Server]) -> None:
    page = get(client, LEDGER)
    with redis_at(new_server(replica_of=new_server()).url):
        answer = close(client, page=page)
        assert answer.status_code == 503
        assert "Redis takes no changes now Redis said READONLY. Nothing was changed. Try again." in says(answer)
        assert len(elements(get(client, LEDGER), "button", aria_disabled="true", aria_describedby="off")) == 5
