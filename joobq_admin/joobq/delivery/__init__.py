"""The delivery ledger: what happened to request X? `Ledger` is the whole of it; the other names are what it answers."""

from joobq_admin.joobq.audit import Actor
from joobq_admin.joobq.delivery.batches import MAX_BATCH, MAX_BATCH_BYTES
from joobq_admin.joobq.delivery.discovery import Discovery, Known
from joobq_admin.joobq.delivery.ledger import Ledger
from joobq_admin.joobq.delivery.reading import MAX_PAYLOAD_BYTES, MAX_RECORDS
from joobq_admin.joobq.delivery.record import CorruptRecord, Header, Record, State
from joobq_admin.joobq.delivery.shapes import (
    MENDED,
    Admission,
    AdmissionOutcome,
    Claim,
    Cycle,
    Gate,
    GateChange,
    GateOutcome,
    LedgerStats,
    Mended,
    PrunePage,
    Quarantined,
    QuarantinePage,
    RecordPage,
    RepairPage,
    ReviewOutcome,
    Seen,
    Settlement,
    SettlementOutcome,
)

__all__ = [
    "MAX_BATCH",
    "MAX_BATCH_BYTES",
    "MAX_PAYLOAD_BYTES",
    "MAX_RECORDS",
    "MENDED",
    "Actor",
    "Admission",
    "AdmissionOutcome",
    "Claim",
    "CorruptRecord",
    "Cycle",
    "Discovery",
    "Gate",
    "GateChange",
    "GateOutcome",
    "Header",
    "Known",
    "Ledger",
    "LedgerStats",
    "Mended",
    "PrunePage",
    "QuarantinePage",
    "Quarantined",
    "Record",
    "RecordPage",
    "RepairPage",
    "ReviewOutcome",
    "Seen",
    "Settlement",
    "SettlementOutcome",
    "State",
]
