"""Does a closed gate hold? Told by the records of the leases index: what was leased or renewed since is among them."""

from dataclasses import dataclass

from joobq_admin.joobq.delivery import CorruptRecord, Header, Ledger, LedgerStats, State

MOST = 500  # leased records that are looked at: those that end last, as one would that was leased since


@dataclass(frozen=True, slots=True)
class Proof:
    """`ids`: in the leases index; `looked`: records of the last of them, that are leased; times are unix ms.

    `newest`: when the last of these was leased or renewed; `since`: how many were after the gate was closed, None when
    it is not known when that was. `corrupt`: those that cannot tell.
    """

    ids: int
    looked: int
    corrupt: int
    newest: int | None
    since: int | None

    @property
    def holds(self) -> bool:
        return not self.corrupt and (self.ids == 0 or self.since == 0)


def prove(ledger: Ledger, stats: LedgerStats) -> Proof | None:
    """Of the gate that `stats` found closed; None when it is open, or was opened meanwhile."""
    if stats.gate is None:
        return None
    headers = ledger.leased(MOST, last=True)
    leased = [each for each in headers if isinstance(each, Header) and each.state is State.LEASED]
    if ledger.gate() != stats.gate:
        return None
    changes, closed_at = [each.updated_at for each in leased], stats.gate.closed_at
    return Proof(
        ids=stats.leased + stats.expired,
        looked=len(leased),
        corrupt=sum(isinstance(each, CorruptRecord) for each in headers),
        newest=max(changes, default=None),
        since=None if closed_at is None else sum(change > closed_at for change in changes),
    )
