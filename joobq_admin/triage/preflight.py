"""Before a redrive: what would be sent, and what an operator should know before they press."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from joobq_admin.joobq.audit import Record
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.entry import Entry, Kind
from joobq_admin.joobq.outcome import Refused
from joobq_admin.joobq.redriven import CannotRedrive, Redriven
from joobq_admin.triage.history import redriven_before, redriven_since


class Warning(StrEnum):
    DIED_AGAIN = "died again"  # it was redriven before, and died
    SENT_SINCE = "sent since"  # another entry of its job was redriven after this death
    EXPIRED = "expired"  # it never failed: it waited too long
    NO_RETRIES = "no retries"  # max_retries is 0: a failure is a death at once
    NO_JID = "no jid"  # a worker gives it a new one


@dataclass(frozen=True, slots=True)
class Preflight:
    """Either what a redrive would push now, or why it would be refused."""

    push: Redriven | None
    refused: Refused | None
    warnings: tuple[Warning, ...]
    redriven_before: Record | None
    redriven_since: Record | None = None


def preflight(queue: DeadLetterQueue, entry: Entry, records: Iterable[Record]) -> Preflight:
    """`records`: what was done to entries of this job, the newest first."""
    records = list(records)
    before, since = redriven_before(entry, records), redriven_since(entry, records)
    try:
        push = queue.preview(entry)
    except CannotRedrive as no:
        return Preflight(None, Refused(entry.ref, no.reason, no.detail), (), before)
    found = {
        Warning.DIED_AGAIN: before is not None,
        Warning.SENT_SINCE: since is not None,
        Warning.EXPIRED: entry.kind is Kind.EXPIRED,
        Warning.NO_RETRIES: entry.max_retries == 0,
        Warning.NO_JID: entry.jid is None,
    }
    return Preflight(push, None, tuple(warning for warning, holds in found.items() if holds), before, since)
