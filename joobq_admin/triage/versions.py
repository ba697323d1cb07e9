"""Two versions of one job: what differs. A job that dies again leaves an entry with the same job and another error.

The version that an operator reviewed may be gone when their press arrives. So a page carries, beside the button, a
digest of the job's part and the error's fields as they were shown; the answer compares them with what is there now.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from joobq_admin.joobq import cjson
from joobq_admin.joobq.entry import Entry, to_text
from joobq_admin.triage.redact import Redaction

BY_THE_FAILURE = frozenset((b"error", b"status"))  # what a death writes into a job
MOST_FIELDS, LONGEST_TEXT, LONGEST_REVIEW = 40, 160, 16_000
_surrogate = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the error: the start of its text, and a digest of all of it."""

    text: str
    digest: str


@dataclass(frozen=True, slots=True)
class Version:
    """What is compared. `job`: a digest of all but the error and the status; '' when the bytes are no object.

    `whole`: the error has no other fields than these.
    """

    job: str
    error: Mapping[str, Field] = field(default_factory=dict)
    queue: str = ""
    whole: bool = True

    def __str__(self) -> str:
        """As a form carries it."""
        error = {name: (one.text, one.digest) for name, one in self.error.items()}
        return _json({"job": self.job, "queue": self.queue, "whole": self.whole, "error": error})

    @classmethod
    def parse(cls, text: str) -> "Version | None":
        """None for what `str` never wrote."""
        if len(text) > LONGEST_REVIEW:
            return None
        try:
            told = json.loads(text)
            error = {str(name): Field(str(shown), str(digest)) for name, (shown, digest) in told["error"].items()}
            return cls(str(told["job"]), error, str(told["queue"]), told["whole"] is True)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None


@dataclass(frozen=True, slots=True)
class Difference:
    """A field of the error: the start of what it was and of what it is; '' = it is not there."""

    field: str
    was: str
    now: str


def version(entry: Entry, redaction: Redaction) -> Version:
    """`redaction`: what must not be shown is not carried either, nor any digest of it."""
    queue = to_text(redaction.redacted_text(entry.queue).raw)[:LONGEST_TEXT]
    carried = Version(_job_digest(entry.raw), queue=queue, whole=False)
    room, error = LONGEST_REVIEW - len(str(carried)), dict[str, Field]()
    for name, one in _fields(entry, redaction):
        room -= len(_json({name: (one.text, one.digest)}))
        if room < 0 or len(error) == MOST_FIELDS:
            return replace(carried, error=error)
        error[name] = one
    return replace(carried, error=error, whole=True)


def differences(was: Version, now: Version) -> list[Difference]:
    """Fields of the error that differ, in their order. Of one that is not whole nothing is said to be missing."""
    nothing = Field("", "")
    names = dict.fromkeys([*(name for name in now.error if was.whole or name in was.error),
                           *(name for name in was.error if now.whole or name in now.error)])  # fmt: skip
    pairs = ((name, was.error.get(name, nothing), now.error.get(name, nothing)) for name in names)
    return [Difference(name, before.text, after.text) for name, before, after in pairs if before != after]


def same_job(was: Version, now: Version) -> bool:
    """Are arguments, retries, expiry and every other part but error and status the same bytes in both?"""
    return was.job != "" and was.job == now.job


def one_job(entries: Iterable[Entry]) -> bool:
    """Are they all the same job in this sense?"""
    jobs = {_job_digest(entry.raw) for entry in entries}
    return len(jobs) == 1 and "" not in jobs


def _job_digest(raw: bytes) -> str:
    """Of every byte but the values of the error and the status."""
    try:
        members = cjson.scan(raw)
    except cjson.NotJSON:
        members = []
    kept, at = hashlib.sha256(), 0
    for member in members:
        if member.key in BY_THE_FAILURE:
            kept.update(raw[at : member.start])
            at = member.end
    kept.update(raw[at:])
    return kept.hexdigest()[:16] if members else ""


def _fields(entry: Entry, redaction: Redaction) -> Iterator[tuple[str, Field]]:
    error = (entry.job or {}).get("error")
    for field_name, text in _flat(error, redaction) if isinstance(error, dict) else ():
        name = to_text(redaction.redacted_text(field_name).raw)
        if text is None:
            yield name, Field("hidden", "")
            continue
        shown = redaction.redacted_text(text).raw
        start = to_text(shown)[:LONGEST_TEXT]
        digest = hashlib.sha256(shown).hexdigest()[:16]
        yield name, Field(start if len(text) <= LONGEST_TEXT else f"{start}…", digest)


def _flat(
    value: Mapping[str, Any], redaction: Redaction, prefix: str = "", deeper: bool = True
) -> Iterator[tuple[str, str | None]]:
    """Names and texts of the fields, and of those one level below. None: it must not be shown, nor what is in it."""
    for name, inner in value.items():
        if redaction.hides(name):
            yield f"{prefix}{name}", None
        elif isinstance(inner, dict) and deeper:
            yield from _flat(inner, redaction, f"{name}.", deeper=False)
        else:
            yield f"{prefix}{name}", inner if isinstance(inner, str) else _written(inner)


def _written(value: object) -> str:
    try:
        return json.dumps(value, default=str)
    except RecursionError:
        return "nested too deep to be compared"


def _json(value: object) -> str:
    """Short, and such that it can be sent as UTF-8."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _surrogate.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
