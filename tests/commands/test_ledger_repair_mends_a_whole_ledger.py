"""One cycle through records and indexes, or one after the other until Ctrl-C."""

import json
import signal

import pytest

from joobq_admin.joobq import keys
from tests.support.commands import ledger, noted, process
from tests.support.database import changed, contents
from tests.support.eventually import eventually
from tests.support.ledgers import HOUR, MS, agrees, clock, held, ledger_of, run_out, spoil_payload
from tests.support.operators import ANN
from tests.support.servers import Server

pytestmark = pytest.mark.usefixtures("with_django")
REPAIR = ("repair", "shop:emails")


def test_it_mends_and_tells_how_much(valkey: Server) -> None:
    emails = ledger_of(valkey.client)
    over = held(emails, "over", lease=MS)
    emails.admit_many([(str(n), "x") for n in range(250)])
    spoil_payload(emails, "7")
    valkey.client.zrem(emails.ready_key, "8")
    valkey.client.zadd(emails.leases_key, {"stranger": 1})
    run_out(emails, over)
    ran = ledger(*REPAIR, "--reason", "after the crash")
    assert ran.ended == 3  # something needs a look
    (told,) = ran.lines
    assert told.pop("scanned") >= 501
    assert told == {"ledger": "shop:emails", "expired": 1, "mended": 2, "quarantined": 1}
    assert agrees(emails)
    (record,) = noted(valkey)
    assert (record.action, record.reason, record.fields["mended"]) == ("repair", "after the crash", "2")
    again = ledger(*REPAIR)
    assert (again.ended, again.lines[0]["mended"], again.lines[0]["quarantined"]) == (0, 0, 0)


def test_where_nothing_is_wrong_nothing_moves(valkey: Server) -> None:
    emails = ledger_of(valkey.client)
    emails.admit("a", "1")
    held_until_later = emails.claim("w", HOUR)
    before = contents(valkey.client)
    assert ledger(*REPAIR).ended == 0
    assert {key for key in changed(before, contents(valkey.client)) if b"delivery" in key} == set()
    assert held_until_later


def test_a_cycle_that_somebody_began_is_gone_on_with(valkey: Server) -> None:
    emails = ledger_of(valkey.client)
    emails.admit_many([(str(n), "x") for n in range(250)])
    began = emails.begin_cycle("op1", ANN, 0)
    assert began.ended_at is None
    spoil_payload(emails, str(emails.records(began.done.cursor.partition(":")[2]).records[0].request_id))
    ran = ledger(*REPAIR, "--reason", "mine")
    assert ran.words == f"It goes on with what {ANN.name} began.\n"
    assert (ran.ended, ran.lines[0]["quarantined"]) == (3, 1)
    assert ran.lines[0]["scanned"] >= 499 > began.done.records
    cycle = emails.cycle()
    assert (cycle.operation, bool(cycle.ended_at)) == ("op1", True)
    (record,) = noted(valkey)
    assert (record.action, record.by, record.operation, record.reason) == ("repair", ANN.id, "op1", "")


def test_while_another_takes_a_step_it_waits(valkey: Server) -> None:
    emails = ledger_of(valkey.client)
    emails.admit("a", "1")
    began = emails.begin_cycle("op1", ANN, 0)
    key = keys.repair(emails.namespace, emails.queue)
    valkey.client.hset(key, "until", clock(valkey.client) + 300)
    assert ledger(*REPAIR).ended == 0
    assert clock(valkey.client) - began.began_at >= 300
    assert emails.cycle().ended_at


def test_a_watch_goes_on_until_ctrl_c_and_records_only_what_it_found(valkey: Server) -> None:
    emails = ledger_of(valkey.client)
    emails.admit("a", "1")
    valkey.client.zrem(emails.ready_key, "a")
    with process(valkey, *REPAIR, "--watch") as running:
        assert running.stdout
        assert json.loads(running.stdout.readline())["mended"] == 1
        eventually(lambda: noted(valkey))
        running.send_signal(signal.SIGINT)
        _, words = running.communicate(timeout=20)
    assert (running.returncode, words) == (130, "")
    assert agrees(emails)
