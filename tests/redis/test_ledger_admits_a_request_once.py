"""The first one is accepted, the same again is a duplicate, something else under its id a conflict."""

import pytest
import redis as redis_py

from joobq_admin.joobq.delivery import MAX_BATCH_BYTES, Admission, AdmissionOutcome, State, record
from joobq_admin.joobq.delivery import ledger as ledger_room
from tests.support.database import contents
from tests.support.ledgers import (
    HOUR,
    NOW,
    TRACE,
    agrees,
    clock,
    indexes,
    ledger_of,
    spoil_header,
    spoil_payload,
    stored,
)
from tests.support.trips import sends

BOTH = pytest.mark.parametrize("optimized", [True, False], ids=["batches", "one by one"])


def told(admissions: list[Admission]) -> list[str]:
    return [admission.outcome.name for admission in admissions]


def test_it_is_accepted_and_due_after_its_delay(redis: redis_py.Redis) -> None:
    ledger, before = ledger_of(redis), clock(redis)
    accepted = ledger.admit("a\n\0é", b"\0\xff payload", HOUR, TRACE)
    assert accepted.outcome.name == "ACCEPTED"
    record = accepted.record
    assert record == ledger.resolve("a\n\0é")
    assert record.admitted_at == record.updated_at in range(before, clock(redis) + 1)
    assert record.due_at == record.admitted_at + 3_600_000
    assert (record.payload, record.state, record.traceparent) == (b"\0\xff payload", State.READY, TRACE)
    assert (record.owner, record.lease_until, record.attempt) == ("", None, 0)
    assert indexes(ledger) == ({"a\n\0é": record.due_at}, {})
    assert agrees(ledger)


def test_the_same_again_is_told_as_it_stands(redis: redis_py.Redis) -> None:
    """Delay and traceparent are not compared."""
    ledger = ledger_of(redis)
    for state in (State.LEASED, State.COMPLETED, State.READY):
        ledger.admit(state, "payload", NOW, TRACE)
        claim = ledger.claim("w") if state is not State.READY else None
        if state is State.COMPLETED:
            ledger.settle(claim)
        before, again = contents(redis), ledger.admit(state, b"payload", HOUR)
        assert again == Admission(AdmissionOutcome.DUPLICATE, ledger.resolve(state))
        assert again.record.state is state
        assert contents(redis) == before


@pytest.mark.parametrize("size", [0, 1, 5_000])
def test_another_payload_is_a_conflict_of_which_nothing_is_told(redis: redis_py.Redis, size: int) -> None:
    ledger = ledger_of(redis)
    ledger.admit("a", b"x" * size)
    before = contents(redis)
    for payload in (b"x" * (size + 1), b"y" * size + b"y"):
        assert ledger.admit("a", payload) == Admission(AdmissionOutcome.CONFLICT, None)
    assert contents(redis) == before


def test_what_is_stored_corrupt_is_a_conflict(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    ledger.admit_many([("a", b"1"), ("b", b"1"), ("c", b"1")])
    spoil_header(ledger, "a")
    spoilt = spoil_payload(ledger, "b")
    redis.hdel(ledger.payloads_key, "c")
    before = contents(redis)
    again = ledger.admit_many([("a", b"1"), ("b", b"1"), ("b", spoilt), ("c", b"1")])
    assert told(again) == ["CONFLICT"] * 4
    assert [admission.record for admission in again] == [None] * 4
    assert contents(redis) == before


@BOTH
def test_a_full_ledger_takes_no_more_and_knows_what_it_holds(redis: redis_py.Redis, optimized: bool) -> None:
    """Settled ones count too."""
    ledger = ledger_of(redis, max_records=2, optimized=optimized)
    ledger.admit("a", b"1")
    ledger.settle(ledger.claim("w"))
    asked = [("b", b"1"), ("c", b"1"), ("a", b"1"), ("a", b"2"), ("b", b"1"), ("d", b"1")]
    assert told(ledger.admit_many(asked)) == ["ACCEPTED", "FULL", "DUPLICATE", "CONFLICT", "DUPLICATE", "FULL"]
    assert redis.hlen(ledger.records_key) == redis.hlen(ledger.payloads_key) == 2
    assert agrees(ledger)


@BOTH
def test_a_payload_over_the_limit_is_not_sent(redis: redis_py.Redis, optimized: bool) -> None:
    ledger = ledger_of(redis, max_payload_bytes=3, optimized=optimized)
    redis.ping()
    with sends(redis) as count:
        assert told([ledger.admit("a", b"1234")]) == ["TOO_LARGE"]
        assert count() == 0
    asked = [("a", b"123"), ("b", b"1234"), ("c", "é"), ("d", "éé")]
    assert told(ledger.admit_many(asked)) == ["ACCEPTED", "TOO_LARGE", "ACCEPTED", "TOO_LARGE"]
    assert ledger.resolve("b") is None


def test_without_limits_of_its_own_it_takes_100_000_records_of_1_mib(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    redis.hset(ledger.records_key, mapping={str(n): "" for n in range(99_999)})
    asked = [("large", bytes((1 << 20) + 1)), ("last", bytes(1 << 20)), ("one more", b"1")]
    assert told(ledger.admit_many(asked)) == ["TOO_LARGE", "ACCEPTED", "FULL"]


@BOTH
def test_many_are_answered_in_the_order_of_asking(redis: redis_py.Redis, optimized: bool) -> None:
    ledger = ledger_of(redis, optimized=optimized)
    asked = [(str(n % 150), str(n % 150 % 7)) for n in range(300)] + [("5", "other")]
    admissions = ledger.admit_many(iter(asked))
    assert told(admissions) == ["ACCEPTED"] * 150 + ["DUPLICATE"] * 150 + ["CONFLICT"]
    assert [each.record.request_id for each in admissions[:-1]] == [name for name, _ in asked[:-1]]
    assert admissions[:150] != admissions[150:300]
    assert [each.record for each in admissions[:150]] == [each.record for each in admissions[150:300]]
    assert ledger.admit_many([]) == []
    assert agrees(ledger)


def test_a_batch_holds_128_requests_or_2_mib(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis, max_payload_bytes=3 << 20)
    ledger.admit("teach", b"")
    for number, size, batches in ((128, 10, 1), (129, 10, 2), (4, MAX_BATCH_BYTES // 2, 2), (2, 3 << 20, 2)):
        with sends(redis) as count:
            ledger.admit_many([(f"{number}:{n}", bytes(size)) for n in range(number)])
            assert count() == batches


def test_a_payload_without_a_record_is_overwritten(redis: redis_py.Redis) -> None:
    """A script that was stopped between the two leaves one behind."""
    ledger = ledger_of(redis)
    redis.hset(ledger.payloads_key, "a", "left behind")
    assert ledger.resolve("a") is None
    assert told([ledger.admit("a", b"1")]) == ["ACCEPTED"]
    assert ledger.resolve("a").payload == b"1"


def test_an_index_that_takes_no_entry_costs_no_record(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    redis.set(ledger.ready_key, "of another type")
    with pytest.raises(redis_py.ResponseError, match=r"WRONGTYPE .*:ready is a string, not a zset$"):
        ledger.admit("a", b"1")
    assert ledger.resolve("a").state is State.READY
    redis.delete(ledger.ready_key)
    assert ledger.claim("w") is None
    assert ledger.repair_page().mended == 1
    assert ledger.claim("w").payload == b"1"


def test_a_payload_is_hashed_once_by_the_client(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed = list[bytes]()

    def counted(payload: bytes) -> str:
        hashed.append(payload)
        return real(payload)

    real = record.digest
    for room in (ledger_room, record):
        monkeypatch.setattr(room, "digest", counted)
    ledger = ledger_of(redis)
    ledger.admit("a", b"1")
    ledger.admit("a", b"1")
    assert hashed == [b"1", b"1"]
    assert stored(ledger, "a")[1] == b"1"
