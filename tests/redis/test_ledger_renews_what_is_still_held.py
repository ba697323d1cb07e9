"""A lease is made longer, never shorter, for the one who holds it; a closed gate lets it run out."""

from dataclasses import replace

import redis as redis_py

from joobq_admin.joobq.delivery import Claim, Ledger, Settlement, SettlementOutcome, State
from tests.support.database import contents
from tests.support.ledgers import (
    HOUR,
    MS,
    SECOND,
    agrees,
    clock,
    held,
    indexes,
    ledger_of,
    run_out,
    spoil_header,
)
from tests.support.operators import ANN


def is_lost(ledger: Ledger, claim: Claim) -> bool:
    before, said = contents(ledger.redis), ledger.renew(claim, HOUR)
    assert contents(ledger.redis) == before
    return said == Settlement(SettlementOutcome.LOST, claim)


def test_it_ends_later(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    claim, before = held(ledger), clock(redis)
    renewed = ledger.renew(claim, HOUR)
    assert renewed.outcome.name == "APPLIED"
    assert renewed.claim == replace(claim, lease_until=renewed.claim.lease_until)
    assert renewed.claim.lease_until - 3_600_000 in range(before, clock(redis) + 1)
    assert indexes(ledger) == ({}, {"a": renewed.claim.lease_until})
    assert ledger.resolve("a").updated_at >= before
    assert agrees(ledger)


def test_it_never_ends_earlier(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    claim = held(ledger)
    assert ledger.renew(claim, SECOND) == Settlement(SettlementOutcome.APPLIED, claim)


def test_an_older_copy_of_the_claim_will_do(redis: redis_py.Redis) -> None:
    """A thread renews while another settles: its bytes have changed, it is the same claim."""
    ledger = ledger_of(redis)
    claim = held(ledger)
    ledger.renew(ledger.renew(claim).claim, HOUR)
    assert ledger.renew(claim).outcome.name == "APPLIED"
    assert ledger.settle(claim).outcome.name == "APPLIED"


def test_what_is_over_settled_or_of_another_is_lost(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    over = held(ledger, "over", lease=MS)
    run_out(ledger, over)
    assert is_lost(ledger, over)  # though nobody else has it yet
    ledger.expire()
    assert is_lost(ledger, over)
    assert ledger.claim("w").attempt == 2
    assert is_lost(ledger, over)
    for state in (State.COMPLETED, State.DEAD, State.READY):
        settled = held(ledger, state.value)
        ledger.settle(settled, state, HOUR if state is State.READY else 0 * SECOND)
        assert is_lost(ledger, settled)
    claim = held(ledger)
    for other in (
        replace(claim, owner="v"),
        replace(claim, attempt=2),
        replace(claim, admitted_at=claim.admitted_at + 1),
        replace(claim, request_id="b"),
    ):
        assert is_lost(ledger, other)
    spoil_header(ledger, "a")
    assert is_lost(ledger, claim)


def test_a_closed_gate_extends_nothing_and_lost_is_told_first(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    claim, over = held(ledger), held(ledger, "b", lease=MS)
    run_out(ledger, over)
    ledger.close_gate(ANN, "because")
    before = contents(redis)
    assert ledger.renew(claim, HOUR) == Settlement(SettlementOutcome.GATE_CLOSED, claim)
    assert contents(redis) == before
    assert is_lost(ledger, over)
    ledger.open_gate(ANN)
    assert ledger.renew(claim, HOUR).outcome.name == "APPLIED"
