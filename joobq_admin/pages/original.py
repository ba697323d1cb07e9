"""What stands in place of arguments: the original text that a placeholder holds, bytes that are no job; never more."""

from dataclasses import replace
from typing import NamedTuple

from joobq_admin.connection import dead_letters, redaction
from joobq_admin.joobq.entry import Entry, Kind, to_bytes
from joobq_admin.joobq.outcome import Refusal
from joobq_admin.pages import words
from joobq_admin.pages.tokens import Tokens, copyable, plain, text
from joobq_admin.triage.redact import Redacted

LONGEST = 20_000  # characters
MADE_UP = "unparseable_"  # so begins a jid of JoobQ's own making


class Original(NamedTuple):
    """Text that is shown in place of arguments. `copy`: the same to copy; '' = as it is shown; `notes`: about it."""

    title: str
    tokens: Tokens
    copy: str
    notes: list[str]


def original(entry: Entry, shown: Redacted) -> Original | None:
    """None for a job. `shown`: the bytes of the entry without secrets."""
    if entry.kind is Kind.MALFORMED:
        notes = [f"No job can be read from them, nor a jid or a queue: {_wrong(entry)}."]
        return Original("Text of these bytes", text(shown, LONGEST), copyable(shown.raw), notes)
    kept = (entry.job or {}).get("original_job_data")
    if entry.kind is not Kind.PLACEHOLDER or not isinstance(kept, str):
        return None
    told = redaction().redacted_text(kept)
    notes = [_how_much(entry, kept), _of_its_jid(entry.jid or "")]
    return Original("Original text, as far as JoobQ kept it", text(told, LONGEST), copyable(told.raw), notes)


def _how_much(entry: Entry, kept: str) -> str:
    length = entry.error.context.get("original_job_data_length", "") if entry.error else ""
    if length.isascii() and length.isdecimal() and len(length) < 12 and int(length) > len(kept):
        cut = f"The first {len(kept):,} of {int(length):,} characters. What was cut is gone for good"
        return f"{cut}: only where the job came from can it be made whole."
    wrong = _wrong(Entry(to_bytes(kept), 0))
    return f"All of it. What this dashboard finds wrong with it: {wrong}." if wrong else "All of it."


def _wrong(entry: Entry) -> str:
    """What a worker would stumble on, as far as the bytes alone say; '' = nothing that is known of here."""
    refused = dead_letters().refusal(entry)
    if refused is None:
        return ""
    detail = plain(redaction().redacted_text(refused.detail), 200)
    if refused.reason in (Refusal.NOT_AN_OBJECT, Refusal.NOT_STRICT_JSON):
        return f"reading stops with “{detail}”" if detail else "it is JSON, but no object"
    return words.refusal(replace(refused, detail=detail), "").heading


def _of_its_jid(jid: str) -> str:
    if jid.startswith(MADE_UP):
        return "Its jid is one that JoobQ made up: nothing in the text looks like one."
    return "Its jid is the first thing in the text that looks like one: it may be another job's." if jid else ""
