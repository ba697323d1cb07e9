"""Finding entries and walking the dead set by keyset: O(log n), also among any number of equal scores.

The order is Redis': score, then member by bytes. A cursor is a place between two entries, told as B-trees tell theirs,
so it stays exact for every entry that stays, also when the entry beside it is gone.
"""

import base64
import binascii
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from time import monotonic
from typing import NamedTuple

from redis import Redis

from joobq_admin.joobq import keys, scripts
from joobq_admin.joobq.entry import Entry, EntryRef, Score, read_score, score_text, to_bytes
from joobq_admin.joobq.filters import ANY_TIME, Span, Where, of_jobs

CHUNK = 200  # entries a reading script returns at most
REPLY_BYTES = 4 << 20  # and about so many bytes
FIRST_LOOK = 20  # deaths of one job at one score that the first look reads
BUDGET, BUDGET_BYTES = 4_000, 32 << 20  # entries that one look reads at most, and bytes about
LONGEST_PREFIX = 1_024  # bytes of a cursor's text
LIFETIME_SCORE = 604_800  # what JoobQ writes as a score where it means a lifetime: ties by the thousand
_cursor = re.compile(r"(-?(?:[0-9.]+(?:e[+-]?[0-9]+)?|inf))~([A-Za-z0-9_-]*)(?:~([0-9]{1,9}))?", re.ASCII).fullmatch

SHORTEST_DIGEST = 16  # hex digits that do for looking


class Cursor(NamedTuple):
    """A place between two entries: below it lies what has a lower score, or this score and a member below `prefix`."""

    score: Score
    prefix: bytes = b""
    up: int = 0  # the place lies so many entries higher
    twins: int = 0  # entries between the place that the first 1,024 bytes of a longer prefix tell, and this one

    def __str__(self) -> str:
        """For a URL. A long prefix is cut, and the place told by counting from there: exact until such twins change,
        when one may be shown again, or missed where another came in below it.
        """
        up = self.up if len(self.prefix) <= LONGEST_PREFIX else self.twins
        prefix = base64.urlsafe_b64encode(self.prefix[:LONGEST_PREFIX]).decode().rstrip("=")
        text = f"{score_text(self.score)}~{prefix}"
        return f"{text}~{up}" if up else text

    @classmethod
    def parse(cls, text: str) -> "Cursor":
        """Raises ValueError for what `str` never wrote."""
        match = _cursor(text)
        if not match:
            raise ValueError("no cursor")
        score, code, up = match.groups()
        try:
            prefix = base64.urlsafe_b64decode(code + "=" * (-len(code) % 4))
        except binascii.Error as error:
            raise ValueError("no cursor") from error
        return cls(read_score(score), prefix, int(up or 0))


TOP = Cursor(float("inf"), b"\xff" * 8)  # no member begins so: it would be no text of any kind


@dataclass(frozen=True, slots=True)
class Page:
    """Entries newest first. `newer`, `older`: where to walk on; None = nothing is left there."""

    entries: tuple[Entry, ...]
    newer: Cursor | None
    older: Cursor | None
    scanned: int  # entries read
    scanned_to: Score | None  # the score of the last one read
    complete: bool  # nothing is left in the direction of the walk
    above: int  # entries newer than the place where the walk began (or ended, towards newer)


class Rows(NamedTuple):
    """What `seek` found beside a cursor, nearest first."""

    below: int  # entries below the cursor
    size: int  # entries in all
    entries: list[Entry]


def seek_call(cursor: Cursor, way: str, limit: int, most: int = REPLY_BYTES, key: bytes = keys.DEAD) -> scripts.Call:
    """`way`: 'older', 'newer', or 'match' for the entries at this score that begin with the prefix."""
    args = (score_text(cursor.score), cursor.prefix, way, limit, cursor.up, most)
    return scripts.SEEK.call((key,), args, read_only=True)


def rows_of(reply: Sequence[bytes | int]) -> Rows:
    below, size, *flat = reply
    pairs = zip(flat[::2], flat[1::2], strict=True)
    return Rows(int(below), int(size), [Entry(bytes(member), read_score(bytes(score))) for member, score in pairs])


def seek(redis: Redis, cursor: Cursor, way: str, limit: int) -> Rows:
    (reply,) = scripts.read(redis, [seek_call(cursor, way, limit)])
    return rows_of(reply)


def between(redis: Redis, upper: Entry, lower: Entry) -> Cursor:
    """The place between two neighbours: the shortest prefix of the upper member that exceeds the lower one."""
    if upper.score != lower.score:
        return Cursor(upper.score)
    above, below = upper.raw, lower.raw
    same = next((i for i, (a, b) in enumerate(zip(above, below, strict=False)) if a != b), min(len(above), len(below)))
    exact = Cursor(upper.score, above[: same + 1])
    if same < LONGEST_PREFIX:
        return exact
    short = Cursor(upper.score, above[:LONGEST_PREFIX])
    here, cut = (rows_of(r) for r in scripts.read(redis, [seek_call(exact, "older", 0), seek_call(short, "older", 0)]))
    return exact._replace(twins=here.below - cut.below)


def within(span: Span, cursor: Cursor, newer: bool) -> Cursor:
    """Where a walk through `span` begins that is to begin at `cursor`."""
    if span == ANY_TIME:
        return cursor
    return max(Cursor(span.since), cursor) if newer else min(Cursor(span.until), cursor)


def first_call(cursor: Cursor, limit: int, filtered: bool, budget: int, newer: bool) -> scripts.Call:
    """What `walk` asks first, where it begins (`within` its span)."""
    return seek_call(cursor, "newer" if newer else "older", min(CHUNK if filtered else limit, budget) + 1)


def walk(
    redis: Redis,
    cursor: Cursor,
    limit: int,
    where: Where | None = None,
    budget: int = BUDGET,
    newer: bool = False,
    enough: int | None = None,
    rows: Rows | None = None,
    span: Span = ANY_TIME,
    deadline: float = float("inf"),
) -> Page:
    """Up to `limit` entries of `span` that `where` accepts, from `cursor` towards older ones or newer ones.

    Reads at most `budget` entries and about 32 MiB, until `deadline` (by time.monotonic()), and stops at `enough`
    matches when that many are known to exist. `rows`: the answer to `first_call`, where that was sent together with
    other calls.
    """
    found: list[Entry] = []
    cursor = within(span, cursor, newer)
    edge = None if span == ANY_TIME else Cursor(span.since if newer else span.until)
    scanned, room, behind, here, last = 0, BUDGET_BYTES, None, cursor, None
    while True:
        want = min(CHUNK if where else limit, budget - scanned)
        rows = rows or seek(redis, here, "newer" if newer else "older", want + 1)
        ahead = rows.size - rows.below if newer else rows.below
        behind = rows.size - ahead if behind is None else behind
        for entry in rows.entries[:want]:
            if not span.holds(entry):
                break
            last, scanned, ahead, room = entry, scanned + 1, ahead - 1, room - len(entry.raw)
            if where is None or where(entry):
                found.append(entry)
            if len(found) == limit or monotonic() > deadline:
                break
        rest = _beside(redis, last, rows.entries, newer, span) if last and ahead and len(found) != enough else None
        if rest is None or where is None or len(found) == limit or scanned == budget or room <= 0:
            break
        if monotonic() > deadline:
            break
        here, rows = rest, None
    start = cursor if behind and cursor != edge else None
    return Page(
        entries=tuple(reversed(found)) if newer else tuple(found),
        newer=rest if newer else start,
        older=start if newer else rest,
        scanned=scanned,
        scanned_to=last.score if last else None,
        complete=rest is None,
        above=ahead if newer else behind,
    )


def _beside(redis: Redis, last: Entry, read: list[Entry], newer: bool, span: Span) -> Cursor | None:
    """The place behind the last entry that was looked at; None when there is nothing of the span behind it any more."""
    at = next(at for at, entry in enumerate(read, 1) if entry is last)
    if at < len(read):
        after = read[at]
    else:  # the reply ended early because of its size
        here = Cursor(last.score, last.raw + b"\0") if newer else Cursor(last.score, last.raw)
        beyond = seek(redis, here, "newer" if newer else "older", 1).entries
        if not beyond:
            return None
        after = beyond[0]
    if not span.holds(after):
        return None
    return between(redis, after, last) if newer else between(redis, last, after)


def find(redis: Redis, refs: Sequence[EntryRef]) -> dict[EntryRef, Entry]:
    """Those of these entries that stand at their score, found among equal scores by the beginning of their bytes.

    Entries of the ref's job first, then whatever else has that score, as far as the budget goes. A digest may be cut.
    """
    found = _find_at(redis, {ref: Cursor(ref.score, _prefix(ref.jid)) for ref in refs})
    oddly = [ref for ref in refs if ref not in found and _prefix(ref.jid)]  # its bytes may begin in another way
    return found | _find_at(redis, {ref: Cursor(ref.score) for ref in oddly})


def _find_at(redis: Redis, places: Mapping[EntryRef, Cursor]) -> dict[EntryRef, Entry]:
    """Each among the entries of its place's score and prefix: one round trip, and one budget for places with many."""
    found, left = dict[EntryRef, Entry](), BUDGET
    wanted = defaultdict[Cursor, dict[str, list[EntryRef]]](lambda: defaultdict(list))
    for ref, place in places.items():
        wanted[place][ref.digest[:SHORTEST_DIGEST]].append(ref)
    replies = scripts.read(redis, [seek_call(place, "match", FIRST_LOOK) for place in wanted])
    for (place, by_digest), reply in zip(wanted.items(), replies, strict=True):
        first = rows_of(reply).entries
        more = _matching(redis, place, left) if len(first) == FIRST_LOOK else iter(())
        missed = sum(map(len, by_digest.values()))
        for at, entry in enumerate(chain(first, more)):
            left -= at >= FIRST_LOOK
            for ref in by_digest.get(entry.digest[:SHORTEST_DIGEST], ()):
                if ref not in found and entry.digest.startswith(ref.digest):
                    found[ref], missed = entry, missed - 1
            if not missed:
                break
    return found


def _matching(redis: Redis, place: Cursor, left: int = BUDGET) -> Iterator[Entry]:
    """The entries with the score and the prefix of `place`, newest first, at most `left`."""
    here = place._replace(prefix=place.prefix + TOP.prefix)
    while left > 0:
        below = seek(redis, here, "older", min(CHUNK, left)).entries
        rows = [entry for entry in below if entry.score == place.score and entry.raw.startswith(place.prefix)]
        if not rows:
            return
        yield from rows
        here, left = Cursor(place.score, rows[-1].raw), left - len(rows)


def every(redis: Redis, where: Where | None = None, start: Cursor = TOP, step: int = CHUNK) -> Iterator[Entry]:
    """Every entry that `where` accepts, newest first, read `step` at a time as they are asked for."""
    cursor: Cursor | None = start
    while cursor:
        page = walk(redis, cursor, step, where, budget=step)
        yield from page.entries
        cursor = page.older


class Near(NamedTuple):
    """What a bounded look for jobs found, newest first. `older`: where to look on; None = all were looked at."""

    entries: list[Entry]
    older: Cursor | None


def nearby(redis: Redis, jids: Collection[str], digests: Iterable[str] = ()) -> Near:
    """Entries of these jobs, or with these digests (which may be cut): those at 604800 that begin as an entry of the
    job does, and those among the newest 4,000."""
    of_job, exact, found = of_jobs(*jids), tuple(digests), dict[bytes, Entry]()
    places = list(filter(None, map(beginning_as, jids)))
    replies = scripts.read(redis, [seek_call(place, "match", FIRST_LOOK) for place in places])
    for place, reply in zip(places, replies, strict=True):
        rows = rows_of(reply).entries
        found |= {entry.raw: entry for entry in (_matching(redis, place) if len(rows) == FIRST_LOOK else rows)}
    page = walk(redis, TOP, BUDGET, lambda entry: of_job(entry) or entry.digest.startswith(exact))
    found |= {entry.raw: entry for entry in page.entries}
    return Near(sorted(found.values(), key=newest, reverse=True), page.older)


def newest_of(redis: Redis, jids: Collection[str]) -> dict[str, EntryRef]:
    """The newest entry of each of these jobs, by one walk that ends when all are found."""
    found = dict[str, EntryRef]()
    for entry in every(redis, of_jobs(*jids)) if jids else ():
        if entry.jid is not None and entry.jid not in found:
            found[entry.jid] = entry.ref
        if len(found) == len(jids):
            break
    return found


def beginning_as(jid: str) -> Cursor | None:
    """The place of a job's entries whose score is a lifetime; None for a jid that does without."""
    prefix = _prefix(jid)
    return Cursor(LIFETIME_SCORE, prefix) if prefix else None


def newest(entry: Entry) -> tuple[Score, bytes]:
    """The order of the dead set."""
    return entry.score, entry.raw


def _prefix(jid: str | None) -> bytes:
    """How the bytes of an entry of this job begin: JoobQ writes the jid first."""
    return b'{"jid":"%s"' % to_bytes(jid) if jid and len(jid) <= LONGEST_PREFIX else b""
