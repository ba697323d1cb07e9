"""The slips of a purge and of its undo."""

from datetime import datetime
from typing import Any

from joobq_admin.connection import TROUBLE, audit_log, redaction
from joobq_admin.joobq.audit import Record
from joobq_admin.joobq.entry import EntryRef
from joobq_admin.joobq.outcome import Refused
from joobq_admin.pages import links, times, words
from joobq_admin.pages.links import Link
from joobq_admin.pages.sends import name_of, receipt, why
from joobq_admin.pages.slip import JUST_NOW, Slip, apart
from joobq_admin.pages.tokens import plain
from joobq_admin.pages.undo import FOR_GOOD, Kept, Undo, kept
from joobq_admin.sso.roles import User
from joobq_admin.triage import history


def _slip(name: str, status: int, digest: str, at: datetime, **said: Any) -> Slip:
    template = f"dead_letters/actions/_{name}.html"
    return Slip(template=template, status=status, verb="Reviewed", at=times.time(at), digest=digest, **said)


def done(operation: str, ref: EntryRef, user: User, now: datetime, *, older: str = "", checked: bool = False) -> Slip:
    """By the record, which was written in the step that did it; when it cannot be read just now, less is said."""
    record = Record("0-0", "purge", operation, ref.digest, by=user.sub, name=user.name)
    try:
        record = audit_log().recorded(operation, "purge", ref.digest) or record
        left = kept(record, user, now)
    except TROUBLE:
        left = Kept("")
    at = record.at or now
    by = f" by {name_of(record, user)}"
    heading = "Purged. This job will not run" if now - at < JUST_NOW else f"Purged{by}"
    if checked:
        heading = f"Done at {times.time(at)}{by}" if record.at else f"Done{by}"
    did = (links.operation(operation), "What it did", "quiet")
    onward: tuple[Link, ...] = ((older, "Older entry", ""), did) if older else (did,)
    return _slip(
        "purged", 200, ref.digest, at, heading=heading, undo=left.undo, links=onward, receipt=receipt(record),
        text=f"{'Your first press arrived, only its answer was lost. ' if checked else ''}{left.text}",
        operation=operation[:8], foot=f"{by}, in the audit log" if record.at else "", reason=why(record.reason),
        queue=plain(record.queue, 200),
    )  # fmt: skip


def restored(record: Record, purge: Record | None, user: User, now: datetime) -> Slip:
    """`record` of the restore; `purge`: of what it undid."""
    ref = ref_of(record)
    there = record.fields.get("there") == "1"
    heading = "Restored. The entry is back in dead letters"
    text = "Same bytes, same death time."
    if there:
        heading = "It was in dead letters again already"
        text = "The same bytes are there: nothing was added, and it counts once. Its copy left the bin."
    elif record.at and purge and purge.at:
        text += f" It was in the bin for {times.span(max(1, int((record.at - purge.at).total_seconds())))}."
    did = (links.operation(record.operation), "What it did", "quiet")
    return _slip(
        "told", 200, record.digest, record.at or now, tone="done", icon="undo", heading=heading, text=text,
        links=((links.entry(ref), "Review it", "primary"), did), queue=plain(record.queue, 200),
    )  # fmt: skip


def not_restored(purge: Record, user: User, now: datetime) -> Slip:
    """The bin does not have it, or has it from another purge: its newest record says what became of it."""
    since = history.last_move(audit_log().of_digest(purge.digest)) or purge
    if since.operation == purge.operation:
        return _slip("told", 409, purge.digest, now, tone="bad", icon="purge", heading="Not restored", text=FOR_GOOD)
    did, who = history.did(since.action), name_of(since, user)
    text = f"It was {did}"
    if since.at:
        text += f" at {times.clock(since.at, now)}, {apart(now - since.at)} before you"
    onward: tuple[Link, ...] = ((links.operation(since.operation), "What it did", ""),)
    if since.action == "restore":
        onward = ((links.entry(ref_of(since)), "Review it", "primary"), *onward)
    return _slip(
        "told", 409, purge.digest, now, tone="warn", icon="warn", heading=f"Already {did} by {who}",
        text=f"{text}. Your press did nothing.", links=onward,
    )  # fmt: skip


def refused_undo(what: Refused, digest: str, undo: Undo, now: datetime) -> Slip:
    said = words.refusal(Refused(what.what, what.reason, plain(redaction().redacted_text(what.detail), 400)), "")
    return _slip(
        "told", 503 if what.reason.by_server else 422, digest, now, tone="bad", icon="no", undo=undo,
        heading=f"Refused: {said.heading}", text=f"{said.text} {said.next}".strip(),
    )  # fmt: skip


def unknown_undo(digest: str, undo: Undo, now: datetime) -> Slip:
    return _slip(
        "told", 503, digest, now, tone="warn", icon="unknown", heading="Outcome unknown", undo=undo,
        text="The connection to Redis was lost after the operation was sent. The entry may or may not be back. "
        "Pressing again is safe: it cannot come back twice.",
        links=((links.operation(undo.operation), "What it did", "quiet"),),
    )  # fmt: skip


def unsent_undo(digest: str, undo: Undo, now: datetime, said: str = "") -> Slip:
    return _slip(
        "told", 503, digest, now, tone="warn", icon="warn", undo=undo,
        heading="Redis does not let us read" if said else "Redis does not answer",
        text=f"Redis said: {plain(said)}. Nothing was done." if said else "Nothing was sent, so nothing was done.",
    )  # fmt: skip


def nothing_to_undo(now: datetime) -> Slip:
    text = "The audit log has no record of that purge: it did nothing, or its record is no longer kept."
    return _slip("told", 409, "", now, tone="warn", icon="warn", heading="Nothing to undo", text=text)


def ref_of(record: Record) -> EntryRef:
    jid = record.jid if record.jid and not record.jid.startswith("sha256:") else None
    return EntryRef(record.score or 0, record.digest, jid)
