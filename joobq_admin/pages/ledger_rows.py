"""What was done to ledgers, as the audit log and the page of an operation say it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from joobq_admin.joobq.audit import Record
from joobq_admin.pages import links, times, words
from joobq_admin.pages.sends import name_of, why
from joobq_admin.pages.tokens import plain
from joobq_admin.sso.roles import User

#: tone, and what stands before the ledger's name
ACTIONS = {
    "close gate": ("warn", "Closed the gate of"), "open gate": ("send", "Opened the gate of"),
    "begin repair": ("", "Began a repair of"), "repair": ("", "Repaired"), "expire": ("", "Ended leases of"),
    "release": ("send", "Released a record of"), "discard": ("bad", "Discarded a record of"),
    "begin prune": ("bad", "Began to prune"), "prune": ("bad", "Pruned"), "import": ("", "Imported into"),
}  # fmt: skip
#: Of a record, beside those that every record has.
FIELDS = (
    "namespace", "request", "outcome", "scanned", "expired", "mended", "quarantined", "older_than", "pruned",
    "accepted", "answer",
)  # fmt: skip


def of_a_ledger(record: Record) -> bool:
    return record.action in ACTIONS and bool(record.fields.get("namespace") and record.queue)


def name(record: Record) -> str:
    """'shop / emails', and the request if it is about one."""
    request = record.fields.get("request", "")
    return f"{_ledger(record)}, {plain(request, 80)}" if request else _ledger(record)


def _ledger(record: Record) -> str:
    return f"{plain(record.fields['namespace'], 80)} / {plain(record.queue, 80)}"


def url(record: Record) -> str:
    """Of the request, or of the ledger."""
    namespace, queue, request = record.fields["namespace"], record.queue, record.fields.get("request", "")
    return links.ledger(namespace, queue, "request", id=request) if request else links.ledger(namespace, queue)


def operation(records: Sequence[Record], user: User, now: datetime) -> dict[str, Any]:
    """What one operation did to a ledger, the newest record first."""
    newest = records[0]
    done = f"{ACTIONS[newest.action][1]} {name(newest)}"
    return {
        "title": done,
        "heading": f"{done}, by {name_of(newest, user)}",
        "operation": newest.operation,
        "ledger_url": links.ledger(newest.fields["namespace"], newest.queue),
        "ledger": _ledger(newest),
        "request_url": url(newest) if newest.fields.get("request") else "",
        "reason": why(newest.reason),
        "rows": [(each.at and times.when(each.at, now), plain(each.action, 80), did(each)) for each in records],
    }


def did(record: Record) -> str:
    """How it went."""
    lost = "; an answer was lost" if record.fields.get("answer") == "lost" else ""
    return _did(record) + lost


def _did(record: Record) -> str:
    age = plain(record.fields.get("older_than", ""), 40)
    match record.action:
        case "close gate":
            return "no lease is given or renewed from then on"
        case "open gate":
            return "leases are given again"
        case "begin repair":
            return "a cycle began"
        case "repair":
            ended, mended = _n(record, "expired", "lease"), _n(record, "mended", "index entry", "index entries")
            return f"{ended} ended, {mended} mended, {_n(record, 'quarantined', 'record')} set aside"
        case "expire":
            return f"{_n(record, 'expired', 'lease')} ended"
        case "release":
            return "back under the indexes"
        case "discard":
            return "record and copy deleted"
        case "begin prune":
            return f"receipts older than {age} began to go"
        case "prune":
            return f"{_n(record, 'pruned', 'receipt')} older than {age} deleted"
    return f"{_n(record, 'accepted', 'record')} taken over"


def _n(record: Record, field: str, one: str, many: str = "") -> str:
    text = record.fields.get(field, "")
    if not text:
        return f"an unknown number of {many or f'{one}s'}"
    n = int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else 0
    return words.counted(n, one, many)
