"""Does a closed gate hold? Told by the records of the leases index: what was leased or renewed since is among them."""

from dataclasses import dataclass

from joobq_admin.joobq.delivery import Header, Ledger, LedgerStats, State

MOST = 500  # leased records that are looked at: those that end last, as one would that was leased since


@dataclass(frozen=True, slots=True)
class Proof:
    """`ids`: in the leases index; `looked`: records of the last of them, that are leased; times are unix ms.

    `newest`: when the last of these was leased or renewed; `since`: how many were after the gate was closed, None when
    it is not known when that was.
    """

    ids: int
    looked: int
    newest: int | None
    since: int | None

    @property
    def holds(self) -> bool:
        return self.ids == 0 or self.since == 0


def prove(ledger: Ledger, stats: LedgerStats) -> Proof | None:
    """Of the gate that `stats` found closed; None when it is open, or was opened meanwhile."""
    if stats.gate is None:
        return None
    leased = [
        each for each in ledger.leased(MOST, last=True) if isinstance(each, Header) and each.state is State.LEASED
    ]
    if ledger.gate() != stats.gate:
        return None
    changes, closed_at = [each.updated_at for each in leased], stats.gate.closed_at
    return Proof(
        ids=stats.leased + stats.expired,
        looked=len(leased),
        newest=max(changes, default=None),
        since=None if closed_at is None else sum(change > closed_at for change in changes),
    )
