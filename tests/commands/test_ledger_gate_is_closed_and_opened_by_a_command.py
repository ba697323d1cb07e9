"""Who closed it, when and why stays to be seen; each change is in the audit log, right after it."""

import pytest

from joobq_admin.joobq import keys
from joobq_admin.joobq.delivery import Actor
from joobq_admin.management.recording import actor
from tests.support.commands import ledger, noted
from tests.support.database import changed, contents
from tests.support.ledgers import ledger_of
from tests.support.servers import Server

pytestmark = pytest.mark.usefixtures("with_django")
GATE = ("gate", "shop:emails")


def test_closed_and_opened_it_is_recorded_with_who_and_why(valkey: Server) -> None:
    emails = ledger_of(valkey.client)
    emails.admit("a", "1")
    assert ledger(*GATE).lines == [{"ledger": "shop:emails", "gate": None}]
    before = contents(valkey.client)
    ran = ledger(*GATE, "close", "--reason", "the gateway is down")
    assert ran.ended == 0
    gate = emails.gate()
    assert (gate.by, gate.name, gate.reason) == (actor().id, actor().name, "the gateway is down")
    assert actor().id.endswith(", manage.py")
    assert ran.lines[0]["outcome"] == "CLOSED"
    assert ran.lines[0]["gate"]["closed_at"] == gate.closed_at
    assert changed(before, contents(valkey.client)) == {emails.gate_key.encode(), keys.AUDIT, keys.AUDIT_INDEX}
    assert emails.claim("w") is None
    assert "by " + actor().name in ledger(*GATE).words
    assert ledger(*GATE, "open", "--reason", "it is up").lines[0]["outcome"] == "OPENED"
    assert emails.claim("w")
    opened, closed = noted(valkey)
    assert (closed.action, closed.reason, opened.action, opened.reason) == (
        "close gate",
        "the gateway is down",
        "open gate",
        "it is up",
    )
    assert {(record.by, record.fields["namespace"], record.queue) for record in (opened, closed)} == {
        (actor().id, "shop", "emails")
    }


def test_what_changed_nothing_says_so_and_is_not_recorded(valkey: Server) -> None:
    emails = ledger_of(valkey.client)
    assert ledger(*GATE, "open").lines[0]["outcome"] == "OPEN_BEFORE"
    emails.close_gate(Actor("u-1", "Ann"), "mine\x1b[2J")
    before = contents(valkey.client)
    ran = ledger(*GATE, "close", "--reason", "other")
    assert (ran.ended, ran.lines[0]["outcome"]) == (0, "CLOSED_BEFORE")
    assert "by Ann: mine\\x1b[2J." in ran.words
    assert ledger(*GATE, "close").ended == 2  # it needs a reason
    assert changed(before, contents(valkey.client)) == set()


def test_done_without_a_record_is_told(valkey: Server) -> None:
    valkey.client.set(keys.AUDIT, "something else")
    ran = ledger(*GATE, "close", "--reason", "x")
    assert ran.ended == 4
    assert ran.lines[0]["outcome"] == "CLOSED"
    assert "The audit log has no record of this: AUDIT_BROKEN." in ran.words
    assert ledger_of(valkey.client).gate()
