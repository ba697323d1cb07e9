"""A closed gate has one owner, who is told to everybody else; any value in its key closes it."""

import redis as redis_py

from joobq_admin.joobq.delivery import Actor, Gate, GateChange, GateOutcome
from tests.support.database import changed, contents
from tests.support.ledgers import clock, held, ledger_of

ANN, BOB = Actor("u-1", "Ann Āboliņa"), Actor("u-2", "Bob")


def test_the_first_owner_stays(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    assert ledger.gate() is None
    before, now = contents(redis), clock(redis)
    closing = ledger.close_gate(ANN, 'reindexing \n"all"')
    gate = closing.gate
    assert closing.outcome is GateOutcome.CLOSED
    assert gate == Gate("u-1", "Ann Āboliņa", 'reindexing \n"all"', gate.closed_at) == ledger.gate()
    assert gate.closed_at in range(now, clock(redis) + 1)
    assert changed(before, contents(redis)) == {ledger.gate_key.encode()}
    for who in (BOB, ANN):
        assert ledger.close_gate(who, "me too") == GateChange(GateOutcome.CLOSED_BEFORE, gate)
    assert ledger.gate() == gate


def test_anybody_opens_it_and_is_told_whose_it_was(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    gate = ledger.close_gate(ANN, "because").gate
    assert ledger.open_gate(BOB) == GateChange(GateOutcome.OPENED, gate)
    assert ledger.gate() is None
    assert ledger.open_gate(BOB) == GateChange(GateOutcome.OPEN_BEFORE, None)
    assert redis.exists(ledger.gate_key) == 0


def test_only_the_gate_that_is_meant_is_opened(redis: redis_py.Redis, monkeypatch) -> None:
    ledger = ledger_of(redis)
    first = ledger.close_gate(ANN, "because").gate
    assert ledger.open_gate(BOB, first) == GateChange(GateOutcome.OPENED, first)
    assert ledger.open_gate(BOB, first) == GateChange(GateOutcome.OPEN_BEFORE, None)
    second = ledger.close_gate(ANN, "because of another thing").gate
    before = contents(redis)
    assert ledger.open_gate(BOB, first) == GateChange(GateOutcome.CHANGED, second)
    assert contents(redis) == before
    read = ledger._read

    def another_closes_it(*calls):
        found = read(*calls)
        redis.set(ledger.gate_key, "1")
        return found

    monkeypatch.setattr(ledger, "_read", another_closes_it)
    assert ledger.open_gate(BOB, second) == GateChange(GateOutcome.CHANGED, Gate("", "", "", None))
    assert ledger.open_gate(BOB).outcome is GateOutcome.OPENED
    assert redis.exists(ledger.gate_key) == 0


def test_whatever_stands_there_closes_it(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    claim = held(ledger)
    nested = b"17 " + b"[" * 9_999
    for value in (b"", b"1", b"17 no json", b"17 {}", nested, b'x {"by":"a","name":"b","reason":"c"}', b"\xff"):
        redis.set(ledger.gate_key, value)
        assert ledger.gate() == Gate("", "", "", None)
        assert ledger.renew(claim).outcome.name == "GATE_CLOSED"
        assert ledger.stats().gate == Gate("", "", "", None)
        assert ledger.open_gate(ANN).outcome is GateOutcome.OPENED
    redis.set(ledger.gate_key, b'%d {"by":"a","name":"b","reason":"c"}' % 10**15)
    assert ledger.gate() == Gate("a", "b", "c", None)  # a time of no calendar
