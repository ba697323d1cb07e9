"""The script arrives once, its answer never: that is what is raised. Asked again each method says what became of it."""

from collections.abc import Callable
from typing import Any

import pytest
import redis as redis_py

from joobq_admin.joobq.delivery import Claim, Ledger, State, steps
from joobq_admin.joobq.outcome import AnswerLost, Unreachable
from tests.support.database import contents
from tests.support.eventually import eventually
from tests.support.ledgers import HOUR, agrees, held, ledger_of, mend, spoil_header
from tests.support.operators import ANN
from tests.support.servers import Proxy, Server

NewProxy = Callable[[Server], Proxy]
Ask = Callable[[Ledger, Claim], Any]


def digest(ledger: Ledger) -> str:
    (found,) = ledger.quarantined().records
    return found.digest


ASKED: dict[str, tuple[Ask, str]] = {
    "admit": (lambda ledger, claim: ledger.admit("new", b"1").outcome, "DUPLICATE"),
    "renew": (lambda ledger, claim: ledger.renew(claim, HOUR).outcome, "APPLIED"),
    "settle, completed": (lambda ledger, claim: ledger.settle(claim).outcome, "ALREADY"),
    "settle, dead": (lambda ledger, claim: ledger.settle(claim, State.DEAD).outcome, "ALREADY"),
    "settle, ready later": (lambda ledger, claim: ledger.settle(claim, State.READY, HOUR).outcome, "ALREADY"),
    "close_gate": (lambda ledger, claim: ledger.close_gate(ANN, "because").outcome, "CLOSED_BEFORE"),
}


def taught(redis: redis_py.Redis) -> Ledger:
    """A server that knows the scripts: none is sent twice, first by its name and then with its text."""
    for script in (steps.ADMIT, steps.CLAIM, steps.RENEW, steps.SETTLE, steps.CLOSE_GATE, steps.DISCARD):
        redis.script_load(script.text)
    return ledger_of(redis)


@pytest.mark.parametrize("name", ASKED)
def test_it_was_done_once(server: Server, new_proxy: NewProxy, name: str) -> None:
    ledger, proxy = taught(server.client), new_proxy(server)
    claim = held(ledger)
    before = contents(server.client)
    far, (ask, again) = ledger_of(proxy.connect(socket_timeout=10)), ASKED[name]
    proxy.cut()
    with pytest.raises(AnswerLost) as lost:
        ask(far, claim)
    assert isinstance(lost.value, redis_py.ConnectionError)
    assert proxy.scripts == 1
    eventually(lambda: contents(server.client) != before)
    after = contents(server.client)
    assert ask(ledger, claim).name == again
    assert contents(server.client) == after or name == "renew"
    assert agrees(ledger)


def test_a_discarded_record_is_missing(server: Server, new_proxy: NewProxy) -> None:
    ledger, proxy = taught(server.client), new_proxy(server)
    ledger.admit("a", b"1")
    spoil_header(ledger, "a")
    mend(ledger)
    reviewed = digest(ledger)
    proxy.cut()
    with pytest.raises(AnswerLost):
        ledger_of(proxy.connect(socket_timeout=10)).discard("a", reviewed, ANN)
    eventually(lambda: ledger.resolve("a") is None)
    assert ledger.discard("a", reviewed, ANN).name == "MISSING"


def test_a_claim_that_nobody_knows_of_comes_back_when_its_lease_is_over(server: Server, new_proxy: NewProxy) -> None:
    ledger, proxy = taught(server.client), new_proxy(server)
    ledger.admit("a", b"1")
    proxy.cut()
    with pytest.raises(AnswerLost):
        ledger_of(proxy.connect(socket_timeout=10)).claim("w", HOUR / 36_000)
    lost = eventually(lambda: ledger.in_flight(5))
    assert (lost[0].owner, lost[0].attempt) == ("w", 1)
    second = eventually(lambda: ledger.claim("v"))
    assert second.attempt == 2
    assert ledger.resolve("a").updated_at >= lost[0].lease_until


def test_who_gave_a_request_back_and_was_killed_holds_it_no_more(server: Server, new_proxy: NewProxy) -> None:
    """The next one has it at once, long before the lease would have been over: one live lease, not two."""
    ledger, proxy = taught(server.client), new_proxy(server)
    claim = held(ledger, lease=HOUR)
    proxy.cut()
    with pytest.raises(AnswerLost):
        ledger_of(proxy.connect(socket_timeout=10)).settle(claim, State.READY)
    second = eventually(lambda: ledger.claim("v", HOUR))
    assert second.attempt == 2
    before = contents(server.client)
    for state in (State.READY, State.COMPLETED):
        assert ledger.settle(claim, state).outcome.name == "LOST"
    assert ledger.renew(claim, HOUR).outcome.name == "LOST"
    assert contents(server.client) == before


def test_a_script_that_never_left_has_done_nothing(server: Server, new_proxy: NewProxy) -> None:
    proxy = new_proxy(server)
    client = proxy.connect()
    proxy.close()
    with pytest.raises(Unreachable) as told:
        ledger_of(client).admit("a", b"1")
    assert isinstance(told.value, redis_py.ConnectionError)
    assert contents(server.client) == {}
