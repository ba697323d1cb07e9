"""Delivery records of which one byte was changed, removed or added, and what a ledger makes of them.

Of each record another place is spoilt: of header and payload together every place, in each of the three ways.
"""

from joobq_admin.joobq.delivery import Claim, CorruptRecord, Ledger, Record, State
from joobq_admin.joobq.delivery.record import encode
from tests.support.ledger_trace import evidence
from tests.support.ledgers import HOUR, NOW, TRACE, indexes, mend

OWNER = "w \0é"
PAYLOADS = [b"", b"1", b"\0\n 2", b"payload of a request", b"large" * 1_000]
ENDS = [State.READY, State.COMPLETED, State.DEAD]
Pair = tuple[bytes, bytes]


def example(n: int) -> Record:
    """A record for each n, of all shapes."""
    state = list(State)[n % 4]
    return Record(
        request_id=("a", "é\n\0", "r" * 300)[n % 3] + str(n),
        payload=PAYLOADS[n % 5],
        state=state,
        due_at=1_795_000_000_000 + n,
        owner=OWNER if n % 3 or state is State.LEASED else "",
        lease_until=1_795_000_000_999 + n if state is State.LEASED else None,
        attempt=n,
        admitted_at=1_794_000_000_000 - n,
        updated_at=1_795_000_000_000,
        traceparent=TRACE if n % 2 else None,
    )


def changes(value: bytes) -> int:
    """In how many ways one byte of it is spoilt here."""
    return 3 * len(value) + 1


def changed(value: bytes, which: int) -> bytes:
    at, how = divmod(which, 3)
    if how == 0:
        return value[:at] + (b"0", b" ", b"\0")[at % 3] + value[at:]
    return value[:at] + (b"" if how == 1 else bytes([value[at] ^ 1 << at % 8])) + value[at + 1 :]


def spoilt(pair: Pair, which: int) -> Pair | None:
    """None: header and payload have fewer places than that."""
    header, payload = pair
    if which < changes(header):
        return changed(header, which), payload
    which -= changes(header)
    return (header, changed(payload, which)) if which < changes(payload) else None


LONGEST = encode(example(3 * 4 * 5 + 3))  # of those whose payload is not large
MOST = sum(map(changes, LONGEST))


class Spoiling:
    """MOST requests in an empty ledger, of which nearly all are then spoilt; each turn spoils other places of each."""

    def __init__(self, ledger: Ledger, ends: list[State], turn: int) -> None:
        self.ledger, self.redis = ledger, ledger.redis
        names = [f"{n} é\0" for n in range(MOST)]
        for at, trace in enumerate((TRACE, None)):
            ledger.admit_many(((name, PAYLOADS[n % 5]) for n, name in enumerate(names) if n % 2 == at), NOW, trace)
        self.claims = [claim for _ in range(4) for claim in ledger.claim_many(OWNER, 128, HOUR)]
        states = [ends[n % len(ends)] for n in range(len(self.claims))]
        ledger.settle_many(
            (claim, state) for claim, state in zip(self.claims, states, strict=True) if state is not State.LEASED
        )
        self.sound = self.stored()
        self.spoilt = dict[str, Pair]()
        self.headers = set[str]()  # of these the header is spoilt, of the others the payload
        pipe = self.redis.pipeline(transaction=False)
        for n, name in enumerate(names):
            if pair := spoilt(self.sound[name], (n + turn) % MOST):
                self.spoilt[name] = pair
                self.headers |= {name} if pair[0] != self.sound[name][0] else set()
                pipe.hset(ledger.records_key, name, pair[0]).hset(ledger.payloads_key, name, pair[1])
        pipe.execute()
        found = ledger.resolve_many(names)
        corrupt = {name for name, what in zip(names, found, strict=True) if isinstance(what, CorruptRecord)}
        assert corrupt == self.spoilt.keys()

    def stored(self) -> dict[str, Pair]:
        headers, payloads = map(self.redis.hgetall, (self.ledger.records_key, self.ledger.payloads_key))
        return {name.decode(): (header, payloads[name]) for name, header in headers.items()}

    def claimed(self) -> set[str]:
        """All that can be; with the payloads that were admitted."""
        claims = list[Claim]()
        while got := self.ledger.claim_many("v", 128):
            claims += got
        assert all(claim.payload == self.sound[claim.request_id][1] for claim in claims)
        return {claim.request_id for claim in claims}

    def is_aside(self) -> None:
        """All that is spoilt, as it stands, and nothing else; and it is in no index."""
        now, spoilt = self.stored(), self.spoilt.keys()
        copies = {name.decode(): copy for name, copy in self.redis.hgetall(self.ledger.quarantine_key).items()}
        assert copies == {name: evidence(*now[name]) for name in spoilt}
        for name in spoilt:
            header, payload = self.spoilt[name]
            # a payload of the right length: a claim had to lease it to look at it
            looked_at = name not in self.headers and len(payload) == len(self.sound[name][1])
            assert now[name] == (now[name][0] if looked_at else header, payload)
        ready, leases = indexes(self.ledger)
        assert not (ready.keys() | leases.keys()) & spoilt


def found_by_claims(ledger: Ledger, turn: int) -> None:
    """All are due, those that were claimed before too. What is spoilt is set aside, the others are handed out."""
    spoiling = Spoiling(ledger, [State.READY], turn)
    assert spoiling.claimed() == spoiling.sound.keys() - spoiling.spoilt.keys()
    spoiling.is_aside()
    assert mend(ledger) == (0, 0, 0)


def found_by_repair(ledger: Ledger, turn: int) -> None:
    """Of all states. Who held a record whose header is spoilt holds it no more."""
    spoiling = Spoiling(ledger, [*State], turn)
    assert mend(ledger) == (0, 0, len(spoiling.spoilt))
    spoiling.is_aside()
    assert spoiling.stored() == spoiling.sound | spoiling.spoilt
    lost = [claim for claim in spoiling.claims if claim.request_id in spoiling.headers]
    settled = ledger.settle_many((claim, state) for claim in lost for state in ENDS)
    assert {said.outcome.name for said in [*settled, *map(ledger.renew, lost)]} == {"LOST"}
    assert spoiling.claimed().isdisjoint(spoiling.spoilt)
    assert mend(ledger) == (0, 0, 0)
