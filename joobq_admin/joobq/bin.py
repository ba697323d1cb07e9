"""The bin: purged entries, kept for a while with their bytes, their score, and who purged them and why.

The hash `joobq:admin:bin` holds digest -> `<score> <purged ms> <who, why: one line of JSON>\\n<member>`, and under
`bytes` the sum of these lengths; the zset `joobq:admin:bin:times` holds each digest by the time of its purge, unix ms.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate, chain, islice, takewhile

from redis import Redis

from joobq_admin.joobq import keys, scripts
from joobq_admin.joobq.audit import Actor, Record
from joobq_admin.joobq.entry import TIMES_TO, Entry, Score, read_score, to_bytes, to_text
from joobq_admin.joobq.lookup import REPLY_BYTES, TOP, Cursor, between, rows_of, seek_call

TRIM_STEP, TRIM_BYTES = 200, 4 << 20  # a call of trimming drops so many entries, or about so many bytes
NOTE_STEP = 100  # notes a script


@dataclass(frozen=True, slots=True)
class Note:
    """When an entry was purged, by whom, why, and as what operation."""

    purged_at: datetime
    by: str
    name: str
    reason: str
    operation: str


@dataclass(frozen=True, slots=True)
class Binned(Note):
    """An entry in the bin."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class BinPage:
    """Purged entries, the last one first. Cursors as in lookup.Page.

    `total` entries are in the bin, and `bytes`; None where the field that says so holds no number.
    """

    entries: tuple[Binned, ...]
    newer: Cursor | None
    older: Cursor | None
    total: int
    bytes: int | None


class Bin:
    """Keeps what was purged for `keep`. At most `room` bytes: a full bin refuses, it drops nothing early."""

    KEYS = (keys.BIN, keys.BIN_TIMES)
    COUNT = ("ZCARD", keys.BIN_TIMES)  # how many are in it

    def __init__(self, redis: Redis, keep: timedelta, room: int) -> None:
        self.redis, self.keep, self.room = redis, keep, room

    def get(self, digests: Sequence[str]) -> dict[str, Binned]:
        """Those of these entries that are in the bin, by digest (64 hex digits)."""
        return dict(self.each(digests))

    def each(self, digests: Sequence[str]) -> Iterator[tuple[str, Binned]]:
        """The same one after the other: no more than about REPLY_BYTES of them are held at once."""
        lengths = self._lengths(digests)
        while digests:
            n = _fitting(lengths)
            some, digests, lengths = digests[:n], digests[n:], lengths[n:]
            (values,) = scripts.read(self.redis, [("HMGET", keys.BIN, *map(to_bytes, some))])
            for digest, value in zip(some, values, strict=True):
                if value and (binned := _binned(value)):
                    yield digest, binned

    def notes(self, digests: Sequence[str]) -> dict[str, Note]:
        """The same without the entries, however large they are."""
        return _notes(digests, scripts.read(self.redis, _note_calls(digests)))

    def undoable(self, records: Iterable[Record]) -> dict[str, int]:
        """Which of these records tell of a purge whose entry is here still, by their ids: how many entries it took."""
        purges = [record for record in records if record.action == "purge"]
        digests, operations = [record.digest for record in purges], {record.operation: 0 for record in purges}
        calls = _note_calls(digests)
        replies = scripts.read(self.redis, [*calls, *map(_how_many, operations)])
        notes, took = _notes(digests, replies[: len(calls)]), dict(zip(operations, replies[len(calls) :], strict=True))
        here = (record for record in purges if record.digest in notes)
        return {r.id: took[r.operation] for r in here if notes[r.digest].operation == r.operation}

    def page(self, cursor: Cursor | None = None, limit: int = 50, newer: bool = False) -> BinPage:
        """Up to `limit` purged entries, the last purged first, from `cursor` towards older ones or newer ones.

        Fewer when these hold about REPLY_BYTES.
        """
        here, way = cursor or TOP, "newer" if newer else "older"
        size, reply = scripts.read(
            self.redis, [("HGET", keys.BIN, "bytes"), seek_call(here, way, limit + 1, key=keys.BIN_TIMES)]
        )
        rows = rows_of(reply)
        n = _fitting(self._lengths([to_text(entry.raw) for entry in rows.entries[:limit]]))
        shown, beyond = rows.entries[:n], rows.entries[n:]
        rest = between(self.redis, *((beyond[0], shown[-1]) if newer else (shown[-1], beyond[0]))) if beyond else None
        behind = rows.below if newer else rows.size - rows.below
        start = cursor if behind else None
        digests = [to_text(entry.raw) for entry in (reversed(shown) if newer else shown)]
        binned = self.get(digests)
        return BinPage(
            entries=tuple(binned[digest] for digest in digests if digest in binned),
            newer=rest if newer else start,
            older=start if newer else rest,
            total=rows.size,
            bytes=int(size or 0) if (size or b"0").isdigit() and len(size or b"") < 20 else None,
        )

    def note(self, by: Actor | None, reason: str, operation: str) -> bytes:
        """Who and why, as it is kept with an entry."""
        actor = by or Actor("", "")
        return json.dumps({"by": actor.id, "name": actor.name, "reason": reason, "operation": operation}).encode()

    def trim_call(self) -> scripts.Call:
        """To be sent behind writes: drops what has been kept long enough."""
        return scripts.TRIM_BIN.call(self.KEYS, (self.keep // timedelta(milliseconds=1), TRIM_STEP, TRIM_BYTES))

    def _lengths(self, digests: Sequence[str]) -> list[int]:
        return scripts.read(self.redis, [("HSTRLEN", keys.BIN, to_bytes(digest)) for digest in digests])


def _fitting(lengths: Sequence[int]) -> int:
    """How many, from the first on, hold about REPLY_BYTES together."""
    before = accumulate(lengths, initial=0)
    return sum(1 for _ in takewhile(lambda size: size < REPLY_BYTES, islice(before, len(lengths))))


def _note_calls(digests: Sequence[str]) -> list[scripts.Call]:
    blocks = [list(map(to_bytes, digests[at : at + NOTE_STEP])) for at in range(0, len(digests), NOTE_STEP)]
    return [scripts.NOTES.call((keys.BIN,), block, read_only=True) for block in blocks]


def _notes(digests: Sequence[str], replies: Sequence[list[bytes]]) -> dict[str, Note]:
    told = ((digest, _told(head)) for digest, head in zip(digests, chain.from_iterable(replies), strict=True))
    return {digest: Note(*said[1]) for digest, said in told if said}


def _how_many(operation: str) -> scripts.Call:
    """Counts what the audit log holds of a purge."""
    mark = to_bytes(f"o:{operation}\0purge\0")
    return ("ZLEXCOUNT", keys.AUDIT_INDEX, b"[" + mark, b"(" + mark + b"\xff")


def _binned(value: bytes) -> Binned | None:
    """None for a value that is not ours."""
    head, _, member = value.partition(b"\n")
    said = _told(head)
    return Binned(*said[1], Entry(member, said[0])) if said else None


def _told(head: bytes) -> tuple[Score, tuple[datetime, str, str, str, str]] | None:
    """The score and what a Note says; None for what is not ours, or not there."""
    try:
        score, purged, note = head.split(b" ", 2)
        who, ms = json.loads(note), int(purged)
        by, name, reason, operation = (str(who[each]) for each in ("by", "name", "reason", "operation"))
        if not 0 <= ms < TIMES_TO:
            return None
        return read_score(score), (datetime.fromtimestamp(ms / 1000, UTC), by, name, reason, operation)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
