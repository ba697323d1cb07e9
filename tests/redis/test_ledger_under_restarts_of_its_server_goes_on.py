"""A server that is killed and comes back, or forgets its scripts, between any two calls of one client: every answer is
as if nothing had been."""

from collections.abc import Callable, Iterator

import pytest

from joobq_admin.joobq.delivery import Ledger, State
from tests.support.ledgers import HOUR, agrees, ledger_of
from tests.support.operators import ANN
from tests.support.servers import KINDS, Server, connect

REQUESTS = [(name, f"payload of {name}" * 300) for name in "abcd"]
DISRUPTIONS: dict[str, Callable[[Server], object]] = {
    "killed": lambda server: server.restart(hard=True),
    "forgotten": lambda server: server.client.script_flush(),
}


def calls(ledger: Ledger) -> Iterator[tuple[object, object]]:
    """What each call answers, and must answer."""
    for again in ("ACCEPTED", "DUPLICATE"):
        yield {said.outcome.name for said in ledger.admit_many(REQUESTS)}, {again}
    a, b, c = claims = ledger.claim_many("w", 3, HOUR)
    yield [(claim.request_id, claim.payload.decode()) for claim in claims], REQUESTS[:3]
    yield ledger.renew(a, 2 * HOUR).outcome.name, "APPLIED"
    for again in ("APPLIED", "ALREADY"):
        yield ledger.settle(a).outcome.name, again
    yield ledger.settle(b, State.READY).outcome.name, "APPLIED"
    for again in ("CLOSED", "CLOSED_BEFORE"):
        yield ledger.close_gate(ANN, "moving").outcome.name, again
    yield (ledger.claim("v"), ledger.renew(c).outcome.name), (None, "GATE_CLOSED")
    for again in ("APPLIED", "ALREADY"):
        yield ledger.settle(c, State.DEAD).outcome.name, again
    for again in ("OPENED", "OPEN_BEFORE"):
        yield ledger.open_gate(ANN).outcome.name, again
    yield [(claim.request_id, claim.attempt) for claim in ledger.claim_many("v")], [("d", 1), ("b", 2)]
    yield ledger.settle(b, State.READY).outcome.name, "LOST"
    yield (ledger.repair(), ledger.expire(), ledger.prune(HOUR).pruned), ("0", 0, 0)
    states = [ledger.resolve(name).state.name for name in "abcd"]
    yield states, ["COMPLETED", "LEASED", "DEAD", "LEASED"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", DISRUPTIONS)
def test_between_any_two_calls(new_server: Callable[..., Server], kind: str, how: str) -> None:
    server = new_server(kind, persist=True)
    client = connect(server.port)
    for number, (answer, expected) in enumerate(calls(ledger_of(client))):
        assert answer == expected, number
        DISRUPTIONS[how](server)
    assert agrees(ledger_of(client))
    client.close()
