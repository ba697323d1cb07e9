"""A claim ends once; told again it says so, and whoever holds it no more has lost it."""

from dataclasses import replace

import pytest
import redis as redis_py

from joobq_admin.joobq.delivery import Actor, Claim, Ledger, State, steps
from tests.support.database import contents
from tests.support.ledgers import (
    HOUR,
    MS,
    NOW,
    SECOND,
    agrees,
    held,
    indexes,
    ledger_of,
    run_out,
    spoil_header,
    stored,
    until,
)
from tests.support.trips import sends

BOTH = pytest.mark.parametrize("optimized", [True, False], ids=["batches", "one by one"])
ENDS = (State.COMPLETED, State.DEAD, State.READY)


def changes_nothing(ledger: Ledger, claim: Claim, state: State = State.COMPLETED, delay=NOW) -> str:
    before, said = contents(ledger.redis), ledger.settle(claim, state, delay)
    assert contents(ledger.redis) == before
    assert said.claim == claim
    return said.outcome.name


@pytest.mark.parametrize("state", ENDS)
def test_it_ends_as_asked_and_says_so_again(redis: redis_py.Redis, state: State) -> None:
    ledger = ledger_of(redis)
    claim = held(ledger)
    assert ledger.settle(claim, state).outcome.name == "APPLIED"
    record = ledger.resolve("a")
    assert (record.state, record.owner, record.attempt, record.lease_until) == (state, "w", 1, None)
    assert record.payload == b"payload of a"
    assert record.due_at == (record.updated_at if state is State.READY else claim.admitted_at)
    assert indexes(ledger) == ({"a": record.due_at} if state is State.READY else {}, {})
    assert agrees(ledger)
    for again in ENDS:
        assert changes_nothing(ledger, claim, again) == ("ALREADY" if again is state else "LOST")


def test_it_is_due_again_after_the_delay(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    claim = held(ledger)
    ledger.settle(claim, State.READY, HOUR)
    record = ledger.resolve("a")
    assert record.due_at == record.updated_at + 3_600_000
    assert ledger.claim("v") is None
    assert changes_nothing(ledger, claim, State.READY, HOUR) == "ALREADY"
    assert changes_nothing(ledger, claim, State.READY) == "LOST"  # that is another outcome
    assert ledger.settle(claim).outcome.name == "LOST"


def test_a_delay_means_nothing_to_what_is_over(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    claim = held(ledger)
    ledger.settle(claim, State.DEAD, HOUR)
    assert changes_nothing(ledger, claim, State.DEAD) == "ALREADY"


def test_what_was_claimed_since_is_lost(redis: redis_py.Redis) -> None:
    """Also when the answer was lost: the next one has it at once, and only that one ends it."""
    ledger = ledger_of(redis)
    claim = held(ledger)
    ledger.settle(claim, State.READY)
    second = ledger.claim("w")
    assert second.attempt == 2
    assert changes_nothing(ledger, claim, State.READY) == "LOST"
    assert changes_nothing(ledger, claim) == "LOST"
    assert ledger.settle(second).outcome.name == "APPLIED"
    assert changes_nothing(ledger, claim) == "LOST"


def test_a_lease_that_is_over_is_lost_before_anybody_else_has_it(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    claim = held(ledger, lease=MS)
    run_out(ledger, claim)
    for state in ENDS:
        assert changes_nothing(ledger, claim, state) == "LOST"
    ledger.expire()
    for state in ENDS:  # READY without an owner is nobody's outcome
        assert changes_nothing(ledger, claim, state) == "LOST"


def test_another_claim_is_lost(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    claim = held(ledger)
    for other in (
        replace(claim, owner="v"),
        replace(claim, attempt=2),
        replace(claim, admitted_at=claim.admitted_at - 1),
        replace(claim, request_id="b"),
    ):
        assert changes_nothing(ledger, other) == "LOST"
    spoil_header(ledger, "a")
    assert changes_nothing(ledger, claim) == "LOST"


def test_a_request_that_was_admitted_again_is_another(redis: redis_py.Redis) -> None:
    """After a prune attempts begin again."""
    ledger = ledger_of(redis)
    old = held(ledger)
    ledger.settle(old)
    until(redis, ledger.resolve("a").updated_at)
    assert ledger.prune(NOW).pruned == 1
    new = held(ledger)
    assert (new.attempt, new.owner, new.admitted_at > old.admitted_at) == (old.attempt, old.owner, True)
    assert changes_nothing(ledger, old) == "LOST"
    assert ledger.settle(new).outcome.name == "APPLIED"
    assert changes_nothing(ledger, old) == "LOST"


def test_a_closed_gate_lets_work_in_flight_end(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    claims = [held(ledger, state.value) for state in ENDS]
    ledger.close_gate(Actor("u-1", "Ann"), "because")
    for claim, state in zip(claims, ENDS, strict=True):
        assert ledger.settle(claim, state).outcome.name == "APPLIED"


@BOTH
def test_many_end_in_the_order_of_asking(redis: redis_py.Redis, optimized: bool) -> None:
    ledger = ledger_of(redis, optimized=optimized)
    ledger.admit_many([(str(n), b"") for n in range(128)])
    claims = ledger.claim_many("w")
    items = [(claim, ENDS[n % 3], SECOND) for n, claim in enumerate(claims)]
    items += [(claims[0], State.COMPLETED), (claims[0], State.DEAD), (replace(claims[1], owner="v"), State.DEAD)]
    said = ledger.settle_many(iter(items))
    assert [each.outcome.name for each in said] == ["APPLIED"] * 128 + ["ALREADY", "LOST", "LOST"]
    assert [each.claim for each in said] == [item[0] for item in items]
    states = [record.state for record in ledger.resolve_many(claim.request_id for claim in claims)]
    assert states == [ENDS[n % 3] for n in range(128)]
    assert ledger.settle_many([]) == []
    assert agrees(ledger)


@BOTH
def test_a_batch_holds_128_claims(redis: redis_py.Redis, optimized: bool) -> None:
    ledger = ledger_of(redis, optimized=optimized)
    items = [(held(ledger), State.COMPLETED)] * 129
    redis.script_load(steps.SETTLE.text)
    with sends(redis) as count:
        ledger.settle_many(items)
        assert count() == (2 if optimized else 129)


def test_settling_never_touches_the_payload(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    claim = held(ledger)
    redis.hset(ledger.payloads_key, "a", "somebody changed it")
    assert ledger.settle(claim).outcome.name == "APPLIED"
    assert stored(ledger, "a")[1] == b"somebody changed it"
