"""What callers may ask a ledger for. Anything else is a ValueError, before Redis is asked for anything."""

import re
from collections.abc import Collection
from datetime import timedelta

from joobq_admin.joobq.asked import is_operation_id, whole
from joobq_admin.joobq.audit import Actor
from joobq_admin.joobq.delivery.record import State, is_traceparent
from joobq_admin.joobq.delivery.shapes import Claim, Gate
from joobq_admin.joobq.entry import is_digest, to_bytes

NAME = r"[^{}\x00-\x1f\x7f\ud800-\udfff]+"  # of a namespace or a queue
LONGEST_NAME = 512  # bytes, of a request id or an owner
LONGEST = 10**13  # ms, 317 years: no time outgrows its 15 digits
LAST_MS = 10**15 - 1

_cursor = re.compile(r"(?:(records|ready|leases):)?([0-9]{1,20})").fullmatch


def namespace(asked: str) -> str:
    """Without a colon: that is what parts it from the queue in the keys' names."""
    if ":" in _part("a namespace", asked):
        raise ValueError("a namespace holds no colon")
    return asked


def queue(asked: str) -> str:
    return _part("a queue", asked)


def _part(what: str, asked: str) -> str:
    if not isinstance(asked, str) or not re.fullmatch(NAME, asked):
        raise ValueError(f"{what} is text, not empty, without braces and control characters")
    return asked


def name(what: str, asked: str) -> bytes:
    """A request id or an owner."""
    if not isinstance(asked, str) or not 1 <= len(found := to_bytes(asked)) <= LONGEST_NAME:
        raise ValueError(f"{what} is text of 1 to {LONGEST_NAME} bytes")
    return found


def request_id(asked: str) -> bytes:
    return name("a request id", asked)


def owner(asked: str) -> bytes:
    return name("an owner", asked)


def payload(asked: bytes | str) -> bytes:
    """Text is taken as UTF-8."""
    if not isinstance(asked, bytes | str):
        raise ValueError("a payload is bytes, or text")
    return asked.encode() if isinstance(asked, str) else asked


def duration(what: str, asked: timedelta, least: int) -> int:
    """In ms."""
    if not isinstance(asked, timedelta):
        raise ValueError(f"a {what} is a timedelta")
    ms = asked // timedelta(milliseconds=1)
    if not least <= ms <= LONGEST:
        raise ValueError(f"a {what} is {least} to 10**13 ms")
    return ms


def lease(asked: timedelta) -> int:
    return duration("lease", asked, 1)


def delay(asked: timedelta) -> int:
    return duration("delay", asked, 0)


def at(what: str, asked: int) -> int:
    """A moment in unix ms."""
    if whole(what, asked, 0) > LAST_MS:
        raise ValueError(f"{what} has at most 15 digits")
    return asked


def traceparent(asked: str | None) -> str:
    """As it stands in a header."""
    if asked is not None and not is_traceparent(asked):
        raise ValueError("a traceparent is 00-<32 hex digits>-<16 hex digits>-<2 hex digits>, in lower case")
    return asked or "-"


def state(asked: State) -> State:
    if not isinstance(asked, State):
        raise ValueError("a state is a State")
    return asked


def end(asked: State) -> State:
    """What a claim may be settled to."""
    if state(asked) is State.LEASED:
        raise ValueError("a claim is settled to READY, COMPLETED or DEAD")
    return asked


def claim(asked: Claim) -> tuple[bytes, int, int, bytes]:
    """Its identity: request id, admitted at, attempt, owner."""
    if not isinstance(asked, Claim):
        raise ValueError("a claim is a Claim, as claim() gives it")
    identity = at("admitted_at", asked.admitted_at), at("attempt", asked.attempt)
    return request_id(asked.request_id), *identity, owner(asked.owner)


def limit(asked: int, most: int) -> int:
    if whole("a limit", asked, 1) > most:
        raise ValueError(f"a limit is 1 to {most}")
    return asked


def cursor(asked: str) -> str:
    _place(asked, (None,), '"0", or what the last page said')
    return asked


def index_cursor(asked: str) -> tuple[str, str]:
    """Which index, and where in it."""
    return _place(asked, ("ready", "leases"), '"ready:0", or what the last page said')


def repair_cursor(asked: str) -> tuple[str, str]:
    """Whether it goes on with the records or an index, and where in it."""
    return _place(asked, ("records", "ready", "leases"), '"records:0", or what the last stretch said')


def _place(asked: str, kinds: Collection[str | None], such_as: str) -> tuple[str, str]:
    """Which of the kinds, and the number there, which Redis takes up to 64 bits."""
    found = _cursor(asked) if isinstance(asked, str) else None
    if not found or found[1] not in kinds or int(found[2]) >> 64:
        raise ValueError(f"a cursor is {such_as}")
    return found[1], found[2]


def digest(asked: str) -> str:
    if not is_digest(asked):
        raise ValueError("a digest is 64 hex digits")
    return asked


def actor(asked: Actor) -> Actor:
    if not (isinstance(asked, Actor) and isinstance(asked.id, str) and isinstance(asked.name, str)):
        raise ValueError("who acts is an Actor")
    return asked


def gate(asked: Gate | None) -> Gate | None:
    if not isinstance(asked, Gate | None):
        raise ValueError("the gate that is meant is a Gate, as gate() gives it, or None")
    return asked


def operation(asked: str) -> str:
    if not is_operation_id(asked):
        raise ValueError("an operation is named by 1 to 64 letters, digits and hyphens")
    return asked


def reason(asked: str) -> str:
    if not isinstance(asked, str):
        raise ValueError("a reason is text")
    return asked
