"""Finding dead letters: by text, queue, class of the error, kind, error and time, all of it together.

A search reads entries, so it ends within a time and says how far it came: the page that it gives says where to go on.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from joobq_admin.joobq.cjson import Member, strict_members, unescape
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.entry import OWN_FIELDS, TIMES_FROM, TIMES_TO, Entry, Kind, to_bytes, to_text, unix_ms
from joobq_admin.joobq.filters import ANY_TIME, Span, Where, in_queue, may_hold, may_hold_in_any_case
from joobq_admin.joobq.lookup import Cursor
from joobq_admin.joobq.overview import Overview, Wanted
from joobq_admin.joobq.scripts import Call
from joobq_admin.triage.fingerprint import FINGERPRINT, UNNAMED, error_class, id_of, key_of, version_of
from joobq_admin.triage.redact import Hidden, Redaction

SECONDS = 0.12  # that one search may take, from the first answer of Redis on
BUDGET = 40_000  # entries that it reads at most
PRESETS = {"1h": timedelta(hours=1), "24h": timedelta(days=1), "7d": timedelta(days=7), "30d": timedelta(days=30)}

_FROM, _TO = (datetime.fromtimestamp(score / 1000, UTC) for score in (TIMES_FROM, TIMES_TO))


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for; None or '' = any. Raises ValueError, with words for a person, for what finds nothing ever.

    `text`: in the message, the class, the arguments ("name value") and the jid, in any case; what is hidden is not
    found. `queue`: '' = those that name none. `error`: a class, exactly. `group`: an error's fingerprint. `since`,
    `until`: when it died, the end excluded. `undated`: those without a time as their score, whose time is then the
    error's; otherwise a time finds only those whose score is one.
    """

    text: str = ""
    queue: str | None = None
    error: str = ""
    kind: Kind | None = None
    group: str = ""
    since: datetime | None = None
    until: datetime | None = None
    undated: bool = False

    def __post_init__(self) -> None:
        if self.group and (version := version_of(self.group)) != FINGERPRINT:
            raise ValueError(
                f"This link names an error by rule {version}, now it is rule {FINGERPRINT}. Open By error."
            )
        if self.since and self.until and self.since >= self.until:
            raise ValueError("The time ends before it begins.")

    @property
    def span(self) -> Span:
        """The scores between which it is."""
        if self.undated:
            return Span(until=TIMES_FROM)
        if not (self.since or self.until):
            return ANY_TIME
        since, until = (min(max(_FROM, at), _TO) for at in (self.since or _FROM, self.until or _TO))
        return Span(unix_ms(since), unix_ms(until))

    def where(self, redaction: Redaction) -> Where | None:
        """Which entries of the span are found; None = all. What is told by the bytes alone comes first."""
        tests = list[Where]()
        if self.text:
            tests.append(_may_hold_words(self.text))
        if self.queue is not None:
            tests.append(in_queue(self.queue))
        if self.error:
            tests.append(_with_class(self.error, redaction))
        if self.kind:
            tests.append(lambda entry: entry.kind is self.kind)
        if self.undated and (self.since or self.until):
            tests.append(self._died_then)
        if self.group:
            tests.append(lambda entry: id_of(key_of(entry, redaction)) == self.group)
        if self.text:
            tests.append(_holding(self.text, redaction))
        return (lambda entry: all(test(entry) for test in tests)) if tests else None

    def _died_then(self, entry: Entry) -> bool:
        at = entry.died_at
        return at is not None and (not self.since or self.since <= at) and (not self.until or at < self.until)


def overview(
    queue: DeadLetterQueue,
    wanted: Search,
    redaction: Redaction,
    cursor: Cursor | None = None,
    limit: int = 50,
    newer: bool = False,
    beside: Sequence[Call] = (),
) -> Overview:
    """Up to `limit` entries from `cursor` (None: the newest) on, older ones, or with `newer` newer ones.

    A page with fewer that is not `complete` ended early: it has read `scanned` entries, to the score `scanned_to`, and
    `older` (or `newer`) says where to go on. With the counts, and the replies to what is asked for beside it. Raises
    Unreachable, or what Redis says.
    """
    if wanted == Search(queue=wanted.queue):  # the counts may tell when all are found
        return queue.overview(cursor, limit, wanted.queue, newer, beside=beside)
    look = Wanted(wanted.where(redaction), wanted.span, BUDGET, SECONDS)
    return queue.overview(cursor, limit, None, newer, look, beside)


def moment(text: str, now: datetime) -> datetime:
    """A time as a filter names it: a preset, or ISO 8601, in UTC unless it says otherwise. Raises ValueError."""
    if text in PRESETS:
        return now - PRESETS[text]
    try:
        at = datetime.fromisoformat(text)
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        presets = ", ".join(PRESETS)
        raise ValueError(f"“{text[:80]}” is no time. Write {presets}, or a time such as 2026-11-29T02:00.") from None


class Place(NamedTuple):
    """Where a value stands in the bytes of an entry. `name`: of the argument, with a blank; '' for the others."""

    name: str
    start: int
    end: int


def _with_class(name: str, redaction: Redaction) -> Where:
    may_hold_it = may_hold(to_bytes(name))
    if redaction.spans(to_bytes(name)):  # whoever knows it by chance is not told that it is right
        return lambda _: False
    return lambda entry: (
        (name == UNNAMED or may_hold_it(entry.raw)) and entry.error is not None and error_class(entry.error) == name
    )


def _may_hold_words(text: str) -> Where:
    """Name and value stand apart in the bytes: so only words are looked for in these."""
    may_hold_it = may_hold_in_any_case(max(text.split(" "), key=len))
    return lambda entry: may_hold_it(entry.raw)


def _holding(text: str, redaction: Redaction) -> Where:
    folded = text.casefold()

    def holds(entry: Entry) -> bool:
        places = list(_places(entry))
        if not any(folded in told for told in _told(entry.raw, places)):
            return False
        hidden = redaction.spans(entry.raw)
        if not hidden:
            return True
        shown, names = _blanked(entry.raw, hidden), (to_bytes(place.name) for place in places)
        named = (to_text(_blanked(name, redaction.spans(name))) for name in names)
        places = [place._replace(name=name) for place, name in zip(places, named, strict=True)]
        return any(folded in part for told in _told(shown, places) for part in told.split("\0"))

    return holds


def _blanked(raw: bytes, hidden: Iterable[Hidden]) -> bytes:
    """What is hidden becomes a NUL each byte, beyond which nothing is found."""
    shown = bytearray(raw)
    for value in hidden:
        shown[value.start : value.end] = b"\0" * (value.end - value.start)
    return bytes(shown)


def _told(raw: bytes, places: Iterable[Place]) -> Iterator[str]:
    """What stands there, as it is shown, all in one case."""
    for name, start, end in places:
        value = raw[start:end]
        value = unescape(value if value[:1] == value[-1:] == b'"' else b'"%s"' % value)
        yield f"{name}{to_text(value)}".casefold()


def _places(entry: Entry) -> Iterator[Place]:
    """Where what is searched stands. Of what is no object that is all of it."""
    if entry.job is None:
        yield Place("", 0, len(entry.raw))
        return
    for key, start, end in _members(entry.raw, 0, len(entry.raw)):
        name = to_text(key)
        if name not in OWN_FIELDS:
            yield Place(f"{name} ", start, end)
        elif name == "jid":
            yield Place("", start, end)
        elif name == "error" and entry.error:
            told = ("error_class", "message" if entry.error.message else "cause")
            inner = _members(entry.raw, start, end)
            yield from (Place("", *at) for key, *at in inner if to_text(key) in told)


def _members(raw: bytes, start: int, end: int) -> Iterable[Member]:
    """Of the object that stands there; of a name that comes twice the last."""
    members = {member.key: member for member in strict_members(raw[start:end])}
    return [Member(key, start + first, start + last) for key, first, last in members.values()]
