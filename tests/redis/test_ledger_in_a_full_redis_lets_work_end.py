"""No memory left: nothing new is admitted, what is in flight still ends. A replica answers nothing for its primary."""

from collections.abc import Callable
from typing import Any

import pytest
import redis as redis_py

from joobq_admin.joobq.delivery import Claim, Ledger, ReviewOutcome, State
from tests.support.database import contents
from tests.support.eventually import eventually
from tests.support.ledgers import HOUR, MS, NOW, agrees, held, ledger_of, run_out, spoil_header, stored
from tests.support.operators import ANN
from tests.support.servers import KINDS, Server

NewServer = Callable[..., Server]


def fill(redis: redis_py.Redis) -> None:
    redis.config_set("maxmemory", 1)


@pytest.mark.parametrize("kind", KINDS)
def test_work_in_flight_ends_and_nothing_new_comes(new_server: NewServer, kind: str) -> None:
    redis = new_server(kind).client
    ledger = ledger_of(redis)
    over = held(ledger, "over", lease=MS)
    claims = [held(ledger, name) for name in ("completed", "dead", "again", "renewed")]
    ledger.admit("spoilt", b"1")
    spoil_header(ledger, "spoilt")
    ledger.admit("waiting", b"1")
    run_out(ledger, over)
    fill(redis)
    before = contents(redis)
    with pytest.raises(redis_py.exceptions.OutOfMemoryError):
        ledger.admit("new", b"1")
    assert contents(redis) == before
    assert ledger.close_gate(ANN, "because").outcome.name == "CLOSED"  # to stop work needs no memory to speak of
    assert ledger.claim("w") is None
    assert ledger.open_gate(ANN).outcome.name == "OPENED"
    assert ledger.admit("waiting", b"1").outcome.name == "DUPLICATE"
    for claim, state in zip(claims, (State.COMPLETED, State.DEAD, State.READY), strict=False):
        assert ledger.settle(claim, state, HOUR).outcome.name == "APPLIED"
    assert ledger.renew(claims[3], HOUR).outcome.name == "APPLIED"
    assert ledger.claim("w").request_id == "waiting"
    assert ledger.claim("w").request_id == "over"
    assert ledger.repair_page().quarantined == 0  # it was set aside by the claim
    assert set(redis.hkeys(ledger.quarantine_key)) == {b"spoilt"}
    (found,) = ledger.quarantined().records
    assert ledger.discard("spoilt", found.digest, ANN) is ReviewOutcome.DISCARDED
    eventually(lambda: ledger.prune(NOW).pruned)
    redis.config_set("maxmemory", 0)
    assert ledger.admit("new", b"1").outcome.name == "ACCEPTED"
    assert agrees(ledger)


@pytest.mark.parametrize("kind", KINDS)
def test_an_import_needs_memory(new_server: NewServer, kind: str) -> None:
    redis = new_server(kind).client
    ledger = ledger_of(redis)
    ledger.close_gate(ANN, "moving house")
    ledger.import_record("a", b"1", State.DEAD, 1)
    fill(redis)
    before = contents(redis)
    with pytest.raises(redis_py.exceptions.OutOfMemoryError):
        ledger.import_record("b", b"1", State.DEAD, 1)
    assert ledger.import_record("a", b"1", State.DEAD, 1).outcome.name == "DUPLICATE"
    assert ledger.open_gate(ANN).outcome.name == "OPENED"
    assert set(contents(redis)) < set(before)


ON_A_REPLICA: dict[str, Callable[[Ledger, Claim], Any]] = {
    "admit": lambda ledger, claim: ledger.admit("a", b"payload of a"),
    "admit another": lambda ledger, claim: ledger.admit("a", b"2"),
    "claim": lambda ledger, claim: ledger.claim("w"),
    "renew": lambda ledger, claim: ledger.renew(claim),
    "settle": lambda ledger, claim: ledger.settle(claim),
    "settle what is not held": lambda ledger, claim: ledger.settle_many([(claim, State.DEAD)]),
    "expire": lambda ledger, claim: ledger.expire(),
    "import_record": lambda ledger, claim: ledger.import_record("a", b"1", State.DEAD, 1),
    "repair": lambda ledger, claim: ledger.repair(),
    "repair_indexes": lambda ledger, claim: ledger.repair_indexes(),
    "prune": lambda ledger, claim: ledger.prune(HOUR),
    "close_gate": lambda ledger, claim: ledger.close_gate(ANN, ""),
    "open_gate": lambda ledger, claim: ledger.open_gate(ANN),
}


def refusal(ask: Callable[[Ledger, Claim], Any], ledger: Ledger, claim: Claim) -> type[Exception] | None:
    try:
        ask(ledger, claim)
    except redis_py.RedisError as error:
        return type(error)
    return None


@pytest.mark.parametrize("kind", KINDS)
def test_a_replica_refuses_everything_that_could_change(new_server: NewServer, kind: str) -> None:
    """It may lag: what it holds is no answer. It can be read."""
    primary = new_server(kind)
    ledger = ledger_of(primary.client)
    claim = held(ledger)
    replica = new_server(kind, replica_of=primary)
    here = ledger_of(replica.client)
    eventually(lambda: here.resolve("a"))
    before = contents(replica.client)
    for name, ask in ON_A_REPLICA.items():
        assert refusal(ask, here, claim) is redis_py.exceptions.ReadOnlyError, name
    assert contents(replica.client) == before
    assert stored(here, "a") == stored(ledger, "a")
    assert here.stats().leased == len(here.in_flight(5)) == len(here.records().records) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_forgotten_script_is_sent_with_its_text(new_server: NewServer, kind: str) -> None:
    ledger = ledger_of(new_server(kind).client)
    claim = held(ledger, lease=HOUR)
    for name, ask in ON_A_REPLICA.items():
        ledger.redis.script_flush()
        assert refusal(ask, ledger, claim) is None, name
    assert ledger.resolve("a").state is State.COMPLETED
    assert agrees(ledger)
