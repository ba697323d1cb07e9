"""Whoever does not come back loses the lease: READY, due now, without an owner; the attempt is kept."""

import redis as redis_py

from joobq_admin.joobq.delivery import State
from tests.support.database import contents
from tests.support.ledgers import HOUR, MS, agrees, clock, held, indexes, ledger_of, run_out, spoil_header


def test_it_is_ready_again(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    claim = held(ledger, lease=MS)
    run_out(ledger, claim)
    before = clock(redis)
    assert ledger.expire() == 1
    record = ledger.resolve("a")
    assert (record.state, record.owner, record.attempt, record.lease_until) == (State.READY, "", 1, None)
    assert record.due_at == record.updated_at in range(before, clock(redis) + 1)
    assert record.admitted_at == claim.admitted_at
    assert agrees(ledger)
    assert ledger.expire() == 0
    assert ledger.claim("v").attempt == 2


def test_live_leases_stay_and_a_limit_is_kept(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    live = held(ledger, "live", lease=HOUR)
    ledger.admit_many([(str(n), b"") for n in range(5)])
    run_out(ledger, ledger.claim_many("w", lease=MS)[-1])
    assert ledger.expire(2) == 2
    assert len(indexes(ledger)[0]) == 2
    assert ledger.expire() == 3
    assert ledger.resolve("live").lease_until == live.lease_until
    assert agrees(ledger)


def test_the_record_decides_and_an_index_that_lies_is_mended(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    live = held(ledger, "live", lease=HOUR)
    ledger.settle(held(ledger, "done"))
    ledger.admit("later", b"", HOUR)
    held(ledger, "spoilt", lease=HOUR)
    spoil_header(ledger, "spoilt")
    redis.zadd(ledger.leases_key, {"live": 1, "done": 2, "later": 3, "ghost": 4, "spoilt": 5})
    assert ledger.expire() == 0
    assert ledger.resolve("live").lease_until == live.lease_until
    assert redis.hkeys(ledger.quarantine_key) == [b"spoilt"]
    assert agrees(ledger)
    before = contents(redis)
    assert ledger.expire() == 0
    assert contents(redis) == before
