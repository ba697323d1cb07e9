"""How far a look reached: of no more than that a page says that something is not there."""

from typing import NamedTuple

from joobq_admin.connection import dead_letters
from joobq_admin.joobq.lookup import BUDGET, Cursor, Near
from joobq_admin.pages import links
from joobq_admin.pages.links import Link

BOTTOM = Cursor(float("-inf"))


class Looked(NamedTuple):
    """`at`: in words, such as "the newest 4,000 of 8,001 entries"; `onward`: the button that looks on from there."""

    at: str
    whole: bool
    onward: tuple[Link, ...] = ()


def looked(jid: str, near: Near | None) -> Looked:
    """After a look for a job; `near` None: for bytes alone, at their score and among the newest."""
    total = _entries()
    if near is None and total > BUDGET:
        return Looked(f"those of its time and the newest {BUDGET:,} of {total:,} entries", whole=False)
    if near is None or near.older is None:
        return Looked(f"all {total:,} entries" if total != 1 else "the only entry", whole=True)
    above = dead_letters().walk(near.older, limit=1).above
    onward = (links.job(jid, after=str(near.older)), "Keep looking", "primary")
    return Looked(f"the newest {above:,} of {total:,} entries", False, (onward,))


def _entries() -> int:
    """How many there are, without counting them by queue."""
    lowest = dead_letters().walk(BOTTOM, limit=1, newer=True)
    return lowest.above + len(lowest.entries)
