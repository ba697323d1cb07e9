"""The connection is cut at each byte of what a batch answers: a first part of it was done, which may be all of it or
nothing, and the same call again makes it one whole call."""

from collections.abc import Callable
from itertools import count

import pytest

from joobq_admin.joobq.delivery import Claim, Ledger, State
from joobq_admin.joobq.outcome import AnswerLost
from tests.support.ledgers import HOUR, agrees, ledger_of
from tests.support.servers import Proxy, Server

NewProxy = Callable[[Server], Proxy]
Call = Callable[[Ledger], list[str]]
FRESH = {"admit": "ACCEPTED", "settle": "APPLIED", "claim": "LEASED"}
DONE = {"admit": "DUPLICATE", "settle": "ALREADY"}


def admitted(ledger: Ledger, n: int) -> list[str]:
    requests = ((f"{n} {which}", "payload") for which in "ab")
    return [said.outcome.name for said in ledger.admit_many(requests)]


def prepared(ledger: Ledger, what: str, n: int) -> Call:
    """A call about two requests of which nothing is known yet: what it answers for each."""
    if what == "admit":
        return lambda asked: admitted(asked, n)
    admitted(ledger, n)
    if what == "claim":
        return lambda asked: ["LEASED" for _ in asked.claim_many("w", 2, HOUR)]
    claims = ledger.claim_many("w", 2, HOUR)
    items = list(zip(claims, (State.COMPLETED, State.READY), (HOUR, HOUR), strict=True))
    return lambda asked: [said.outcome.name for said in asked.settle_many(items)]


def expected(what: str, done: int) -> list[str]:
    """Of two, when so many were done before. A claim whose answer was lost is leased to nobody until its lease ends."""
    return [DONE[what]] * done + [FRESH[what]] * (2 - done) if what in DONE else [FRESH[what]] * (2 - done)


@pytest.mark.parametrize("optimized", [True, False], ids=["in batches", "one by one"])
@pytest.mark.parametrize("what", ["admit", "claim", "settle", "settle, scripts forgotten"])
def test_at_each_byte(server: Server, new_proxy: NewProxy, what: str, optimized: bool) -> None:
    what, _, forgotten = what.partition(", ")
    ledger, proxy = ledger_of(server.client, optimized=optimized), new_proxy(server)
    far, parts = ledger_of(proxy.connect(socket_timeout=10), optimized=optimized), list[int]()
    prepared(ledger, what, 0)(ledger)
    for after in count():
        call = prepared(ledger, what, after + 1)
        if forgotten:
            server.client.script_flush()
        proxy.cut(after)
        try:
            answered = call(far)
        except AnswerLost:
            answered = []
        proxy.passes()
        if len(answered) == 2:
            break
        assert answered == [] or what == "claim", "a claim tells what its first steps got"
        again = call(ledger)
        parts.append(next(done for done in (0, 1, 2) if again == expected(what, done)))
    assert answered == expected(what, 0)
    assert parts == sorted(parts)
    assert set(parts) == {0, 1, 2} - ({0} if not forgotten else set()) - ({1} if optimized else set())
    assert ledger.stats().records == 2 * (after + 2)
    assert agrees(ledger)


def test_a_renewal(server: Server, new_proxy: NewProxy) -> None:
    ledger, proxy = ledger_of(server.client), new_proxy(server)
    far = ledger_of(proxy.connect(socket_timeout=10))
    ledger.admit("a", b"1")
    claim = ledger.claim("w")
    assert isinstance(claim, Claim)
    for after in count():
        lease = (after + 2) * HOUR
        proxy.cut(after)
        try:
            renewed = far.renew(claim, lease)
        except AnswerLost:
            proxy.passes()
        else:
            break
        again = ledger.renew(claim, lease)
        assert again.outcome.name == "APPLIED"
        assert ledger.resolve("a").lease_until == again.claim.lease_until > claim.lease_until + (after + 1) * 3_600_000
    assert renewed.claim.lease_until == ledger.resolve("a").lease_until
    assert after > 20
