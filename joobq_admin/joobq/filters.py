"""Which entries a walk is to find. Most entries are told apart by their bytes, without being parsed."""

import re
from collections.abc import Callable

from joobq_admin.joobq.cjson import queue_of
from joobq_admin.joobq.entry import Entry, to_bytes

Where = Callable[[Entry], bool]

_short_escapes = re.compile(rb'["\\/\x00-\x1f]').search


def in_queue(queue: str, also: Where | None = None) -> Where:
    """Entries that name this queue, as Redis reads it ('' = those that name none)."""
    name = to_bytes(queue)
    may_name = _may_hold(name)
    return lambda entry: may_name(entry.raw) and queue_of(entry.raw) == name and (also is None or also(entry))


def of_jobs(*jids: str) -> Where:
    """Entries of these jobs."""
    may_be_theirs = _may_hold(*map(to_bytes, jids))
    return lambda entry: may_be_theirs(entry.raw) and entry.jid in jids


def _may_hold(*texts: bytes) -> Callable[[bytes], bool]:
    """Can these bytes hold one of the texts as a JSON string? Without parsing, for most do not.

    Any sign can be written as \\u and four digits, a few others can be escaped in a shorter way.
    """
    escape = b"\\" if any(map(_short_escapes, texts)) else b"\\u"
    return lambda raw: any(text in raw for text in texts) or escape in raw
