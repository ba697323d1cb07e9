"""A delivery record and its bytes: an immutable payload, and a small header that names it.

Both stand under the request id, in two hashes: `payloads` holds the payload, written once, at admission; `records`
holds the header, one line, which every transition rewrites. Offsets and widths in bytes:

    0     4      "jl1 "    format and version
    4     40     SUM       lower hex SHA-1 of len(id) ":" id BODY; len in decimal, in bytes; BODY = from byte 45 on
    45    15     ADMITTED  ms, Redis's clock
    61    10     SIZE      length of the payload in bytes
    72    64     DIGEST    lower hex SHA-256 of the payload
    137   1      STATE     R ready, L leased, C completed, D dead
    139   15     DUE       ms
    155   15     LEASE     ms when the lease ends; zeros unless STATE is L
    171   10     ATTEMPT   claims so far
    182   15     UPDATED   ms of the last change
    198   1|55   TRACE     "-" or a W3C traceparent
    then         OWNER     to the end, any bytes: who holds the lease, or settled last; nothing when never, or expired

One space between fields; integers are decimal, padded with zeros. SUM binds the id, which is not repeated, and DIGEST;
SIZE and DIGEST bind the payload: no byte of the two values can change unseen. SHA-1 is what Redis's Lua has; it guards
against accidents, not against somebody who may write to Redis.
"""

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum, unique

from joobq_admin.joobq.entry import to_bytes, to_text

SIZE_AT = slice(61, 71)  # of a header


@unique
class State(StrEnum):
    """What became of a request. COMPLETED and DEAD are terminal."""

    READY = "READY"  # waiting, due at `due_at`
    LEASED = "LEASED"
    COMPLETED = "COMPLETED"
    DEAD = "DEAD"

    @property
    def letter(self) -> str:
        """As it stands in a header."""
        return self.value[0]


_STATES = {state.letter.encode(): state for state in State}

_header = re.compile(
    rb"jl1 ([0-9a-f]{40}) ([0-9]{15}) ([0-9]{10}) ([0-9a-f]{64}) "
    rb"([RLCD]) ([0-9]{15}) ([0-9]{15}) ([0-9]{10}) ([0-9]{15}) "
    rb"(-|[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}) (.*)",
    re.DOTALL,
).fullmatch
_traceparent = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}").fullmatch


@dataclass(frozen=True, slots=True)
class Record:
    """One request, as it is stored. Times are unix ms by Redis's clock."""

    request_id: str
    payload: bytes
    state: State
    due_at: int
    owner: str  # who holds the lease; else who settled it last; '' = never held, or expired
    lease_until: int | None  # None unless LEASED
    attempt: int  # claims so far
    admitted_at: int
    updated_at: int
    traceparent: str | None = None  # W3C Trace Context


@dataclass(frozen=True, slots=True)
class Header:
    """What the header alone says of a request, as in Record: its payload was not read."""

    request_id: str
    state: State
    due_at: int
    owner: str
    lease_until: int | None
    attempt: int
    updated_at: int


class CorruptRecord(ValueError):
    """What is stored under `request_id` is not what was written; `reason` says what does not fit."""

    def __init__(self, request_id: str, reason: str) -> None:
        super().__init__(f"{request_id!r}: {reason}")
        self.request_id, self.reason = request_id, reason


def is_traceparent(text: object) -> bool:
    """A traceparent of W3C Trace Context, version 00 to fe, in lower case."""
    return isinstance(text, str) and _traceparent(text) is not None


def digest(payload: bytes) -> str:
    """Lower hex SHA-256."""
    return hashlib.sha256(payload).hexdigest()


def encode(record: Record) -> tuple[bytes, bytes]:
    """Header and payload. The same record always gives the same bytes."""
    body = b"%015d %010d %b %b %015d %015d %010d %015d %b %b" % (
        record.admitted_at,
        len(record.payload),
        digest(record.payload).encode(),
        record.state.letter.encode(),
        record.due_at,
        record.lease_until or 0,
        record.attempt,
        record.updated_at,
        (record.traceparent or "-").encode(),
        to_bytes(record.owner),
    )
    return b"jl1 %b %b" % (_sum(to_bytes(record.request_id), body), body), record.payload


def decode(request_id: str, header: bytes, payload: bytes | None, known: str = "") -> Record:
    """The record of these bytes, every one of them checked. Raises CorruptRecord.

    `known`: the payload's digest, when somebody has just computed it; it is computed otherwise.
    """
    _, admitted, size, sha, state, due, lease, attempt, updated, trace, owner = _fields(request_id, header)
    if payload is None:
        raise CorruptRecord(request_id, "there is no payload")
    if len(payload) != int(size) or (known or digest(payload)).encode() != sha:
        raise CorruptRecord(request_id, "the payload does not fit its digest")
    return Record(
        request_id=request_id,
        payload=payload,
        state=_STATES[state],
        due_at=int(due),
        owner=to_text(owner),
        lease_until=int(lease) or None,
        attempt=int(attempt),
        admitted_at=int(admitted),
        updated_at=int(updated),
        traceparent=None if trace == b"-" else trace.decode(),
    )


def read_header(request_id: str, header: bytes) -> Header:
    """What a header says, every byte of it checked; its payload is not looked at. Raises CorruptRecord."""
    _, _, _, _, state, due, lease, attempt, updated, _, owner = _fields(request_id, header)
    return Header(
        request_id=request_id,
        state=_STATES[state],
        due_at=int(due),
        owner=to_text(owner),
        lease_until=int(lease) or None,
        attempt=int(attempt),
        updated_at=int(updated),
    )


def _fields(request_id: str, header: bytes) -> tuple[bytes, ...]:
    """As they stand there, SUM first. Raises CorruptRecord."""
    found = _header(header)
    if found is None:
        raise CorruptRecord(request_id, "the header has another form")
    fields = found.groups()
    if fields[0] != _sum(to_bytes(request_id), header[45:]):
        raise CorruptRecord(request_id, "the header's checksum does not fit")
    if (int(fields[6]) == 0) == (fields[4] == b"L"):
        raise CorruptRecord(request_id, "state and lease disagree")
    return fields


def size_of(header: bytes) -> int:
    """The payload's length as a header names it, in bytes; 0 when that is no number."""
    named = header[SIZE_AT]
    return int(named) if named.isdigit() else 0


def evidence(header: bytes | None, payload: bytes | None) -> bytes:
    """Both values as the quarantine keeps them: `len(header):len(payload) or -:` header payload."""
    head, size = header or b"", b"-" if payload is None else b"%d" % len(payload)
    return b"%d:%b:%b%b" % (len(head), size, head, payload or b"")


def _sum(request_id: bytes, body: bytes) -> bytes:
    return hashlib.sha1(b"%d:%b%b" % (len(request_id), request_id, body), usedforsecurity=False).hexdigest().encode()
