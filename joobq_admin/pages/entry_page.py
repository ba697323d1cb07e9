"""The page of one entry: by its own address, or as the only one of its job."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any, NamedTuple
from uuid import uuid4

from django.http import HttpRequest, HttpResponse

from joobq_admin.connection import dead_letters, lately, redaction
from joobq_admin.joobq.entry import Entry, Kind
from joobq_admin.joobq.lookup import Cursor, Near
from joobq_admin.pages import answer, links, slip, times
from joobq_admin.pages.backtrace import frames
from joobq_admin.pages.counts import in_queue, queue_name, rail_now
from joobq_admin.pages.deaths import deaths
from joobq_admin.pages.original import Original, original
from joobq_admin.pages.outlook import outlook
from joobq_admin.pages.records import of_entry
from joobq_admin.pages.rows import Badge, badges, error_of, error_tokens
from joobq_admin.pages.summary import summary
from joobq_admin.pages.times import When
from joobq_admin.pages.tokens import Token, Tokens, arguments, copyable, hex_lines, json_pretty, plain, text
from joobq_admin.sso.roles import Action
from joobq_admin.triage import preflight
from joobq_admin.triage.redact import Redacted
from joobq_admin.triage.versions import version

LONGEST_MESSAGE, LONGEST_VALUE, LONGEST_TEXT = 20_000, 4_000, 65_536  # characters that a page prints
MOST_LINES = 4_096  # of 16 bytes
MOST_ARGUMENTS = 200

TITLES = {
    Kind.JOB: "Dead letter",
    Kind.EXPIRED: "Expired job",
    Kind.PLACEHOLDER: "Placeholder",
    Kind.MALFORMED: "Malformed entry",
}
NO_ARGUMENTS = {Kind.PLACEHOLDER: "JoobQ kept no text of this job."}
NO_ERROR = {
    Kind.EXPIRED: "It never failed: it had expired before a worker took it.",
    Kind.MALFORMED: "These bytes are no JSON object, so no error can be read from them.",
}
SHOWN_CONTEXT = {"worker_id": "Worker", "crystal_version": "Crystal"}  # of error.system_context, beside the host


class Expiry(NamedTuple):
    word: str
    clock: str


class ErrorCard(NamedTuple):
    cls: str
    type: str
    message: Tokens
    facts: list[tuple[str, str]]


class Payload(NamedTuple):
    """The whole entry: as text, or as its bytes, which `text` says too where they are text and all of them are shown.

    `form` and its URL: for who may ask for it unredacted; `url` '' = as fields it says no more.
    """

    tokens: Tokens
    bytes: list[Any]
    text: str
    note: str
    size: str
    digest: str
    url: str
    bytes_url: str
    form: slip.Form | None
    unredacted_url: str


@dataclass(frozen=True, slots=True)
class Sheet:
    title: str
    badges: list[Badge]
    died: When | None
    died_from: str
    queue: str
    queue_url: str
    retries: str
    expires: Expiry | None
    status: str
    size: str
    jid: str
    link: str
    newer_url: str
    older_url: str
    arguments: list[tuple[str, Tokens]]
    more_arguments: str
    no_arguments: str
    original: Original | None
    hidden: str
    error: ErrorCard | None
    no_error: str
    backtrace: Any


def opened(request: HttpRequest, entry: Entry, near: Near | None = None, exact: bool = False) -> HttpResponse:
    """Mints the operation that a press on this page will be.

    `near`: what a look for its job has found already; `exact`: its bytes instead of its fields.
    """
    now, queue = times.now(), dead_letters()
    shown = redaction().redacted(entry.raw)
    form = slip.form(entry.ref, str(uuid4()))
    whole = payload(entry, shown, exact, form if request.user.can(Action.UNREDACTED) else None)
    if answer.wants(request, "payload"):
        return answer.fragment(request, "dead_letters/_payload.html", {"payload": whole})
    near = near or (queue.near(entry.jid) if entry.jid else Near([], None))
    here = near.entries
    if all(other.digest != entry.digest for other in here):
        here = [entry, *here]
    records, unread = of_entry(entry)
    newer, older = _neighbours(entry)
    flight = preflight.preflight(queue, entry, records)
    reviewed, next_one = str(version(entry, redaction())), links.tick(older.ref) if older else ""
    form = form._replace(reviewed=reviewed, older=next_one)
    again, waiting = None, None
    if flight.push:
        seen = preflight.outlook(queue, entry, flight, here, records, lately(), redaction(), near.older is None)
        again, waiting = outlook(entry, flight, seen, here, now), seen.workers and seen.workers.waiting
    acts = request.user.can(Action.REDRIVE) and not flight.refused
    marks = badges(entry, flight.refused, len(here), records, now)
    e = sheet(entry, shown, marks, newer, older, now)
    context = {
        "title": f"{error_of(entry)[0]} {in_queue(entry.queue)}",
        "e": e,
        "summary": summary(entry, e.title, e.died, e.jid, e.arguments, e.link),
        "slip": slip.before_the_press(entry, flight, request.user, form, now, again, waiting),
        "lost": slip.unknown(entry.ref, plain(entry.queue, 200), form, now, answered=False) if acts else None,
        "deaths": deaths(here, records, entry, request.user, now, unread),
        "payload": whole,
    }
    return answer.page(request, "dead_letters/entry.html", context, nav="entries", rail=rail_now(entry.queue))


def _neighbours(entry: Entry) -> tuple[Entry | None, Entry | None]:
    """The next newer one of all, and the next older one."""
    newer = dead_letters().walk(Cursor(entry.score, entry.raw + b"\0"), limit=1, newer=True)
    older = dead_letters().walk(Cursor(entry.score, entry.raw), limit=1)
    return next(iter(newer.entries), None), next(iter(older.entries), None)


def sheet(
    entry: Entry, shown: Redacted, badges: Sequence[Badge], newer: Entry | None, older: Entry | None, now: datetime
) -> Sheet:
    """`shown`: its bytes without secrets."""
    given = arguments(entry, redaction(), LONGEST_VALUE) if entry.kind is not Kind.PLACEHOLDER else iter(())
    fields = list(islice(given, MOST_ARGUMENTS))
    left = len(entry.arguments) - MOST_ARGUMENTS if fields else 0
    jid, from_score = entry.jid, entry.died_at_source == "score"
    return Sheet(
        title=f"{TITLES[entry.kind]} {in_queue(entry.queue)}",
        badges=list(badges),
        died=times.when(entry.died_at, now) if entry.died_at else None,
        died_from="" if from_score or not entry.died_at else f"from {entry.died_at_source}",
        queue=queue_name(entry.queue),
        queue_url=links.queue(entry.queue),
        retries=_retries(entry),
        expires=_expires(entry, now),
        status=plain(redaction().redacted_text(entry.status or ""), 40),
        size=f"{len(entry.raw):,} bytes",
        jid=plain(jid or "", 400),
        link=links.absolute(links.job(jid) if jid and links.is_plain(jid) else links.entry(entry.ref)),
        newer_url=links.entry(newer.ref) if newer else "",
        older_url=links.entry(older.ref) if older else "",
        arguments=fields,
        more_arguments=f"{left:,} more stand in the whole entry below." if left > 0 else "",
        no_arguments=NO_ARGUMENTS.get(entry.kind, "This job takes no arguments."),
        original=original(entry, shown),
        hidden=what_is_hidden(shown),
        error=_error(entry),
        no_error=NO_ERROR.get(entry.kind, "No error is told in this entry."),
        backtrace=frames(entry.error.backtrace, redaction()) if entry.error and entry.error.backtrace else None,
    )


def _retries(entry: Entry) -> str:
    left, most = entry.retries, entry.max_retries
    if left is None:
        return ""
    return f"{left:,} of {most:,}" if most is not None else f"{left:,}"


def _expires(entry: Entry, now: datetime) -> Expiry | None:
    if entry.expires is None:
        return None
    try:
        at = datetime.fromtimestamp(entry.expires / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return Expiry(f"{entry.expires}", "no time that a calendar knows")
    return Expiry("past" if at < now else times.distance(at, now), times.clock(at, now))


def what_is_hidden(shown: Redacted, what: str = "job", exact: bool = False) -> str:
    """`what` is shown; `exact`: in all its bytes."""
    names = shown.names
    if not names:
        return ""
    are, how = "is" if len(names) == 1 else "are", "replaced by * here, byte for byte: " if exact else ""
    return f"{listed(names)} {are} {how}hidden by this dashboard. The {what} itself is untouched."


def listed(names: Sequence[str]) -> str:
    """The names of what is hidden, as far as a line goes."""
    return ", ".join(plain(name, 60) for name in names[:8]) + (", …" if len(names) > 8 else "")


def _error(entry: Entry) -> ErrorCard | None:
    error = entry.error
    if error is None:
        return None
    _, message = error_tokens(entry, LONGEST_MESSAGE) if entry.kind is not Kind.PLACEHOLDER else ("", None)
    if message is None:
        message = text(redaction().redacted_text(error.message or ""), LONGEST_MESSAGE)
    context = {name: plain(redaction().redacted_text(value), 200) for name, value in error.context.items()}
    facts = [("Caused by", plain(redaction().redacted_text(error.cause), 400))] if error.cause else []
    if "hostname" in context:
        process = f", process {context['process_id']}" if "process_id" in context else ""
        facts.append(("On", context["hostname"] + process))
    facts += [(label, context[name]) for name, label in SHOWN_CONTEXT.items() if name in context]
    cls, type_ = (redaction().redacted_text(name or "") for name in (error.cls or error.type or "Error", error.type))
    return ErrorCard(plain(cls, 200), plain(type_, 60), message, facts)


def payload(entry: Entry, shown: Redacted, exact: bool, form: slip.Form | None) -> Payload:
    """The whole entry; `shown`: its bytes without secrets. `exact`: byte for byte."""
    as_fields = entry.kind is not Kind.MALFORMED
    if exact := exact or not as_fields:
        tokens, lines = Tokens(), hex_lines(shown, MOST_LINES)
        left = max(0, len(entry.raw) - 16 * len(lines))
    else:
        lines, (tokens, left) = [], json_pretty(shown, LONGEST_TEXT)
        tokens = list(_folded(tokens))
    order = "" if exact else "Key order and numbers are the entry's own."
    cut = f"{left:,} more bytes are not shown." if left else ""
    return Payload(
        tokens=tokens,
        bytes=lines,
        text=copyable(shown.raw) if exact and not left else "",
        note=" ".join(filter(None, (order, cut, what_is_hidden(shown, exact=exact)))),
        size=f"{len(entry.raw):,} bytes",
        digest=entry.digest,
        url=links.entry(entry.ref) if as_fields else "",
        bytes_url=links.exact_bytes(entry.ref),
        form=form,
        unredacted_url=links.press(entry.ref, "unredacted"),
    )


def _folded(tokens: Tokens) -> Iterator[Token]:
    """The backtrace stands above in full: here it takes one line."""
    inside = False
    for kind, word in tokens:
        if kind in ("k", "p"):
            inside = (kind == "k" and word == '"backtrace"') or (inside and word == ": ")
        yield ("fold", word) if inside and kind == "s" else (kind, word)
