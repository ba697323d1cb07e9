"""The bytes that a redrive pushes, or why it must not.

Four values are replaced in place: `status`, `retries`, `expires`, `error`. Every other byte stays: key order, spacing,
escapes, big integers, doubled keys (of which the last counts, in Crystal, cjson and Python alike), invalid UTF-8.
A worker loses or cuts what it cannot read (seen on JoobQ 0.4.2), so what it would not read is refused here.
"""

import re
from dataclasses import dataclass

import orjson

from joobq_admin.joobq import cjson
from joobq_admin.joobq.cjson import Member, unescape
from joobq_admin.joobq.entry import is_uuid, read_object, to_bytes, to_text
from joobq_admin.joobq.outcome import Refusal

HOUR = 3_600_000
WORKER_DEPTH = 512  # Crystal's JSON reader nests no deeper
INT32, INT64 = 1 << 31, 1 << 63
STATUSES = frozenset((b"completed", b"dead", b"enqueued", b"expired", b"retrying", b"running", b"scheduled"))
LONGEST_QUEUE_NAME = 512
_no_utf8 = re.compile("[\udc80-\udcff]")  # what `to_text` makes of such a byte
_integer = re.compile(rb"-?(?:0|[1-9][0-9]*)").fullmatch
_control = re.compile(rb"[\x00-\x1f\x7f]").search


class CannotRedrive(ValueError):
    """This entry must not go back to its queue: `reason`, and in `detail` what exactly was found."""

    def __init__(self, reason: Refusal, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason, self.detail = reason, detail


@dataclass(frozen=True, slots=True)
class Change:
    """One replaced value, as JSON text; of an error only that there was one: 'this one'."""

    field: str
    was: str
    now: str


@dataclass(frozen=True, slots=True)
class Redriven:
    """What goes to the list `queue`: `raw`, which differs from the entry only in the values of `changes`."""

    queue: bytes
    raw: bytes
    changes: tuple[Change, ...]


def redriven(raw: bytes, now: int, lifetime: int) -> Redriven:
    """What a redrive of these bytes pushes at `now` (unix ms).

    `expires` that is past, or ends within the hour, becomes `now + lifetime` (ms): a worker never runs an expired job.
    Raises CannotRedrive with the first reason of `Refusal` that applies.
    """
    fields = _fields(raw)
    if b"original_job_data" in fields and b"retries" not in fields:
        raise CannotRedrive(Refusal.PLACEHOLDER)
    retries = _number(raw, fields, b"retries", INT32)
    most = _number(raw, fields, b"max_retries", INT32)
    expires = _number(raw, fields, b"expires", INT64)
    _check_other_fields(raw, fields)
    queue = _checked_queue(raw, fields)
    values = {b"status": b'"enqueued"', b"error": b"null"}
    if most is not None and retries != most:
        values[b"retries"] = b"%d" % most
    if expires is not None and expires < now + HOUR:
        values[b"expires"] = b"%d" % (now + lifetime)
    edits = sorted((*fields[name][-1][1:], name) for name in values if name in fields)
    out, at, changes = [], 0, []
    for start, end, name in edits:
        was, becomes = raw[start:end], values[name]
        out += [raw[at:start], becomes]
        at = end
        if was != becomes:
            shown = "this one" if name == b"error" else to_text(was)
            changes.append(Change(name.decode(), shown, becomes.decode()))
    return Redriven(queue, b"".join([*out, raw[at:]]), tuple(changes))


def _fields(raw: bytes) -> dict[bytes, list[Member]]:
    """Every top-level member by its key, of a document that a worker reads."""
    try:
        document = orjson.loads(raw)
    except orjson.JSONDecodeError:
        text = to_text(raw)
        try:  # bytes that are no UTF-8 are fine inside strings
            document = orjson.loads(_no_utf8.sub("\ufffd", text))
        except orjson.JSONDecodeError as error:
            reason = Refusal.NOT_AN_OBJECT if read_object(raw) is None else Refusal.NOT_STRICT_JSON
            raise CannotRedrive(reason, f"{error.msg} at byte {len(to_bytes(text[: error.pos]))}") from None
    if not isinstance(document, dict):
        raise CannotRedrive(Refusal.NOT_AN_OBJECT)
    if cjson.deeper_than(WORKER_DEPTH, raw):
        deep = cjson.depth(raw)
        reason = Refusal.NOT_STRICT_JSON if deep <= cjson.MAX_DEPTH else Refusal.NOT_AN_OBJECT
        raise CannotRedrive(reason, f"it is nested {deep} deep, a worker reads {WORKER_DEPTH}")
    fields: dict[bytes, list[Member]] = {}
    for member in cjson.strict_members(raw):
        fields.setdefault(member.key, []).append(member)
    return fields


def _number(raw: bytes, fields: dict[bytes, list[Member]], name: bytes, limit: int) -> int | None:
    """The integer that counts. A worker reads every copy of a doubled key, so each must be right."""
    value = None
    for _, start, end in fields.get(name, ()):
        text = raw[start:end]
        if text == b"null":
            value = None
        elif _integer(text) and len(text) <= 20 and -limit <= int(text) < limit:
            value = int(text)
        else:
            size = "32-bit" if limit == INT32 else "64-bit"
            raise CannotRedrive(Refusal.BAD_FIELD, f"{name.decode()} is {_short(text)}, no {size} integer")
    return value


def _check_other_fields(raw: bytes, fields: dict[bytes, list[Member]]) -> None:
    for _, start, end in fields.get(b"status", ()):
        text = raw[start:end]
        if text != b"null" and not (text[:1] == b'"' and unescape(text).lower() in STATUSES):
            raise CannotRedrive(Refusal.BAD_FIELD, f"status is {_short(text)}, none that a worker knows")
    for _, start, end in fields.get(b"error", ())[:-1]:  # the last one is replaced
        if raw[start:end] != b"null":
            raise CannotRedrive(Refusal.BAD_FIELD, "error stands twice")
    for _, start, end in fields.get(b"jid", ()):
        text = raw[start:end]
        if text != b"null" and not (text[:1] == b'"' and is_uuid(to_text(unescape(text)))):
            raise CannotRedrive(Refusal.JID_NOT_UUID, f"jid is {_short(text)}")


def _checked_queue(raw: bytes, fields: dict[bytes, list[Member]]) -> bytes:
    """The job's own queue, when a job may be sent there. The name is also the name of a Redis key."""
    queue = b""
    for _, start, end in fields.get(b"queue", ()):
        if raw[start : start + 1] != b'"':
            raise CannotRedrive(Refusal.NO_QUEUE, f"queue is {_short(raw[start:end])}")
        queue = unescape(raw[start:end])
    if not queue:
        raise CannotRedrive(Refusal.NO_QUEUE)
    if queue.startswith(b"joobq:"):
        raise CannotRedrive(Refusal.RESERVED_QUEUE, to_text(queue))
    if len(queue) > LONGEST_QUEUE_NAME or _control(queue):
        raise CannotRedrive(Refusal.QUEUE_NAME)
    return queue


def _short(text: bytes) -> str:
    return to_text(text if len(text) <= 40 else text[:40] + b"...")
