"""The ledger's scripts, and the one place that turns what they answer into names."""

import json
from enum import StrEnum
from typing import Any, TypeVar

from joobq_admin.joobq.delivery import asked
from joobq_admin.joobq.delivery.shapes import Gate
from joobq_admin.joobq.entry import to_text
from joobq_admin.joobq.outcome import UnexpectedReply
from joobq_admin.joobq.scripts import Script

E = TypeVar("E", bound=StrEnum)

ADMIT, CLAIM, EXPIRE, RENEW, SETTLE = (
    Script(f"delivery/{name}") for name in ("admit", "claim", "expire", "renew", "settle")
)
IMPORT_RECORD, REPAIR, REPAIR_INDEXES, QUARANTINE, PRUNE = (
    Script(f"delivery/{name}") for name in ("import_record", "repair", "repair_indexes", "quarantine", "prune")
)
RELEASE, DISCARD, CLOSE_GATE, OPEN_GATE = (
    Script(f"delivery/{name}") for name in ("release", "discard", "close_gate", "open_gate")
)
STATS, STORED, LOOK, INSPECT, INSPECT_INDEXES, RECEIPTS = (
    Script(f"delivery/{name}") for name in ("stats", "stored", "look", "inspect", "inspect_indexes", "receipts")
)


def outcome(kind: type[E], reply: Any) -> E:
    """Raises UnexpectedReply for an answer that no script gives."""
    if isinstance(reply, bytes) and to_text(reply) in kind.__members__:
        return kind[to_text(reply)]
    raise UnexpectedReply(f"{type(reply).__name__}: {reply!s:.200}")


def seen(value: bytes | None) -> bytes:
    """How a value that was read goes back into a script, to be compared there."""
    return b"-" if value is None else b"+" + value


def gate(value: bytes | None) -> Gate | None:
    """What the gate's key holds. Any value there closes the gate, ours says who did it."""
    if value is None:
        return None
    moment, _, note = value.partition(b" ")
    try:
        who, closed_at = json.loads(note), int(moment)
        known = 0 <= closed_at <= asked.LONGEST  # else no calendar goes so far
        return Gate(str(who["by"]), str(who["name"]), str(who["reason"]), closed_at if known else None)
    except (ValueError, KeyError, TypeError, RecursionError):
        return Gate("", "", "", None)
