"""The audit log as its page prints it: what each record says, where it leads, how far the look went."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

from django.conf import settings
from django.urls import reverse

from joobq_admin.joobq import asked
from joobq_admin.joobq.asked import is_operation_id
from joobq_admin.joobq.audit import Record, RecordPage
from joobq_admin.joobq.entry import EntryRef, to_bytes
from joobq_admin.pages import forms, ledger_rows, links, slip, times
from joobq_admin.pages.bar import Bar
from joobq_admin.pages.counts import queue_name
from joobq_admin.pages.forms import Reading, Sought
from joobq_admin.pages.sends import name_of, why
from joobq_admin.pages.sift import TIMES
from joobq_admin.pages.times import When
from joobq_admin.pages.tokens import plain
from joobq_admin.pages.undo import MOST

ACTIONS = {
    "redrive": ("send", "redrive"), "purge": ("bad", "purge"), "restore": ("", "restore"),
    "purge_all": ("bad", "purge all"), "empty": ("bad", "empty the bin"), "unredacted": ("warn", "unredacted bytes"),
    **{name: (tone, name) for name, (tone, _) in ledger_rows.ACTIONS.items()},
}  # fmt: skip
HASHED = "sha256:"  # how the log holds a jid that is too long for it


@dataclass(frozen=True, slots=True)
class Row:
    """One record. `url`: its entry, or what became of it; `did`: how it went; `undo`: a button for its whole purge.

    Of what was done to a ledger `jid` is the ledger, and the request if there is one; `queue` says nothing more.
    """

    when: When | None
    date: str
    clock: str
    who: str
    id: str
    tone: str
    action: str
    did: str
    queue: str
    jid: str
    digest: str
    url: str
    reason: str
    undo: str
    purge: str
    operation: str
    operation_url: str


def context(
    asked: Reading, page: RecordPage, undoable: Mapping[str, int | None], oldest: datetime | None, now: datetime
) -> dict[str, Any]:
    """`undoable`: what can be undone of these records, by their ids, and how many copies (None: very many)."""
    sought, undos = asked.sought, _undos(page.records, undoable)
    options = [(name, words) for name, (_, words) in ACTIONS.items()] + [(forms.OTHER, "any other")]
    return {
        "title": "Audit log",
        "holds": _holds(oldest),
        "sought": {name: plain(value) for name, value in sought.filters.items()},
        "actions": [(value, words, value == sought.action) for value, words in options],
        "times": [(value, words, value == sought.since) for value, words in TIMES.items()],
        "zone": times.zone_name(),
        "rows": [_row(record, undos.get(record.id, ""), now) for record in page.records],
        "undo": str(uuid4()) if undos else "",
        "query": url(asked).partition("?")[2],
        "people": list(dict.fromkeys(name_of(record) for record in page.records if record.by)),
        "bar": _bar(asked, page),
        "exports": [(kind.upper(), _address("audit-export", sought, format=kind)) for kind in forms.FORMATS],
    }


def _undos(records: Sequence[Record], undoable: Mapping[str, int | None]) -> dict[str, str]:
    """What the button says beside a record, by its id: beside the newest one of each purge."""
    purges = (record for record in reversed(records) if record.id in undoable and is_operation_id(record.operation))
    newest = {record.operation: record.id for record in purges}
    return {id_: _undo_words(undoable[id_]) for id_ in newest.values()}


def _undo_words(n: int | None) -> str:
    if n is None:
        return f"Undo {MOST:,} at a time"
    return "Undo" if n == 1 else f"Undo all {n:,}"


def url(asked: Reading) -> str:
    """Where this very page is."""
    limit = str(asked.limit) if asked.limit != forms.ROWS else ""
    return _address("audit", asked.sought, before=asked.before, limit=limit)


def _address(name: str, sought: Sought, **more: str) -> str:
    told = {each: to_bytes(value) for each, value in {**sought.filters, **more}.items() if value}
    return reverse(name) + (f"?{urlencode(told)}" if told else "")


def _holds(oldest: datetime | None) -> str:
    if not oldest:
        return "It is empty: nothing was done yet."
    return f"It holds the newest {settings.AUDIT_ENTRIES:,} records; the oldest is of {_to_the_second(oldest)}."


def _to_the_second(at: datetime) -> str:
    return f"{times.short_date(at)}, {times.named(at)}"


def _bar(asked: Reading, page: RecordPage) -> Bar:
    n, older, sought = len(page.records), page.older, asked.sought
    stopped = older is not None and n < asked.limit
    onward = url(replace(asked, before=older or ""))
    shown = f"{n:,} record{'s' * (n != 1)}" if n else "No records"
    return Bar(
        shown=f"{shown} so far" if stopped else shown,
        tail=", newest first" if n else "",
        back="Newest",
        back_url=url(replace(asked, before="")) if asked.before else "",
        older_url=onward if older and not stopped else "",
        end=_end(sought, n, older if stopped else None, asked.before),
        continue_url=onward if stopped else "",
        clear="All records",
        clear_url=reverse("audit") if sought.filters else "",
    )


def _end(sought: Sought, n: int, stopped_at: str | None, before: str) -> str:
    if stopped_at:
        at = datetime.fromtimestamp(int(stopped_at.partition("-")[0]) / 1000, UTC)
        return f"{f'{n:,}' if n else 'None'} found so far, read back to {_to_the_second(at)}."
    if n:
        return ""
    if before:
        return "Nothing older matches." if sought.filters else "Nothing older is kept."
    return "No record matches." if sought.filters else "No record: nothing was redriven, purged or restored from here."


def _row(record: Record, undo: str, now: datetime) -> Row:
    tone, action = ACTIONS.get(record.action, ("", plain(record.action, 80) or "no action"))
    who, at = name_of(record), record.at
    ref = _ref(record)
    jid = links.job(record.jid) if not ref and links.is_plain(record.jid) else ""
    row = Row(
        when=times.when(at, now) if at else None,
        date=times.short_date(at) if at else "",
        clock=times.time(at) if at else "",
        who=who,
        id=plain(record.by, 80) if record.by != record.name else "",
        tone=tone,
        action=action,
        did=_did(record),
        queue=queue_name(record.queue) if record.queue or record.digest else "",
        jid="its jid is too long" if record.jid.startswith(HASHED) else plain(record.jid, 80),
        digest=slip.short(record.digest) if record.digest else "",
        url=links.entry(ref) if ref else jid,
        reason=why(record.reason),
        undo=undo,
        purge=record.operation if undo else "",
        operation=plain(record.operation, 8),
        operation_url=links.operation(record.operation) if is_operation_id(record.operation) else "",
    )
    if not ledger_rows.of_a_ledger(record):
        return row
    url, did = ledger_rows.url(record), ledger_rows.did(record)
    return replace(row, jid=ledger_rows.name(record), url=url, did=did, queue="")


def _ref(record: Record) -> EntryRef | None:
    """The entry, as far as the record names one that a link can carry."""
    if record.score is None:
        return None
    try:
        return asked.ref(EntryRef(record.score, record.digest, None if record.jid.startswith(HASHED) else record.jid))
    except ValueError:
        return None


def _did(record: Record) -> str:
    queue, flags = plain(record.queue, 80), record.fields
    match record.action:
        case "redrive":
            return f"sent to the front of {queue}" if queue else "sent to its queue"
        case "purge":
            emptied = ", and an older copy out of the bin" if flags.get("emptied") == "1" else ""
            gone = {"1": "moved into the bin", "0": f"gone for good{emptied}"}
            return gone.get(flags.get("bin", ""), "gone")
        case "restore":
            return "it was back already" if flags.get("there") == "1" else "back in dead letters"
        case "purge_all":
            return _purged_all(record, queue)
        case "empty":
            return "out of the bin, gone for good"
        case "unredacted":
            return "its exact bytes were downloaded"
    return "done"


def _purged_all(record: Record, queue: str) -> str:
    """Of one queue the record is written before its first entry goes: how many did is not known."""
    entries = record.entries
    n = "every entry" if entries is None else f"{entries:,} {'entry' if entries == 1 else 'entries'}"
    if record.everything:
        return f"everything, {n}, gone for good"
    return f"{n} of {queue} were to go for good" if queue else f"{n} without a queue name were to go for good"
