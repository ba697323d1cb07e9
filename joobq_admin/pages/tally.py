"""What became of many entries at once: one line that adds up, and a row for each that was not done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from joobq_admin.connection import TROUBLE, audit_log, redaction
from joobq_admin.joobq.entry import EntryRef
from joobq_admin.joobq.outcome import Outcome, Refused, What
from joobq_admin.pages import links, times, words
from joobq_admin.pages.sends import name_of
from joobq_admin.pages.slip import short
from joobq_admin.pages.tokens import plain
from joobq_admin.pages.undo import Undo
from joobq_admin.sso.roles import User
from joobq_admin.triage import history

DID = {"redrive": "Redrove", "purge": "Purged", "restore": "Restored", "empty": "Purged"}
OF_THE_BIN = ("restore", "empty")


@dataclass(frozen=True, slots=True)
class Row:
    tone: str
    word: str
    what: str
    url: str
    why: str


@dataclass(frozen=True, slots=True)
class Tally:
    """`again`: hidden fields of the same press, where some of it is not known or was not sent, or (`left` says so) of
    the next one. `toast`: with Undo.

    `next`: what can be done about what was refused; `bin_url`: where, for who may.
    """

    action: str
    heading: str
    sum: str
    tone: str
    operation: str
    at: str
    rows: list[Row] = field(default_factory=list)
    again: tuple[tuple[str, str], ...] = ()
    again_url: str = ""
    left: str = ""
    next: str = ""
    bin_url: str = ""
    toast: str = ""
    undo: Undo | None = None


def tally(
    action: str, asked: Mapping[What, EntryRef], outcome: Outcome, operation: str, user: User, now: datetime
) -> Tally:
    """`asked`: each thing that was asked for, and the entry that it is."""
    n, done = len(asked), len(outcome.done)
    parts = {
        "done": outcome.done,
        "changed": outcome.conflicts,
        "already gone": outcome.missing,
        "refused": outcome.refused,
        "unknown": outcome.unknown,
        "not sent": outcome.unsent,
    }
    told = [f"{len(group):,} {word}" for word, group in parts.items() if group]
    heading = f"{DID[action]} {n:,}" if done == n else f"{DID[action]} {done:,} of {n:,}"
    nothing = f"nothing was {history.did(action)}"
    fates = _fates([asked[what] for what in outcome.missing], user)
    rows = [
        *(_row("warn", "changed", asked[what], _job(asked[what]), f"Another version of it is here: {nothing}.")
          for what in outcome.conflicts),
        *(_row("warn", "already gone", asked[what], links.entry(asked[what]),
               fates.get(asked[what].digest, _gone(action)))
          for what in outcome.missing),
        *(_row("bad", "refused", asked[no.what], links.entry(asked[no.what]), _why(no)) for no in outcome.refused),
        *(_row("warn", "unknown", asked[what], _check(operation, action, asked[what]), "The answer of Redis was lost.")
          for what in outcome.unknown),
        *(_row("warn", "not sent", asked[what], _check(operation, action, asked[what]), "An answer before it was lost.")
          for what in outcome.unsent),
    ]  # fmt: skip
    return Tally(
        action=action, heading=heading, sum=f"{' + '.join(told)} = {n:,}" if len(told) > 1 else "".join(told),
        tone="done" if done == n else "warn", operation=operation, at=times.time(now), rows=rows,
    )  # fmt: skip


def _row(tone: str, word: str, ref: EntryRef, url: str, why: str) -> Row:
    name = f"{plain(ref.jid, 80)}, " if ref.jid else ""
    return Row(tone, word, f"{name}version {short(ref.digest)}", url, why)


def _job(ref: EntryRef) -> str:
    return links.job(ref.jid) if ref.jid and links.is_plain(ref.jid) else links.entry(ref)


def _check(operation: str, action: str, ref: EntryRef) -> str:
    return links.operation(operation, action, ref) if action not in OF_THE_BIN else links.operation(operation)


def _gone(action: str) -> str:
    return "It is not in the bin any more." if action in OF_THE_BIN else "No record says by whom."


def _why(no: Refused) -> str:
    detail = plain(redaction().redacted_text(no.detail), 200)
    said = words.refusal(Refused(no.what, no.reason, detail), "of this job")
    return f"{said.heading[:1].upper()}{said.heading[1:]}. {said.text}"


def _fates(refs: Sequence[EntryRef], user: User) -> dict[str, str]:
    """By whom those left that are not here, by digest, as far as a record says."""
    try:
        records = audit_log().of_jids([ref.jid for ref in refs if ref.jid]) if refs else {}
    except TROUBLE:
        return {}
    found = dict[str, str]()
    for ref in refs:
        newest = next((record for record in records.get(ref.jid or "", ()) if record.digest == ref.digest), None)
        if newest:
            found[ref.digest] = f"{history.did(newest.action).capitalize()} by {name_of(newest, user)}."
    return found
