"""What is new since a list was read: told by two numbers of the dead set, and for a filtered list by the entries."""

from datetime import datetime, timedelta
from math import nextafter
from typing import Any, NamedTuple

from joobq_admin.joobq import lookup
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.entry import Score, read_score, score_text, unix_ms
from joobq_admin.joobq.filters import ENDLESS, Span
from joobq_admin.joobq.lookup import CHUNK, TOP, Cursor
from joobq_admin.joobq.scripts import Call
from joobq_admin.joobq.spread import spread
from joobq_admin.triage.redact import Redaction
from joobq_admin.triage.search import Search

AHEAD = timedelta(days=1)  # what is dated later is of a clock that is wrong, and hides nothing of what dies meanwhile


def newest(now: datetime) -> Call:
    """What is asked with a list: `seen` reads the reply."""
    return lookup.seek_call(Cursor(_until(now)), "older", 1)


def _until(now: datetime) -> Score:
    return unix_ms(now + AHEAD)


class Seen(NamedTuple):
    """What a list has shown: the newest time of death there was (-ENDLESS: none), and how many entries in all.

    A time that is more than a day ahead is not the newest one.
    """

    newest: Score
    total: int

    def __str__(self) -> str:
        return f"{score_text(self.newest)}.{self.total}"

    @classmethod
    def parse(cls, text: str) -> "Seen":
        """Raises ValueError for what `str` never wrote."""
        newest, _, total = text.rpartition(".")
        if not (total.isascii() and total.isdecimal() and len(total) <= 18):
            raise ValueError(f"“{text[:80]}” is nothing that a list has shown.")
        return cls(read_score(newest), int(total))


class News(NamedTuple):
    """`new`: entries that a list read anew would show; `more`: perhaps more. `total`: entries in all, by now."""

    new: int
    total: int
    more: bool = False


def seen(reply: Any) -> Seen:
    """`reply`: to `newest`."""
    _, total, entries = lookup.rows_of(reply)
    return Seen(entries[0].score if entries else -ENDLESS, total)


def news(queue: DeadLetterQueue, since: Seen, wanted: Search, redaction: Redaction, now: datetime) -> News:
    """Since `since` was read. One round trip; a filter reads of what is newer the first 200 entries.

    Of entries without a time, and of those dated before the newest that was shown, it is known only that there are more
    in all: with a filter that is not told. Raises Unreachable, or what Redis says.
    """
    after = nextafter(since.newest, ENDLESS)
    until = max(after, _until(now))
    found = spread(queue.redis, [after, until])
    newer, more = max(0, found.between[0]), max(0, found.total - since.total)
    if wanted == Search():
        return News(max(newer, more), found.total)
    if wanted.undated:
        return News(max(0, more - newer) if wanted == Search(undated=True) else 0, found.total)
    span = Span(max(after, wanted.span.since), min(until, wanted.span.until))
    if not newer or span.since >= span.until:
        return News(0, found.total)
    page = lookup.walk(queue.redis, TOP, CHUNK, wanted.where(redaction), budget=CHUNK, span=span)
    return News(len(page.entries), found.total, more=not page.complete)
