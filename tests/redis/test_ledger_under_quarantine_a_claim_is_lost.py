"""A record that was set aside moves no more, whatever an index or a claim says of it, until it is released."""

import pytest
import redis as redis_py

from joobq_admin.joobq.delivery import Ledger, State
from tests.support.database import contents
from tests.support.ledgers import (
    HOUR,
    MS,
    held,
    indexes,
    ledger_of,
    mend,
    run_out,
    spoil_header,
    spoil_payload,
    stored,
)
from tests.support.operators import ANN

SPOIL = pytest.mark.parametrize("spoil", [spoil_header, spoil_payload])


def aside(ledger: Ledger) -> dict[bytes, tuple[bytes, bytes | None, bytes | None]]:
    """Of all that is in quarantine the copy, and header and payload as they stand."""
    copies = ledger.redis.hgetall(ledger.quarantine_key)
    return {name: (copy, *stored(ledger, name.decode())) for name, copy in copies.items()}


@SPOIL
def test_nothing_is_renewed_or_settled(redis: redis_py.Redis, spoil) -> None:
    ledger = ledger_of(redis)
    claim, other = held(ledger, "a", lease=HOUR), held(ledger, "b", lease=HOUR)
    spoil(ledger, "a")
    assert mend(ledger) == (0, 0, 1)
    before = contents(redis)
    assert ledger.renew(claim, 2 * HOUR).outcome.name == "LOST"
    for state in (State.READY, State.COMPLETED, State.DEAD):
        assert ledger.settle(claim, state).outcome.name == "LOST"
    assert contents(redis) == before
    said = ledger.settle_many([(claim, State.READY), (other, State.READY), (claim, State.READY)])
    assert [answer.outcome.name for answer in said] == ["LOST", "APPLIED", "LOST"]
    assert ledger.claim("v").request_id == "b"


@SPOIL
def test_not_even_when_it_was_settled_before(redis: redis_py.Redis, spoil) -> None:
    ledger = ledger_of(redis)
    claim = held(ledger)
    ledger.settle(claim)
    spoil(ledger, "a")
    mend(ledger)
    before = contents(redis)
    assert ledger.settle(claim).outcome.name == "LOST"
    assert contents(redis) == before


@SPOIL
@pytest.mark.parametrize("act", ["claim", "expire"])
def test_an_index_that_lies_brings_nothing_back(redis: redis_py.Redis, spoil, act: str) -> None:
    ledger = ledger_of(redis)
    over = held(ledger, "over", lease=MS)
    ledger.admit_many([("due", b"1"), ("other", b"1")])
    spoil(ledger, "over")
    spoil(ledger, "due")
    mend(ledger)
    run_out(ledger, over)
    before = aside(ledger)
    redis.zadd(ledger.ready_key, {"due": 1, "over": 2})
    redis.zadd(ledger.leases_key, {"due": 1, "over": 2})
    if act == "claim":
        assert ledger.claim("v").request_id == "other"
        assert ledger.claim("v") is None
        assert set(indexes(ledger)[1]) == {"other"}
    else:
        assert ledger.expire() == 0
        assert set(indexes(ledger)[0]) == {"other"}
        assert indexes(ledger)[1] == {}
    assert aside(ledger) == before


@pytest.mark.parametrize("left", ["nothing", "what was admitted"])
def test_its_id_is_not_admitted_again(redis: redis_py.Redis, left: str) -> None:
    ledger = ledger_of(redis)
    ledger.admit("a", b"1")
    header, _ = stored(ledger, "a")
    spoil_header(ledger, "a")
    mend(ledger)
    if left == "nothing":
        redis.hdel(ledger.records_key, "a")
        redis.hdel(ledger.payloads_key, "a")
    else:
        redis.hset(ledger.records_key, "a", header)
    ledger.close_gate(ANN, "a migration")
    before = contents(redis)
    assert ledger.admit("a", b"1").outcome.name == "CONFLICT"
    assert ledger.import_record("a", b"1", State.READY, 1).outcome.name == "CONFLICT"
    assert contents(redis) == before
