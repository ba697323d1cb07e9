"""A record as a line of JSON, and such a line as what an import takes.

That is id, payload, state, owner and when it is due, byte for byte. What else a record holds is told, and begins anew.

An id or an owner that is no UTF-8 has `_base64` behind its name; so has every payload that an export writes.
"""

from base64 import b64decode, b64encode
from dataclasses import asdict, dataclass
from typing import Any

import orjson

from joobq_admin.joobq.delivery import CorruptRecord, LedgerStats, Record, State, asked
from joobq_admin.joobq.entry import to_bytes, to_text

ANY_BYTES = ("request_id", "payload", "owner")
TOLD = ("lease_until", "attempt", "admitted_at", "updated_at", "traceparent", "corrupt")  # and not taken back
KNOWN = {"state", "due_at", *TOLD, *ANY_BYTES, *(f"{name}_base64" for name in ANY_BYTES)}


@dataclass(frozen=True, slots=True)
class Brought:
    """One line of an import, as Ledger.import_record takes it."""

    request_id: str
    payload: bytes
    state: State
    due_at: int
    owner: str


def of_record(record: Record) -> dict[str, object]:
    return {
        **named("request_id", record.request_id),
        "state": record.state,
        "due_at": record.due_at,
        **named("owner", record.owner),
        "lease_until": record.lease_until,
        "attempt": record.attempt,
        "admitted_at": record.admitted_at,
        "updated_at": record.updated_at,
        "traceparent": record.traceparent,
        "payload_base64": b64encode(record.payload).decode(),
    }


def of_no_record(request_id: str, corrupt: CorruptRecord | None) -> dict[str, object]:
    """What is not there, or not what was written, has no state."""
    return {**named("request_id", request_id), "state": None, "corrupt": corrupt and corrupt.reason}


def of_stats(ledger: str, stats: LedgerStats) -> dict[str, object]:
    """How many records it may hold is its producers' to say: it stands nowhere in Redis."""
    facts = asdict(stats)
    del facts["max_records"]
    return {"ledger": ledger, **facts}


def read(line: bytes | None) -> Brought:
    """Raises ValueError with what is wrong; None is a line that was too long to be read."""
    if line is None:
        raise ValueError("it is longer than any record")
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError as wrong:
        raise ValueError(f"it is no JSON: {wrong}") from None
    if not isinstance(found, dict):
        raise ValueError("it is no JSON object")
    if unknown := found.keys() - KNOWN:
        raise ValueError(f"no field is called {min(unknown)}")
    request_id, payload, owner = (_bytes(name, found) for name in ANY_BYTES)
    state = found.get("state")
    if request_id is None or payload is None or "due_at" not in found:
        raise ValueError("request_id, payload, state and due_at are needed")
    if not isinstance(state, str) or state not in State.__members__:
        raise ValueError(f"a state is {', '.join(State)}")
    brought = Brought(to_text(request_id), payload, State[state], found["due_at"], to_text(owner or b""))
    asked.request_id(brought.request_id)
    asked.at("due_at", brought.due_at)
    if brought.owner:
        asked.owner(brought.owner)
    return brought


def named(name: str, text: str) -> dict[str, object]:
    raw = to_bytes(text)
    return {name: text} if text.isascii() or _is_utf8(raw) else {f"{name}_base64": b64encode(raw).decode()}


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _decoded(name: str, coded: str) -> bytes:
    try:
        return b64decode(coded, validate=True)
    except ValueError as wrong:
        raise ValueError(f"{name}_base64 is no base64: {wrong}") from None


def _bytes(name: str, found: dict[str, Any]) -> bytes | None:
    text, coded = found.get(name), found.get(f"{name}_base64")
    if text is not None and coded is not None:
        raise ValueError(f"{name} and {name}_base64 are both there")
    if not isinstance(text, str | None) or not isinstance(coded, str | None):
        raise ValueError(f"{name} is text")
    if coded is not None:
        return _decoded(name, coded)
    return None if text is None else text.encode()
