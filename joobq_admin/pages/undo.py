"""The way back of a purge, for as long as the bin has its copy."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple, TypeVar
from uuid import uuid4

from joobq_admin import connection
from joobq_admin.connection import audit_log, dead_letters
from joobq_admin.joobq import refusals
from joobq_admin.joobq.audit import Record
from joobq_admin.joobq.bin import Bin
from joobq_admin.pages import times
from joobq_admin.pages.sends import name_of
from joobq_admin.sso.roles import Action, User
from joobq_admin.triage import history

T = TypeVar("T")

MOST = 1_000  # entries that one Undo brings back
UNREAD = "The bin cannot be read."
FOR_GOOD = "It is gone for good. It cannot be brought back."


class Undo(NamedTuple):
    """A button: which purge it undoes, and the operation that its press will be."""

    purge: str
    operation: str


class Kept(NamedTuple):
    """What is left of a purged entry, in words; `undo` None: it cannot be undone, or not by this reader."""

    text: str
    undo: Undo | None = None


def undo_of(purge: str, user: User) -> Undo | None:
    return Undo(purge, str(uuid4())) if user.can(Action.RESTORE) else None


def the_bin() -> Bin:
    kept = dead_letters().bin
    assert kept, "the dashboard always has a bin"
    return kept


def in_the_bin(look: Callable[[Bin], T]) -> T | None:
    """What `look` finds there; None where Redis does not let the bin be read. Raises other TROUBLE."""
    try:
        return look(the_bin())
    except connection.TROUBLE as trouble:
        if not refusals.locked(trouble):
            raise
        return None


def kept(record: Record, user: User, now: datetime) -> Kept:
    """By the record of its purge. Raises TROUBLE."""
    if record.fields.get("bin") == "0":
        older = " An older copy of the same bytes left the bin with it." if record.fields.get("emptied") == "1" else ""
        return Kept(f"It is gone for good. No copy is kept.{older}")
    copies = in_the_bin(lambda its: its.copies(record.operation, record.digest))
    if copies is None:
        return Kept(UNREAD)
    if record.digest in copies:
        return Kept(until(copies[record.digest], now), undo_of(record.operation, user))
    since = history.last_move(audit_log().of_digest(record.digest))
    if since and since.operation != record.operation:
        at = f" at {times.clock(since.at, now)}" if since.at else ""
        return Kept(f"Since then it was {history.did(since.action)} by {name_of(since, user)}{at}.")
    return Kept(FOR_GOOD)


def until(purged_at: datetime, now: datetime) -> str:
    end = purged_at + the_bin().keep
    if end <= now:
        return "A copy is still in the bin. Its time is over: the next change takes it for good."
    return f"A copy is in the bin until {times.until(end)} ({left(end - now)} left), then it is gone for good."


def left(time: timedelta) -> str:
    """'23 h 59 min', '41 s'."""
    minutes = int(time.total_seconds()) // 60
    if minutes < 60:
        return times.span(max(0, int(time.total_seconds())))
    if minutes >= 2_880:
        return f"{minutes // 1_440} d"
    return f"{minutes // 60} h {minutes % 60} min" if minutes % 60 else f"{minutes // 60} h"
