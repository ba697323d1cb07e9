"""Records of elsewhere are taken over while nobody claims; a second import changes nothing."""

import pytest
import redis as redis_py

from joobq_admin.joobq.delivery import Admission, AdmissionOutcome, Ledger, State
from tests.support.database import contents
from tests.support.ledgers import NOW, agrees, ledger_of, spoil_header, spoil_payload
from tests.support.operators import ANN

DUE = 1_700_000_000_123


def closed(redis: redis_py.Redis, **options: int) -> Ledger:
    ledger = ledger_of(redis, **options)
    ledger.close_gate(ANN, "moving house")
    return ledger


@pytest.mark.parametrize("state", State)
def test_it_is_taken_over_and_a_second_time_changes_nothing(redis: redis_py.Redis, state: State) -> None:
    """A lease cannot be carried over: it is READY, and nobody's."""
    ledger = closed(redis)
    first = ledger.import_record("é\n", b"\0payload", state, DUE, "w \xa0")
    assert first == Admission(AdmissionOutcome.ACCEPTED, ledger.resolve("é\n"))
    leased = state is State.LEASED
    assert (first.record.state, first.record.owner) == ((State.READY, "") if leased else (state, "w \xa0"))
    assert (first.record.due_at, first.record.attempt, first.record.payload) == (DUE, 0, b"\0payload")
    before = contents(redis)
    again = ledger.import_record("é\n", b"\0payload", state, DUE, "w \xa0")
    assert again == Admission(AdmissionOutcome.DUPLICATE, first.record)
    assert contents(redis) == before
    assert agrees(ledger)


def test_it_needs_a_closed_gate(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    ledger.admit("a", b"1")
    before = contents(redis)
    for name in ("a", "b"):
        assert ledger.import_record(name, b"1", State.READY, DUE) == Admission(AdmissionOutcome.GATE_OPEN, None)
    assert contents(redis) == before


def test_any_difference_is_a_conflict(redis: redis_py.Redis) -> None:
    ledger = closed(redis, max_records=3)
    ledger.import_record("a", b"1", State.READY, DUE, "w")
    ledger.admit("admitted", b"1", NOW)
    due = ledger.resolve("admitted").due_at
    ledger.open_gate(ANN)
    assert ledger.claim("w").request_id == "a"
    ledger.close_gate(ANN, "")
    ledger.import_record("b", b"1", State.READY, DUE, "w")
    before = contents(redis)
    others = [("b", b"2", State.READY, DUE, "w"), ("b", b"1", State.DEAD, DUE, "w")]
    others += [("b", b"1", State.READY, 1, "w"), ("b", b"1", State.READY, DUE, "v"), ("b", b"1", State.READY, DUE, "")]
    others += [("a", b"1", State.READY, DUE, "w")]  # claimed since
    for other in others:
        assert ledger.import_record(*other) == Admission(AdmissionOutcome.CONFLICT, None)
    assert ledger.import_record("admitted", b"1", State.READY, due).outcome.name == "DUPLICATE"
    assert ledger.import_record("c", b"1", State.READY, DUE).outcome.name == "FULL"
    assert contents(redis) == before


def test_what_is_stored_corrupt_is_a_conflict(redis: redis_py.Redis) -> None:
    ledger = closed(redis)
    for name in ("a", "b"):
        ledger.import_record(name, b"1", State.DEAD, DUE)
    spoil_header(ledger, "a")
    spoil_payload(ledger, "b")
    before = contents(redis)
    for name in ("a", "b"):
        assert ledger.import_record(name, b"1", State.DEAD, DUE).outcome.name == "CONFLICT"
    assert contents(redis) == before


def test_a_payload_over_the_limit_is_not_taken(redis: redis_py.Redis) -> None:
    ledger = closed(redis, max_payload_bytes=1)
    assert ledger.import_record("a", b"12", State.DEAD, DUE) == Admission(AdmissionOutcome.TOO_LARGE, None)
