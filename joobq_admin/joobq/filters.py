"""Which entries a walk is to find. Most entries are told apart by their bytes, without being parsed."""

import re
from collections.abc import Callable
from typing import NamedTuple

from joobq_admin.joobq.cjson import queue_of, unescape
from joobq_admin.joobq.entry import Entry, Score, to_bytes, to_text

Where = Callable[[Entry], bool]

ENDLESS = float("inf")
_short_escapes = re.compile(rb'["\\/\x00-\x1f]').search


class Span(NamedTuple):
    """Scores from `since` to below `until`; ENDLESS: even that one."""

    since: Score = -ENDLESS
    until: Score = ENDLESS

    def holds(self, entry: Entry) -> bool:
        return self.since <= entry.score and (entry.score < self.until or self.until == ENDLESS)


ANY_TIME = Span()


def in_queue(queue: str, also: Where | None = None) -> Where:
    """Entries that name this queue, as Redis reads it ('' = those that name none)."""
    name = to_bytes(queue)
    may_name = may_hold(name)
    return lambda entry: may_name(entry.raw) and queue_of(entry.raw) == name and (also is None or also(entry))


def of_jobs(*jids: str) -> Where:
    """Entries of these jobs."""
    may_be_theirs = may_hold(*map(to_bytes, jids))
    return lambda entry: may_be_theirs(entry.raw) and entry.jid in jids


def may_hold_in_any_case(text: str) -> Callable[[bytes], bool]:
    """Can these bytes hold the text, by whatever letters, inside a JSON value? The same without parsing.

    Folding goes letter by letter, and only letters that are no ASCII fold into others (ß into ss). What is escaped
    somewhere in the bytes is read as if all of them were one string.
    """
    folded = text.casefold()
    plain = to_bytes(folded)
    escape = b"\\" if _short_escapes(plain) else b"\\u"

    def holds(raw: bytes) -> bool:
        return plain in raw.lower() if raw.isascii() else folded in to_text(raw).casefold()

    return lambda raw: holds(raw) or (escape in raw and holds(unescape(b'"%s"' % raw)))


def may_hold(*texts: bytes) -> Callable[[bytes], bool]:
    """Can these bytes hold one of the texts as a JSON string? Without parsing, for most do not.

    Any sign can be written as \\u and four digits, a few others can be escaped in a shorter way.
    """
    escape = b"\\" if any(map(_short_escapes, texts)) else b"\\u"
    return lambda raw: any(text in raw for text in texts) or escape in raw
