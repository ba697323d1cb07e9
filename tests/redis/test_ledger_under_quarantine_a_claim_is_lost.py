"""Who holds a record that was set aside holds it no more: it stays out of both indexes until it is released."""

import pytest
import redis as redis_py

from joobq_admin.joobq.delivery import State
from tests.support.database import contents
from tests.support.ledgers import HOUR, held, ledger_of, mend, spoil_header, spoil_payload

SPOIL = pytest.mark.parametrize("spoil", [spoil_header, spoil_payload])


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
