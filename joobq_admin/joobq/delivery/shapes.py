"""What a ledger answers. A race that can be foreseen is an outcome here, never an exception."""

from dataclasses import dataclass, fields
from enum import StrEnum, unique

from joobq_admin.joobq.audit import Actor
from joobq_admin.joobq.delivery.record import CorruptRecord, Record


@unique
class AdmissionOutcome(StrEnum):
    """What became of a request that was brought."""

    ACCEPTED = "ACCEPTED"
    DUPLICATE = "DUPLICATE"  # it is here already, with this payload
    CONFLICT = "CONFLICT"  # something else stands under this id, or what stands there is corrupt; nothing was changed
    FULL = "FULL"  # the ledger holds `max_records`
    TOO_LARGE = "TOO_LARGE"  # the payload is over `max_payload_bytes`
    GATE_OPEN = "GATE_OPEN"  # import alone: it needs a closed gate


@unique
class SettlementOutcome(StrEnum):
    """What became of a claim that was settled or renewed."""

    APPLIED = "APPLIED"
    ALREADY = "ALREADY"  # settle alone: exactly this is stored, an earlier call did it
    LOST = "LOST"  # not held any more: the lease is over, it was settled otherwise, or set aside; nothing was changed
    GATE_CLOSED = "GATE_CLOSED"  # renew alone: it is still held, until its lease ends; settle it before


@unique
class GateOutcome(StrEnum):
    """What became of the gate."""

    CLOSED = "CLOSED"
    CLOSED_BEFORE = "CLOSED_BEFORE"  # by whom the gate says; it stays theirs
    OPENED = "OPENED"
    OPEN_BEFORE = "OPEN_BEFORE"
    CHANGED = "CHANGED"  # open alone: another gate is closed now than the one that was meant; it stays


@unique
class ReviewOutcome(StrEnum):
    """What became of a quarantined record that an operator had looked at."""

    RELEASED = "RELEASED"
    DISCARDED = "DISCARDED"
    CHANGED = "CHANGED"  # other bytes are stored now than those that were reviewed; nothing was changed
    CORRUPT = "CORRUPT"  # release alone: the record still does not decode
    MISSING = "MISSING"  # nothing is in quarantine under this id: somebody was faster, or this call's first try did it


@dataclass(frozen=True, slots=True)
class Admission:
    """`record`: as it stands after ACCEPTED and DUPLICATE, else None."""

    outcome: AdmissionOutcome
    record: Record | None


@dataclass(frozen=True, slots=True)
class Claim:
    """A lease on a request until `lease_until`. Its identity is (request_id, admitted_at, attempt, owner)."""

    request_id: str
    payload: bytes
    owner: str
    attempt: int  # 1 = the first time
    admitted_at: int  # unix ms by Redis's clock, as is
    lease_until: int
    traceparent: str | None


@dataclass(frozen=True, slots=True)
class Settlement:
    """`claim`: the one that was asked for; after a renewal that was APPLIED with its new end."""

    outcome: SettlementOutcome
    claim: Claim


@dataclass(frozen=True, slots=True)
class RepairPage:
    """One step of a repair: go on at `cursor`, "0" = the cycle is done. The rest are numbers of records."""

    cursor: str
    scanned: int
    expired: int  # their lease was over: READY again
    mended: int  # an index did not say what the record says
    quarantined: int  # found corrupt and set aside


@dataclass(frozen=True, slots=True)
class Mended:
    """A stretch of a repair: go on at `cursor`, "" = all was looked at. The rest are numbers, as in RepairPage."""

    cursor: str
    records: int
    entries: int  # of the two indexes
    expired: int
    mended: int
    quarantined: int


MENDED = tuple(field.name for field in fields(Mended))[1:]  # the names of its numbers


@dataclass(frozen=True, slots=True)
class Cycle:
    """A repair cycle as a whole, shared by all who go on with it. Times are unix ms by Redis's clock."""

    operation: str
    by: Actor  # who began it
    began_at: int
    stepped_at: int  # when its last step ended
    ended_at: int | None  # None: it is not done
    total: int  # records and entries of indexes, when it began
    done: Mended  # until now, without the steps that are lost
    lost: int  # steps of which nobody knows what they did: an answer was lost, or a process killed
    stepped: bool = False  # this call has taken a step; else another one was under way, or none was left


@dataclass(frozen=True, slots=True)
class PrunePage:
    """One step of pruning: go on at `cursor`, "0" = done. `pruned` receipts of `scanned` records were deleted."""

    cursor: str
    scanned: int
    pruned: int


@dataclass(frozen=True, slots=True)
class RecordPage:
    """One step through all records: go on at `cursor`, "0" = done. Of a corrupt one the exception stands here."""

    cursor: str
    records: tuple[Record | CorruptRecord, ...]


@dataclass(frozen=True, slots=True)
class Gate:
    """A closed gate. Empty texts and None: it was closed by other means than `close_gate`."""

    by: str  # an Actor's id
    name: str
    reason: str
    closed_at: int | None  # unix ms by Redis's clock


@dataclass(frozen=True, slots=True)
class GateChange:
    """`gate`: the one that is closed now, or the one that was opened; None after OPEN_BEFORE."""

    outcome: GateOutcome
    gate: Gate | None


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A record that was set aside. `digest` is what `release` and `discard` ask for."""

    request_id: str
    header: bytes | None  # as stored now, as is
    payload: bytes | None
    digest: str  # 64 hex digits: SHA-256 of record.evidence(header, payload)
    record: Record | CorruptRecord  # what they decode to now
    evidence: bytes  # what was found when it was set aside: record.evidence of the values of that moment


@dataclass(frozen=True, slots=True)
class Seen:
    """All that is kept of one request, at one moment. Times are unix ms by Redis's clock."""

    request_id: str
    at: int
    header: bytes | None  # as stored, as is
    payload: bytes | None
    record: Record | CorruptRecord | None  # what they decode to; None = neither is there
    ready: int | None  # its score in the ready index, when that is a time
    leases: int | None  # its score in the leases index, when that is a time
    quarantined: Quarantined | None  # while it is set aside
    gate: Gate | None


@dataclass(frozen=True, slots=True)
class QuarantinePage:
    """One step through the quarantine: go on at `cursor`, "0" = done."""

    cursor: str
    records: tuple[Quarantined, ...]


@dataclass(frozen=True, slots=True)
class LedgerStats:
    """What a ledger holds at one moment, counted by its indexes. Times are unix ms by Redis's clock."""

    at: int
    records: int  # settled and quarantined ones too
    max_records: int
    due: int
    later: int
    leased: int
    expired: int  # leases that are over and wait for expire, claim or repair
    quarantined: int
    oldest_due: int | None  # since when the first request waits, None when none is due, or the index says no time
    gate: Gate | None
    last_lease: int | None  # when the last lease ends, None when none runs, or the index says no time

    @property
    def entries(self) -> int:
        """Of the two indexes."""
        return self.due + self.later + self.leased + self.expired

    @property
    def empty(self) -> bool:
        """None of the six keys is there."""
        return not (self.records or self.entries or self.quarantined or self.gate)
