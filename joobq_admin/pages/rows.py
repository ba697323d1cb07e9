"""What the list prints, ready-made: filters in the loop of a template would cost more than reading the rows.

What the bytes alone decide is made once and kept for the next look.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from django.urls import reverse
from django.utils.html import format_html

from joobq_admin.connection import dead_letters, redaction
from joobq_admin.joobq.audit import Record
from joobq_admin.joobq.entry import TIMES_FROM, Entry, Kind
from joobq_admin.joobq.outcome import Refused
from joobq_admin.pages import links, times, words
from joobq_admin.pages.errors import LONGEST_CLASS, NO_FAILURE
from joobq_admin.pages.sends import name_of
from joobq_admin.pages.tokens import CUT, Tokens, arguments, plain, text
from joobq_admin.triage.history import redriven_before
from joobq_admin.triage.versions import differences, version

#: Characters in a row; there is room for a line of the message on a desk and two on a phone, and for two of arguments.
LONGEST_MESSAGE, LONGEST_ARGUMENT, LONGEST_ARGUMENTS = 140, 40, 80
FIRST_BYTES = 200
MOST_KEPT = 2_000  # about 1 kB each: lists are looked at again and again, and by many

Badge = tuple[str, str, str]  # tone, word, why

#: What stands out in a row.
MARKED = {"": "{}", "k": "<b>{}</b>"} | {kind: f'<span class="{kind}">{{}}</span>' for kind in ("hid", "byte", "ctl")}

STAR = " *"
NO_TIME_NOTE = "Their score is a lifetime (604800), not a time. * = read from error.failed_at"

Heading = tuple[str, str]  # a label, and a note beside it
UNDATED = ("Without a death time", NO_TIME_NOTE)
BY_JID = ("By jid, the order in which Redis keeps them", "")

#: One row. A dict, because templates look names up there first.
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Day:
    """Rows under one heading."""

    label: str
    rows: list[Row]
    note: str = ""


@dataclass(slots=True)
class Job:
    """The newest death of a job on the page, and the others."""

    entry: Entry
    others: list[Entry] = field(default_factory=list)


def days(
    entries: Sequence[Entry], records: Mapping[str, Sequence[Record]], now: datetime, undated: Heading = UNDATED
) -> list[Day]:
    """`records` by jid: what was done to each job, newest first; `undated`: above those without a death time."""
    base = reverse("entries")
    found = list[Day]()
    for (label, note), jobs in groupby(by_job(entries), lambda job: _heading(job.entry, now) or undated):
        rows = [_row(job, records.get(job.entry.jid or "", ()), now, base) for job in jobs]
        found.append(Day(label, rows, note))
    return found


def by_job(entries: Sequence[Entry]) -> list[Job]:
    """In their order, but the deaths of one job together under the newest."""
    jobs, of_job = list[Job](), dict[str, Job]()
    for entry in entries:
        key = entry.job_key
        if key is not None and key in of_job:
            of_job[key].others.append(entry)
            continue
        jobs.append(Job(entry))
        if key is not None:
            of_job[key] = jobs[-1]
    return jobs


def _heading(entry: Entry, now: datetime) -> Heading | None:
    if entry.died_at_source == "score" and entry.died_at:
        return times.day(entry.died_at, now), ""
    return ("With a score that is no time", "") if entry.score >= TIMES_FROM else None


def _row(job: Job, records: Sequence[Record], now: datetime, base: str) -> Row:
    entry, shown = job.entry, face(job.entry)
    return {
        **shown._asdict(),
        **_died(entry, now),
        **_refers_to(entry, base),
        "badges": [*_of_job(entry, 1 + len(job.others), records, now), *shown.badges],
        "deaths": [_death(other, entry, now, base) for other in job.others],
    }


def _death(entry: Entry, lead: Entry, now: datetime, base: str) -> Row:
    return {
        **_died(entry, now),
        **_refers_to(entry, base),
        "diff": differs(lead, entry),
    }


def _refers_to(entry: Entry, base: str) -> Row:
    return {"id": entry.digest[:16], "url": links.entry(entry.ref, base), "tick": links.tick(entry.ref)}


def _died(entry: Entry, now: datetime) -> Row:
    at = entry.died_at
    if at is None:
        return {"rel": "", "clock": "", "full": ""}
    when, star, source = times.when(at, now), "", ""
    if entry.died_at_source != "score":
        star, source = STAR, f", from {entry.died_at_source}"
    return {"rel": when.rel, "clock": when.clock + star, "full": when.full + source}


def _of_job(entry: Entry, deaths: int, records: Sequence[Record], now: datetime) -> list[Badge]:
    """What of its job needs a look. `deaths`: entries of it that are here; `records`: what was done to them."""
    found = list[Badge]()
    if deaths > 1:
        found.append(("", f"{deaths} deaths of this job", ""))
    if before := redriven_before(entry, records):
        at = f" at {times.clock(before.at, now)}" if before.at else ""
        found.append(("warn", "died again", f"Redriven by {name_of(before)}{at}, then it died as this"))
    return found


def badges(
    entry: Entry, refused: Refused | None, deaths: int, records: Sequence[Record], now: datetime
) -> tuple[Badge, ...]:
    """All that needs a look. `deaths`: entries of its job that are here; `records`: what was done to them."""
    return (*_of_job(entry, deaths, records, now), *_of_bytes(entry, refused))


# -- what the bytes alone decide


class Face(NamedTuple):
    """Text and HTML that may be shown. `badges`: those that the bytes alone decide."""

    queue: str
    cls: str
    msg: str
    args: str
    badges: tuple[Badge, ...]


T = TypeVar("T")


class Kept(OrderedDict[str, T]):
    """The newest of what was made, by name. Two threads may make the same: it is the same."""

    def made(self, name: str, make: Callable[[], T]) -> T:
        known = self.get(name)
        if known is None:
            known = self[name] = make()
            if len(self) > MOST_KEPT:
                self.popitem(last=False)
        return known


_faces, _differences = Kept[Face](), Kept[str]()


def face(entry: Entry) -> Face:
    return _faces.made(entry.digest, lambda: _face(entry))


def _face(entry: Entry) -> Face:
    cls, message = error_tokens(entry)
    return Face(
        queue=plain(entry.queue, LONGEST_CLASS),
        cls=cls,
        msg=paint(message),
        args=paint(_arguments(entry)),
        badges=_of_bytes(entry, dead_letters().refusal(entry)),
    )


def _of_bytes(entry: Entry, refused: Refused | None) -> tuple[Badge, ...]:
    """What of the bytes needs a look. `refused`: what a redrive would answer."""
    found = list[Badge]()
    if refused:
        found.append(("bad", "cannot be redriven", _why(refused, entry.queue)))
    if entry.kind is Kind.EXPIRED:
        found.append(("", "had expired", "It waited too long: no worker ran it"))
    if not _is_utf8(entry.raw):
        found.append(("", "not UTF-8", "Its bytes are no UTF-8; they are kept as they are"))
    return tuple(found)


def _why(refused: Refused, queue: str) -> str:
    """Why it cannot be redriven, in one sentence."""
    detail = plain(redaction().redacted_text(refused.detail), LONGEST_MESSAGE)
    said = words.refusal(Refused(refused.what, refused.reason, detail), plain(queue, LONGEST_CLASS))
    return f"{said.heading[:1].upper()}{said.heading[1:]}. {said.text}"


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def error_of(entry: Entry) -> tuple[str, str]:
    """What went wrong: a class, and a message ('' = none), as text that may be shown."""
    cls, message = error_tokens(entry)
    return cls, "".join(word for _, word in message)


def error_tokens(entry: Entry, longest: int = LONGEST_MESSAGE) -> tuple[str, Tokens]:
    """The same, the message as tokens of up to `longest` characters."""
    error = entry.error
    if error is None or entry.kind in (Kind.MALFORMED, Kind.PLACEHOLDER):
        cls, words = NO_FAILURE[entry.kind]
        return cls, [("", words)]
    message = error.message or error.cause
    shown = redaction().redacted_text(message[: 4 * longest]) if message else ""
    cls = redaction().redacted_text((error.cls or error.type or "Error")[: 4 * LONGEST_CLASS])
    return plain(cls, LONGEST_CLASS), text(shown, longest)


def _arguments(entry: Entry) -> Tokens:
    """Names and values of the first arguments, in one run."""
    if entry.kind is Kind.MALFORMED:
        return text(redaction().redacted(entry.raw[:FIRST_BYTES]), LONGEST_ARGUMENTS)
    if entry.kind is Kind.PLACEHOLDER:
        original = (entry.job or {}).get("original_job_data")
        shown = redaction().redacted_text(original[:FIRST_BYTES]) if isinstance(original, str) else ""
        return [("k", "original"), ("", " "), *text(shown, LONGEST_ARGUMENTS)]
    run, length = Tokens(), 0
    for name, value in arguments(entry, redaction(), LONGEST_ARGUMENT):
        if length > LONGEST_ARGUMENTS:
            return [*run, CUT]
        told = [("hid", "hidden") if kind == "hid" else (kind, word) for kind, word in value]
        run += [("k", name), ("", " "), *told, ("", " ")]
        length += len(name) + sum(len(word) for _, word in told) + 2
    return run


def differs(one: Entry, other: Entry) -> str:
    """How two entries of one job differ, by the names of the fields."""
    return _differences.made(one.digest + other.digest, lambda: _differs(one, other))


def _differs(one: Entry, other: Entry) -> str:
    was, now = version(one, redaction()), version(other, redaction())
    names = list(dict.fromkeys(each.field.partition(".")[0] for each in differences(was, now)))
    if was.job != now.job:
        names.append("the job itself")
    if not names:
        return "same error"
    if len(names) > 3:
        names = [*names[:2], f"{len(names) - 2} other fields"]
    return f"differs in {plain(redaction().redacted_text(', '.join(names)), 120)}{' only' if len(names) == 1 else ''}"


def paint(tokens: Tokens) -> str:
    """Tokens as HTML, for rows: what ui/_tokens.html does at a multiple of the cost. Most kinds are plain here."""
    runs = [(kind if kind in MARKED else "", word) for kind, word in tokens]
    merged = [(kind, "".join(word for _, word in same)) for kind, same in groupby(runs, itemgetter(0))]
    if len(merged) < 2 and not any(kind for kind, _ in merged):
        return "".join(word for _, word in merged)  # the template escapes it
    return format_html("".join(MARKED[kind] for kind, _ in merged), *(word for _, word in merged))
