"""The bin: purged entries, kept for a while with their bytes, their score, and who purged them and why.

The hash `joobq:admin:bin` holds digest -> `<score> <purged ms> <who, why: one line of JSON>\\n<member>`, and under
`bytes` the sum of these lengths; the zset `joobq:admin:bin:times` holds each digest by the time of its purge, unix ms:
the one in the id of its record, so whose copy it is can be told without reading it.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate, islice, takewhile

from redis import Redis

from joobq_admin.joobq import keys, scripts
from joobq_admin.joobq.audit import Actor, Record
from joobq_admin.joobq.entry import TIMES_TO, Entry, read_score, to_bytes, to_text
from joobq_admin.joobq.lookup import REPLY_BYTES, TOP, Cursor, between, rows_of, seek_call

TRIM_STEP, TRIM_BYTES = 200, 4 << 20  # a call of trimming drops so many entries, or about so many bytes
LOOK_STEP = 1_000  # records of a purge that a call looks at


@dataclass(frozen=True, slots=True)
class Binned:
    """An entry in the bin: when it was purged, by whom, why, and as what operation."""

    purged_at: datetime
    by: str
    name: str
    reason: str
    operation: str
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

    def copies(self, purge: str, digest: str = "") -> dict[str, datetime]:
        """What this operation has purged, or of it this one entry, and is here still: digest -> when it was purged.

        Copies that another purge has put here since are that one's.
        """
        found, after = dict[str, datetime](), b""
        while True:
            ((after, *here),) = scripts.read(self.redis, [_copies_call(purge, digest, after)])
            found |= {to_text(name): _time(at) for name, at in zip(here[::2], here[1::2], strict=True)}
            if not after:
                return found

    def undoable(self, records: Iterable[Record]) -> dict[str, int | None]:
        """Which of these records tell of a purge whose copy is here still, by their ids: how many copies of it are.

        None for a purge of so many that they were not all looked at.
        """
        purges = [record for record in records if record.action == "purge"]
        operations = list(dict.fromkeys(record.operation for record in purges))
        calls = [_copies_call(record.operation, record.digest) for record in purges]
        replies = scripts.read(self.redis, [*calls, *map(_copies_call, operations)])
        whole = dict(zip(operations, replies[len(calls) :], strict=True))
        counts = {name: None if after else len(here) // 2 for name, (after, *here) in whole.items()}
        told = zip(purges, replies[: len(calls)], strict=True)
        return {record.id: counts[record.operation] for record, (_, *here) in told if here}

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


def _copies_call(purge: str, digest: str = "", after: bytes = b"") -> scripts.Call:
    begins = f"o:{purge}\0purge\0{digest}" + ("\0" if digest else "")
    args = (to_bytes(begins), after, LOOK_STEP)
    return scripts.COPIES.call((keys.AUDIT_INDEX, *Bin.KEYS), args, read_only=True)


def _time(ms: bytes) -> datetime:
    """A score that no purge of ours has written may be any number."""
    return datetime.fromtimestamp(min(max(float(ms), 0), TIMES_TO - 1) / 1000, UTC)


def _binned(value: bytes) -> Binned | None:
    """None for a value that is not ours."""
    head, _, member = value.partition(b"\n")
    try:
        score, purged, note = head.split(b" ", 2)
        who, ms = json.loads(note), int(purged)
        by, name, reason, operation = (str(who[each]) for each in ("by", "name", "reason", "operation"))
        if not 0 <= ms < TIMES_TO:
            return None
        entry = Entry(member, read_score(score))
        return Binned(datetime.fromtimestamp(ms / 1000, UTC), by, name, reason, operation, entry)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
