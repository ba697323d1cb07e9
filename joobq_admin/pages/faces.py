"""What a row shows of an entry, as far as its bytes decide it: made once, kept for the next look."""

from collections import OrderedDict
from collections.abc import Callable
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, TypeVar

from django.utils.html import format_html

from joobq_admin.connection import dead_letters, redaction
from joobq_admin.joobq.entry import Entry, Kind
from joobq_admin.joobq.outcome import Refused
from joobq_admin.pages import words
from joobq_admin.pages.tokens import Tokens, arguments, plain, text
from joobq_admin.triage.versions import differences, version

LONGEST_MESSAGE, LONGEST_CLASS, LONGEST_ARGUMENT, LONGEST_ARGUMENTS = 200, 80, 60, 200
FIRST_BYTES = 200
MOST_KEPT = 2_000  # about 1 kB each: lists are looked at again and again, and by many

Badge = tuple[str, str, str]  # tone, word, why

#: What stands out in a row.
MARKED = {"": "{}"} | {kind: f'<span class="{kind}">{{}}</span>' for kind in ("k", "hid", "byte", "ctl")}


class Face(NamedTuple):
    """Text and HTML that may be shown. `badges`: those that the bytes alone decide."""

    id: str
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
        id=entry.digest[:16],
        queue=plain(entry.queue, LONGEST_CLASS),
        cls=cls,
        msg=paint(message),
        args=paint(_arguments(entry)),
        badges=badges(entry, dead_letters().refusal(entry)),
    )


def badges(entry: Entry, refused: Refused | None) -> tuple[Badge, ...]:
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
    if entry.kind is Kind.MALFORMED:
        return "Malformed", [("", "Not a JSON object")]
    if entry.kind is Kind.PLACEHOLDER:
        return "Placeholder", [("", "JoobQ could not parse this job")]
    error = entry.error
    if error is None:
        expired = entry.kind is Kind.EXPIRED
        return (
            ("Expired", [("", "Expired before a worker took it")]) if expired else ("No error", [("", "None is told")])
        )
    message = error.message or error.cause
    shown = redaction().redacted_text(message[: 4 * longest]) if message else ""
    return plain(error.cls or error.type or "Error", LONGEST_CLASS), text(shown, longest)


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
        run += [("k", name), ("", " "), *value, ("", " ")]
        length += len(name) + sum(len(word) for _, word in value) + 2
        if length > LONGEST_ARGUMENTS:
            break
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
    return f"differs in {plain(', '.join(names), 120)}{' only' if len(names) == 1 else ''}"


def paint(tokens: Tokens) -> str:
    """Tokens as HTML, for rows: what ui/_tokens.html does at a multiple of the cost. Most kinds are plain here."""
    runs = [(kind if kind in MARKED else "", word) for kind, word in tokens]
    merged = [(kind, "".join(word for _, word in same)) for kind, same in groupby(runs, itemgetter(0))]
    if len(merged) < 2 and not any(kind for kind, _ in merged):
        return "".join(word for _, word in merged)  # the template escapes it
    return format_html("".join(MARKED[kind] for kind, _ in merged), *(word for _, word in merged))
