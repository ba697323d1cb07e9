"""A claim takes what its record says is READY and due, in the order of the index, and never stumbles over the rest."""

import hashlib
from typing import Any

import pytest
import redis as redis_py

from joobq_admin.joobq.delivery import MAX_BATCH_BYTES, Claim, State
from tests.support.database import contents
from tests.support.ledgers import (
    HOUR,
    MS,
    NOW,
    SECOND,
    TRACE,
    agrees,
    clock,
    held,
    indexes,
    ledger_of,
    mend,
    run_out,
    spoil_header,
    spoil_payload,
    stored,
    until,
)
from tests.support.operators import ANN

BOTH = pytest.mark.parametrize("optimized", [True, False], ids=["batches", "one by one"])


def ids(claims: list[Claim]) -> list[str]:
    return [claim.request_id for claim in claims]


def test_it_is_leased_from_now_on(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    admitted = ledger.admit("a", b"1", traceparent=TRACE).record
    before = clock(redis)
    claim = ledger.claim("w \n\0é", 5 * SECOND)
    assert claim == Claim("a", b"1", "w \n\0é", 1, admitted.admitted_at, claim.lease_until, TRACE)
    assert claim.lease_until - 5_000 in range(before, clock(redis) + 1)
    record = ledger.resolve("a")
    assert (record.state, record.owner, record.lease_until) == (State.LEASED, "w \n\0é", claim.lease_until)
    assert indexes(ledger) == ({}, {"a": claim.lease_until})
    assert ledger.claim("v") is None
    assert agrees(ledger)


def test_a_lease_lasts_half_a_minute_unless_it_is_said_otherwise(redis: redis_py.Redis) -> None:
    ledger, before = ledger_of(redis), clock(redis)
    claim = held(ledger)
    assert claim.lease_until - 30_000 in range(before, clock(redis) + 1)
    until(redis, claim.lease_until - 30_000)
    renewed = ledger.renew(claim).claim
    assert renewed.lease_until - 30_000 in range(claim.lease_until - 30_000 + 1, clock(redis) + 1)


@BOTH
def test_the_longest_due_come_first_and_what_is_not_due_stays(redis: redis_py.Redis, optimized: bool) -> None:
    ledger = ledger_of(redis, optimized=optimized)
    for name in ("third", "first", "second"):
        until(redis, ledger.admit(name, name).record.admitted_at)
    ledger.admit("later", b"1", HOUR)
    assert ids(ledger.claim_many("w", 2)) == ["third", "first"]
    assert ids(ledger.claim_many("w", 128)) == ["second"]
    assert ledger.claim_many("w") == []
    assert agrees(ledger)


def test_nothing_is_claimed_while_the_gate_is_closed(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    held(ledger, "over", lease=MS)
    ledger.admit("a", b"1")
    ledger.close_gate(ANN, "because")
    before = contents(redis)
    assert ledger.claim("w") is None
    assert ledger.claim_many("w", 5) == []
    assert contents(redis) == before
    ledger.open_gate(ANN)
    assert ledger.claim("w").request_id == "a"


@BOTH
def test_leases_that_are_over_end_when_nothing_else_is_due(redis: redis_py.Redis, optimized: bool) -> None:
    ledger = ledger_of(redis, optimized=optimized)
    first = held(ledger, "a", lease=MS)
    run_out(ledger, first)
    ledger.admit("b", b"1")
    assert ids(ledger.claim_many("v")) == ["b"]
    second = ledger.claim("v", MS)
    assert (second.request_id, second.attempt, second.owner) == ("a", 2, "v")
    run_out(ledger, ledger.renew(held(ledger, "c", lease=MS), MS).claim)
    assert set(ids(ledger.claim_many("v"))) == {"a", "c"}
    assert agrees(ledger)


@pytest.mark.parametrize("size", [4_096, 4_097, 1 << 20])
def test_a_payload_of_any_size(redis: redis_py.Redis, size: int) -> None:
    ledger = ledger_of(redis)
    ledger.admit_many([("short", b"1"), ("long", bytes(size)), ("none", b"")])
    assert {claim.request_id: claim.payload for claim in ledger.claim_many("w")} == {
        "short": b"1",
        "long": bytes(size),
        "none": b"",
    }


def test_a_long_one_does_not_pass_through_the_script(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = ledger_of(redis)
    ledger.admit_many([("1", bytes(4_096)), ("2", bytes(4_097))])
    run, answers = ledger._run, list[list[Any]]()
    monkeypatch.setattr(ledger, "_run", lambda *args: answers.append(run(*args)) or answers[-1])
    assert [len(claim.payload) for claim in ledger.claim_many("w", 2)] == [4_096, 4_097]
    ((_, _, *flat),) = answers
    assert flat[2::3] == [bytes(4_096), None]


@BOTH
def test_many_large_payloads_come_in_steps(redis: redis_py.Redis, optimized: bool) -> None:
    ledger = ledger_of(redis, optimized=optimized, max_payload_bytes=3 << 20)
    sizes = [MAX_BATCH_BYTES + 1, 5, MAX_BATCH_BYTES // 2, MAX_BATCH_BYTES // 2, MAX_BATCH_BYTES // 2]
    ledger.admit_many([(str(at), bytes(size)) for at, size in enumerate(sizes)])
    assert ids(ledger.claim_many("w", 4)) == ["0", "1", "2", "3"]
    assert ids(ledger.claim_many("w", 4)) == ["4"]


@BOTH
@pytest.mark.parametrize("size", [1, 5_000])
def test_corrupt_ones_are_set_aside_and_the_others_go_on(redis: redis_py.Redis, optimized: bool, size: int) -> None:
    ledger = ledger_of(redis, optimized=optimized)
    ledger.admit_many([(name, name * size) for name in "abcdefg"])
    found = {"a": (spoil_header(ledger, "a"), b"a" * size), "c": (stored(ledger, "c")[0], spoil_payload(ledger, "c"))}
    redis.hdel(ledger.payloads_key, "d")
    redis.hset(ledger.payloads_key, "e", "another length")
    assert ids(ledger.claim_many("w", 3)) == ["b", "f", "g"]
    assert ledger.claim("w") is None
    ready, leases = indexes(ledger)
    assert ready == {}
    assert set(leases) == {"b", "f", "g"}
    assert set(redis.hkeys(ledger.quarantine_key)) == {b"a", b"c", b"d", b"e"}
    copy = redis.hget(ledger.quarantine_key, "a")
    assert copy == b"%d:%d:%b%b" % (len(found["a"][0]), size, *found["a"])
    assert stored(ledger, "a") == found["a"]
    assert stored(ledger, "c")[1] == found["c"][1]


def test_of_another_form_though_its_checksum_fits_it_is_set_aside_too(redis: redis_py.Redis) -> None:
    """Somebody else's program wrote it: the others go on."""
    ledger = ledger_of(redis)
    ledger.admit_many([(name, b"1") for name in "abcd"])
    body = stored(ledger, "c")[0][45:]
    others = {"a": b"of another form", "b": body.replace(b" R ", b" X "), "c": body[:110] + b"1" * 15 + body[125:]}
    for name, other in others.items():
        total = hashlib.sha1(f"1:{name}".encode() + other).hexdigest().encode()
        redis.hset(ledger.records_key, name, b"jl1 %b %b" % (total, other))
    assert ids(ledger.claim_many("w")) == ["d"]
    assert set(redis.hkeys(ledger.quarantine_key)) == {b"a", b"b", b"c"}


def test_an_index_that_lies_gives_nobody_a_lease_and_is_mended(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    leased = held(ledger, "leased")
    ledger.admit("later", b"1", HOUR)
    ledger.settle(held(ledger, "done"))
    redis.zadd(ledger.ready_key, {"leased": 1, "later": 2, "done": 3, "ghost": 4})
    redis.zrem(ledger.leases_key, "leased")
    ledger.admit("due", b"1")
    assert ledger.claim("w").request_id == "due"
    assert ledger.resolve("leased").lease_until == leased.lease_until
    assert agrees(ledger)


def test_what_is_due_by_its_record_alone_waits_for_a_repair(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    ledger.admit("a", b"1")
    redis.delete(ledger.ready_key)
    assert ledger.claim("w") is None
    assert mend(ledger) == (0, 1, 0)
    assert ledger.claim("w").request_id == "a"


def test_what_was_claimed_is_returned_though_a_later_step_fails(
    redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = ledger_of(redis)
    ledger.admit_many([(str(n), bytes(1 << 20)) for n in range(4)])
    run, steps = ledger._run, []

    def failing(*args):
        steps.append(args)
        if len(steps) == 2:
            raise redis_py.exceptions.ReadOnlyError
        return run(*args)

    monkeypatch.setattr(ledger, "_run", failing)
    assert ids(ledger.claim_many("w", 4)) == ["0", "1"]
    monkeypatch.undo()
    assert ids(ledger.claim_many("w", 4)) == ["2", "3"]


def test_a_request_of_no_delay_is_due_at_once(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    for n in range(20):
        ledger.admit(str(n), b"", NOW)
        assert ledger.claim("w").request_id == str(n)
