"""The audit log: who did what, when and why. Written inside the scripts, in the step that makes the change.

The stream `joobq:admin:audit` holds the records; the zset `joobq:admin:audit:index` finds them by operation, digest and
jid. An operation is one press of a button: pressed again, it answers as recorded for as long as its record is kept.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from uuid import uuid4

from redis import Redis

from joobq_admin.joobq import keys, scripts
from joobq_admin.joobq.entry import Score, read_score, to_bytes, to_text
from joobq_admin.joobq.outcome import AnswerLost, NotDone, Refusal
from joobq_admin.joobq.redriven import Change
from joobq_admin.joobq.scripts import Reply

LONGEST_JID = 128  # bytes; a longer one is indexed by its SHA-256
ALL = -1  # as `most`: no limit
TRIM_SLACK, TRIM_STEP = 1_000, 200  # trimming starts so far over the cap, and takes so many a call
FIND_STEP = 100  # prefixes a script
PAGE_STEP = 200  # records a reply


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts: `id` identifies, `name` is for people."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Record:
    """One record. `at` is the stream's own time; None with the id '0-0': done, but the stream took no record of it."""

    id: str
    action: str
    operation: str
    digest: str = ""
    jid: str = ""
    queue: str = ""
    score: Score | None = None
    by: str = ""
    name: str = ""
    reason: str = ""
    sent: str = ""  # redrive: SHA-256 of the pushed bytes, hex
    changes: tuple[Change, ...] = ()  # redrive: the replaced values
    fields: dict[str, str] = field(default_factory=dict)

    @property
    def at(self) -> datetime | None:
        return _time_of(self.id)

    @property
    def everything(self) -> bool:
        """Of a purge_all: the whole set went. Else everything of `queue`, '' = of the entries that name none."""
        return not self.queue and "queue" not in self.fields

    @property
    def entries(self) -> int | None:
        """Of a purge_all: how many went, or, of one queue, were about to; None where it does not say."""
        told = self.fields.get("entries", "")
        return int(told) if told.isascii() and told.isdigit() and len(told) < 20 else None


@dataclass(frozen=True, slots=True)
class RecordPage:
    """Records newest first. `older`: the id before which to read on; None = nothing is left."""

    records: tuple[Record, ...]
    older: str | None


class AuditLog:
    """The newest `cap` records; trimming runs behind writes, a few at a time."""

    KEYS = (keys.AUDIT, keys.AUDIT_INDEX)

    def __init__(self, redis: Redis, cap: int = 100_000) -> None:
        self.redis, self.cap = redis, cap

    def recorded(self, operation: str, action: str, digest: str) -> Record | None:
        """What this operation did to these bytes; None = not done. Reads the primary."""
        found = self.all_recorded(operation, action, [digest])
        return found.get(digest)

    def all_recorded(self, operation: str, action: str, digests: Sequence[str]) -> dict[str, Record]:
        """The same for many entries in one round trip, by digest."""
        found = self._find([f"o:{operation}\0{action}\0{digest}\0".encode() for digest in digests], most=1)
        return {digest: records[0] for digest, records in zip(digests, found, strict=True) if records}

    def of_operation(self, operation: str, action: str = "", most: int = 1_000) -> list[Record]:
        """What this operation did, or what of it was this action."""
        return self._find([f"o:{operation}\0{action}\0".encode() if action else f"o:{operation}\0".encode()], most)[0]

    def of_digest(self, digest: str, most: int = 100) -> list[Record]:
        """What was done to these bytes, the newest first. `digest` in full, or its first hex digits."""
        whole = len(digest) == 64
        return self._find([f"d:{digest}".encode() + (b"\0" if whole else b"")], most)[0]

    def of_jid(self, jid: str, most: int = 100) -> list[Record]:
        """What was done to entries of this job, the newest first."""
        return self.of_jids([jid], most)[jid]

    def of_jids(self, jids: Iterable[str], most: int = 10) -> dict[str, list[Record]]:
        """The same for many jobs in one round trip."""
        wanted = list(dict.fromkeys(jids))
        found = self._find([b"j:" + jid_key(to_bytes(jid)) + b"\0" for jid in wanted], most)
        return dict(zip(wanted, found, strict=True))

    def of_purge_all(self, most: int = 1_000) -> list[Record]:
        """Purges of everything, or of everything of one queue, the newest first."""
        return self._find([b"a:purge_all\0"], most)[0]

    def page(
        self,
        before: str = "",
        limit: int = 50,
        where: Callable[[Record], bool] | None = None,
        since: datetime | None = None,
        budget: int = 4_000,
    ) -> RecordPage:
        """Up to `limit` records that `where` accepts, newest first, older than the one with the id `before`.

        None older than `since`; reads at most `budget` records.
        """
        found, read, end, until = list[Record](), 0, "+", str(int(since.timestamp() * 1000)) if since else "-"
        while True:
            start = f"({before}" if before else end
            want = min(PAGE_STEP, budget - read)
            (rows,) = scripts.read(self.redis, [("XREVRANGE", keys.AUDIT, start, until, "COUNT", want)])
            for id_, row in rows:
                before, read = to_text(id_), read + 1
                record = _record(b"", id_, row)
                if record and (where is None or where(record)):
                    found.append(record)
                if len(found) == limit or read == budget:
                    return RecordPage(tuple(found), before)
            if len(rows) < want:
                return RecordPage(tuple(found), None)

    def oldest(self) -> datetime | None:
        """The time of the oldest record that is kept; None without any."""
        (rows,) = scripts.read(self.redis, [("XRANGE", keys.AUDIT, "-", "+", "COUNT", 1)])
        return _time_of(to_text(rows[0][0])) if rows else None

    def note(
        self, action: str, by: Actor, reason: str = "", operation: str = "", digest: str = "", **fields: str
    ) -> None:
        """Records what was just done to a ledger, which no script can do in the same step: it may lie in another slot.

        `action`: "close gate", "open gate", "repair", "release", "discard", "expire", "prune" or "import"; `fields`:
        the ledger's `namespace` and `queue`, a `request`, numbers. One operation ('' = a new one) notes an action on a
        digest once. Raises NotDone and Unreachable: there is no record; AnswerLost: ask again, by the same operation.
        """
        more = [part for name, value in fields.items() for part in (name.encode(), to_bytes(value))]
        args = (operation or str(uuid4()), action, digest, *more, *who_and_why(by, reason))
        (answer,) = scripts.write(self.redis, [scripts.NOTE.call(self.KEYS, args)], [self.trim_call()])
        if answer is Reply.UNKNOWN:
            raise AnswerLost("the answer was lost")
        if answer not in (Reply.DONE, Reply.DONE_BEFORE):
            raise NotDone(Refusal[answer.name])

    def trim_call(self) -> scripts.Call:
        """To be sent behind writes: drops the oldest records once the log is well over its cap."""
        return scripts.TRIM_AUDIT.call(self.KEYS, (self.cap, TRIM_SLACK, TRIM_STEP))

    def _find(self, prefixes: Sequence[bytes], most: int) -> list[list[Record]]:
        blocks = [prefixes[at : at + FIND_STEP] for at in range(0, len(prefixes), FIND_STEP)]
        calls = [scripts.RECORDS.call(self.KEYS, (most, *block), read_only=True) for block in blocks]
        found = chain.from_iterable(scripts.read(self.redis, calls))
        return [[record for row in rows if (record := _record(*row))] for rows in found]


def _time_of(id_: str) -> datetime | None:
    """The time in a stream's id; None for one that no clock has written."""
    ms = int(id_.partition("-")[0])
    try:
        return datetime.fromtimestamp(ms / 1000, UTC) if ms else None
    except (OverflowError, ValueError, OSError):
        return None


def jid_key(jid: bytes) -> bytes:
    """A jid as the index and the records hold it: itself, or its digest when it is long or holds what ends it there."""
    plain = len(jid) <= LONGEST_JID and b"\0" not in jid
    return jid if plain else b"sha256:" + hashlib.sha256(jid).hexdigest().encode()


def as_recorded(jid: str) -> str:
    """`Record.jid` of what is done to an entry with this jid."""
    return to_text(jid_key(to_bytes(jid)))


def who_and_why(by: Actor | None, reason: str) -> tuple[bytes, ...]:
    """Fields of a record, as name, value, name, value."""
    actor = by or Actor("", "")
    return (b"by", to_bytes(actor.id), b"name", to_bytes(actor.name), b"reason", to_bytes(reason))


def what_was_sent(raw: bytes, changes: Sequence[Change]) -> tuple[bytes, ...]:
    """Fields of a redrive's record: the digest of the pushed bytes, and the replaced values."""
    rows = json.dumps([(change.field, change.was, change.now) for change in changes])
    return (b"sent", hashlib.sha256(raw).hexdigest().encode(), b"changes", rows.encode())


def _record(member: bytes, id_: bytes, row: list[bytes]) -> Record | None:
    fields = {to_text(name): to_text(value) for name, value in zip(row[::2], row[1::2], strict=False)}
    if not fields:
        if not member.startswith(b"o:"):
            return None  # a stale member of the index: its record was trimmed
        _, _, rest = to_text(member).partition(":")
        operation, action, digest, _ = rest.split("\0")
        return Record("0-0", action, operation, digest)
    known = {name: fields.get(name, "") for name in
             ("action", "operation", "digest", "jid", "queue", "by", "name", "reason", "sent")}  # fmt: skip
    try:
        score = read_score(fields["score"])
        changes = tuple(Change(*map(str, row)) for row in json.loads(fields.get("changes", "[]")))
    except (KeyError, ValueError, TypeError, RecursionError):
        score, changes = None, ()  # fields of another version
    return Record(to_text(id_), score=score, changes=changes, fields=fields, **known)
