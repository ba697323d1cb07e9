"""What callers may ask for. Anything else is a ValueError, before Redis is asked for anything."""

import re
from collections.abc import Iterable
from typing import TypeVar

from joobq_admin.joobq.audit import Actor
from joobq_admin.joobq.entry import EntryRef, Score, is_digest

T = TypeVar("T")

_digits = re.compile(r"[0-9a-f]{16,64}").fullmatch
_operation_id = re.compile(r"[A-Za-z0-9-]{1,64}").fullmatch


def is_operation_id(text: object) -> bool:
    """1 to 64 letters, digits and hyphens."""
    return isinstance(text, str) and _operation_id(text) is not None


def jid(asked: str) -> str:
    if not isinstance(asked, str):
        raise ValueError("a jid is text")
    return asked


def jids(asked: Iterable[str]) -> list[str]:
    """Each once, in the order of asking."""
    return list(dict.fromkeys(map(jid, many(asked))))


def digests(asked: Iterable[str]) -> list[str]:
    """Each once, in the order of asking."""
    wanted = many(asked)
    if not all(map(is_digest, wanted)):
        raise ValueError("a digest is 64 hex digits")
    return list(dict.fromkeys(wanted))


def refs(asked: Iterable[EntryRef]) -> list[EntryRef]:
    """Each once, in the order of asking."""
    wanted = list(map(ref, many(asked)))
    if not all(is_digest(each.digest) for each in wanted):
        raise ValueError("a digest is 64 hex digits")
    return list(dict.fromkeys(wanted))


def ref(asked: EntryRef) -> EntryRef:
    """16 hex digits of the digest do for looking."""
    if not isinstance(asked, EntryRef) or not isinstance(asked.jid, str | None):
        raise ValueError("an entry is named by EntryRef(score, digest, jid or None)")
    if not isinstance(asked.digest, str) or not _digits(asked.digest):
        raise ValueError("a digest is 16 to 64 hex digits")
    score(asked.score)
    return asked


def score(asked: Score) -> Score:
    if isinstance(asked, bool) or not isinstance(asked, int | float) or asked != asked:
        raise ValueError("a score is a number")
    try:
        float(asked)
    except OverflowError:
        raise ValueError("a score is no larger than Redis holds") from None
    return asked


def members(asked: Iterable[bytes]) -> list[bytes]:
    wanted = many(asked)
    if not all(isinstance(member, bytes) for member in wanted):
        raise ValueError("a member is bytes")
    return wanted


def whole(name: str, asked: int, least: int | None = None) -> int:
    if isinstance(asked, bool) or not isinstance(asked, int) or (least is not None and asked < least):
        raise ValueError(f"{name} is a whole number" + (f" from {least}" if least is not None else ""))
    return asked


def queue(asked: str | None) -> str | None:
    if not isinstance(asked, str | None):
        raise ValueError("a queue's name is text")
    return asked


def press(by: Actor | None, reason: str, operation: str | None) -> None:
    """Who, why, and the name of the operation."""
    if by is not None and not (isinstance(by, Actor) and isinstance(by.id, str) and isinstance(by.name, str)):
        raise ValueError("who acts is an Actor, or None")
    if not isinstance(reason, str):
        raise ValueError("a reason is text")
    if operation is not None and not is_operation_id(operation):
        raise ValueError("an operation is named by 1 to 64 letters, digits and hyphens")


def many(asked: Iterable[T]) -> list[T]:
    if isinstance(asked, str | bytes) or not isinstance(asked, Iterable):
        raise ValueError("a list is needed")
    return list(asked)
