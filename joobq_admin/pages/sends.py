"""What a redrive sends, as people read it: the replaced values, the same in one line, and a receipt for a ticket."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from joobq_admin.connection import redaction
from joobq_admin.joobq.audit import Record
from joobq_admin.joobq.entry import score_text
from joobq_admin.joobq.redriven import Change
from joobq_admin.pages import times
from joobq_admin.pages.tokens import plain
from joobq_admin.sso.roles import User
from joobq_admin.triage import history

Sent = tuple[str, str, str]  # field, what it was, what it is
ORDER = ("retries", "expires", "error", "status")


def changes(made: Sequence[Change], at: datetime) -> tuple[Sent, ...]:
    """The replaced values as people read them."""
    rows = [(change.field, _value(change, change.was, at), _value(change, change.now, at)) for change in made]
    return tuple(sorted(rows, key=lambda row: ORDER.index(row[0]) if row[0] in ORDER else len(ORDER)))


def _value(change: Change, text: str, at: datetime) -> str:
    if change.field == "expires" and text.lstrip("-").isdigit():
        try:
            moment = datetime.fromtimestamp(int(text) / 1000, at.tzinfo)
        except (ValueError, OverflowError, OSError):
            return "past" if text.startswith("-") else text
        if moment < at:
            return "past"
        return f"{_ahead(moment - at)}, {times.clock(moment, at)}"
    return plain(text[1:-1] if text[:1] == '"' else text)


def _ahead(time: timedelta) -> str:
    minutes = round(time / timedelta(minutes=1))
    if minutes < 24 * 60:
        return f"in {times.span(60 * minutes)}"
    hours = round(minutes / 60)
    return f"in {hours:,} h" if hours % 24 else f"in {hours // 24:,} day{'s' * (hours != 24)}"


def of_any(lifetime: timedelta) -> str:
    """The same before the press of any of many; `lifetime`: of a job that is sent when its time is over."""
    return (
        f"retries to their maximum · past expiry → {_ahead(lifetime)} · error cleared · status enqueued"
        " · every other byte kept"
    )


def in_one_line(sends: Sequence[Sent]) -> str:
    """The same in one line, for a phone."""
    short = {"error": "error cleared", "status": "status enqueued"}
    parts = [short.get(field) or f"{field} {was} → {now.partition(',')[0]}" for field, was, now in sends]
    return " · ".join([*parts, "every other byte kept"])


def receipt(record: Record) -> str:
    """For a ticket: what happened, in text, with everything that identifies it. Times are UTC, to the millisecond."""
    made = ", ".join(f"{change.field} {change.was} -> {change.now}" for change in record.changes)
    lines = {
        "job": record.jid or "(no jid)", "queue": record.queue, "died": _died(record),
        "reviewed": f"sha256 {record.digest}",
        "sent": f"sha256 {record.sent}" if record.sent else "", "changed": made,
        "when": _exact(record.at) if record.at else "",
        "by": f"{record.name} ({record.by})" if record.name and record.name != record.by else record.by,
        "reason": why(record.reason), "operation": record.operation,
    }  # fmt: skip
    return "\n".join(
        [f"Dead letter {history.did(record.action)}", *(f"{k:<9} {plain(v)}" for k, v in lines.items() if v)]
    )


def _died(record: Record) -> str:
    at, score = history.time_of(record), record.score
    return _exact(at) if at else f"(score {score_text(score)} is no time)" if score is not None else ""


def _exact(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"


def why(reason: str, longest: int = 2_000) -> str:
    """The reason that somebody gave, without the secrets in it."""
    return plain(redaction().redacted_text(reason), longest)


def name_of(record: Record, user: User | None = None) -> str:
    """Who did it, as `user` is told."""
    if user and record.by and record.by == user.sub:
        return "you"
    return plain(record.name or record.by, 80) or "nobody that is named"
