"""A dead letter: the exact bytes of a member of the dead set and its score. Building and reading one never raises."""

import hashlib
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cached_property
from typing import Any

import orjson

from joobq_admin.joobq import cjson

Score = int | float

#: Scores from here to below the other are unix ms (2001 to 5138). JoobQ also writes 604800, a lifetime in seconds.
TIMES_FROM, TIMES_TO = 10**12, 10**14

#: The fields that JoobQ itself writes; whatever else an entry holds are its job's arguments.
OWN_FIELDS = frozenset(("jid", "queue", "retries", "max_retries", "expires", "status", "error"))

_HYPHENED = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
_DIGEST = re.compile(r"[0-9a-f]{64}")
_EPOCH = datetime.fromtimestamp(0, UTC)
_UUID = re.compile(rf"(?:urn:uuid:)?{_HYPHENED}|[0-9a-fA-F]{{32}}")


class Kind(StrEnum):
    """What an entry is; JoobQ writes no such field, it is told from those that are there."""

    JOB = "job"
    EXPIRED = "expired"
    PLACEHOLDER = "placeholder"  # stands for a job that JoobQ could not parse
    MALFORMED = "malformed"  # no JSON object


@dataclass(frozen=True, slots=True)
class EntryRef:
    """What identifies an entry. `digest`: SHA-256 of its bytes, hex; `jid` only shortens the look-up."""

    score: Score
    digest: str
    jid: str | None = None


@dataclass(frozen=True, slots=True)
class JobError:
    """The `error` object of an entry; what is missing or of another type there is None or empty here."""

    failed_at: datetime | None
    message: str | None
    backtrace: tuple[str, ...]
    cause: str
    type: str | None
    cls: str | None
    retry_count: int | None
    context: dict[str, str]


@dataclass(frozen=True)
class Entry:
    """A member of the dead set: `raw`, its bytes, and `score`, an int when integral."""

    raw: bytes
    score: Score

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.raw).hexdigest()

    @cached_property
    def ref(self) -> EntryRef:
        return EntryRef(self.score, self.digest, self.jid)

    @cached_property
    def job(self) -> dict[str, Any] | None:
        """The JSON object, read leniently; None when the bytes are none, or nested deeper than Redis reads."""
        return read_object(self.raw)

    @cached_property
    def queue(self) -> str:
        """The queue as Redis reads it; '' = unknown. What is no UTF-8 are surrogates (`to_bytes` restores them)."""
        return to_text(cjson.queue_of(self.raw))

    @property
    def jid(self) -> str | None:
        return self._text("jid")

    @cached_property
    def job_key(self) -> str | None:
        """The same for all entries of one job, however its UUID is spelled; None without a jid."""
        jid = self.jid
        return job_key(jid) if jid is not None else None

    @property
    def status(self) -> str | None:
        return self._text("status")

    @property
    def retries(self) -> int | None:
        return self._integer("retries")

    @property
    def max_retries(self) -> int | None:
        return self._integer("max_retries")

    @property
    def expires(self) -> int | None:
        """Unix ms; None when there is none or it is no integer."""
        return self._integer("expires")

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """The job's own fields, in their order."""
        return {name: value for name, value in (self.job or {}).items() if name not in OWN_FIELDS}

    @cached_property
    def error(self) -> JobError | None:
        error = (self.job or {}).get("error")
        if not isinstance(error, dict):
            return None

        def text(name: str) -> str | None:
            value = error.get(name)
            return value if isinstance(value, str) else None

        count, context = error.get("retry_count"), error.get("system_context")
        return JobError(
            failed_at=_moment(error.get("failed_at")),
            message=text("message"),
            backtrace=tuple((text("backtrace") or "").rstrip("\n").split("\n")) if text("backtrace") else (),
            cause=text("cause") or "",
            type=text("error_type"),
            cls=text("error_class"),
            retry_count=count if type(count) is int else None,
            context={name: value for name, value in context.items() if isinstance(value, str)}
            if isinstance(context, dict)
            else {},
        )

    @cached_property
    def died_at(self) -> datetime | None:
        """When it died, UTC: the score where that is a time, else `error.failed_at`, else None."""
        if self.died_at_source == "score":
            return datetime.fromtimestamp(self.score / 1000, UTC)
        return self.error.failed_at if self.error else None

    @cached_property
    def died_at_source(self) -> str | None:
        if TIMES_FROM <= self.score < TIMES_TO:
            return "score"
        return "error.failed_at" if self.error and self.error.failed_at else None

    @cached_property
    def kind(self) -> Kind:
        if self.job is None:
            return Kind.MALFORMED
        if "original_job_data" in self.job and "retries" not in self.job:
            return Kind.PLACEHOLDER
        expires, died_at = self.expires, self.died_at
        had_expired = expires is not None and died_at is not None and expires < unix_ms(died_at)
        return Kind.EXPIRED if had_expired and (self.status or "").lower() != "dead" else Kind.JOB

    def _text(self, name: str) -> str | None:
        value = (self.job or {}).get(name)
        return value if isinstance(value, str) else None

    def _integer(self, name: str) -> int | None:
        value = (self.job or {}).get(name)
        return value if type(value) is int else None


def unix_ms(at: datetime) -> float:
    """As a score has it. By way of seconds a few would not be whole."""
    return (at - _EPOCH) / timedelta(milliseconds=1)


def job_key(jid: str) -> str:
    """One name for all spellings of a UUID that a worker takes as the same job; any other jid is its own name."""
    return jid.removeprefix("urn:uuid:").replace("-", "").lower() if _UUID.fullmatch(jid) else jid


def is_uuid(jid: str) -> bool:
    """Would a worker take it? By the forms that JoobQ's workers were seen to take, which are fewer than Python's."""
    return _UUID.fullmatch(jid) is not None


def is_digest(text: object) -> bool:
    """Is it a SHA-256 as `Entry.digest` gives it?"""
    return isinstance(text, str) and _DIGEST.fullmatch(text) is not None


def to_text(raw: bytes) -> str:
    """Any bytes as text; those that are no UTF-8 become lone surrogates."""
    return raw.decode("utf-8", "surrogateescape")


def to_bytes(text: str) -> bytes:
    """The bytes of such a text. Surrogates that never were bytes (JSON's `\\ud800`) are written out as they are."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def score_text(score: Score) -> str:
    """A score as Redis takes it back, exactly."""
    return f"{float(score):.17g}"


def read_score(text: bytes | str) -> Score:
    """A score from Redis, or from a URL. Raises ValueError when it is none."""
    score = float(text)
    if score != score:
        raise ValueError("a score is a number")
    return int(score) if score.is_integer() else score


def read_object(raw: bytes) -> dict[str, Any] | None:
    """What any reader makes of it, the strictest first, only to be shown; None when none reads an object."""
    for loads in (orjson.loads, _loads):
        try:
            job = loads(raw)
        except (ValueError, RecursionError):
            continue
        return job if isinstance(job, dict) and not cjson.deeper_than(cjson.MAX_DEPTH, raw) else None
    if not cjson.is_object(raw):
        return None
    return {to_text(key): _value(raw[start:end]) for key, start, end in cjson.scan(raw)}


def _loads(raw: bytes) -> Any:
    return json.loads(to_text(raw), strict=False, parse_int=_int)


def _value(raw: bytes) -> Any:
    try:
        return _loads(raw)
    except (ValueError, RecursionError):
        return to_text(raw)


def _int(digits: str) -> int | float:
    return int(digits) if len(digits) < 400 else float(digits)  # Python refuses very long ones


def _moment(value: object) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
