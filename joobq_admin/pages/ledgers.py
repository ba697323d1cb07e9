"""All ledgers, as their page prints them; and where a request is."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from joobq_admin import connection
from joobq_admin.joobq import refusals
from joobq_admin.joobq.delivery import MAX_RECORDS, Ledger, LedgerStats
from joobq_admin.pages import gate_panel, ledger_names, times
from joobq_admin.pages.ledger_names import Head
from joobq_admin.pages.sends import why
from joobq_admin.pages.tokens import plain
from joobq_admin.sso.roles import User

SECONDS = 0.1  # that one request looks for ledgers
SO_FAR = "Found so far: not all keys of this Redis were looked through yet. This page goes on while it is open."
NEARLY_FULL = 0.8 * MAX_RECORDS


@dataclass(frozen=True, slots=True)
class Unread:
    """A ledger that Redis does not let us read; `said`: its words."""

    id: str
    head: Head
    said: str


@dataclass(frozen=True, slots=True)
class Row:
    id: str
    head: Head
    closed: bool
    whose: str
    reason: str
    records: str
    nearly_full: bool
    due: str
    later: str
    leased: str
    over: str  # as quarantined: "" where there is none
    quarantined: str
    oldest: str


def known() -> tuple[list[Ledger], bool]:
    """What is known of them after a short look, and whether that is all. Raises TROUBLE."""
    names, whole = connection.discovery().look(SECONDS)
    return [connection.ledger(*name) for name in names], whole


def read(user: User, every: str) -> dict[str, Any]:
    """All that are known, as they are now, to be read again every so many seconds ('' = not). Raises TROUBLE."""
    ledgers, whole = known()
    pairs = list(zip(ledgers, connection.stats_of(ledgers), strict=True))
    return {
        "title": "Deliveries",
        "every": every,
        "at": times.named(times.now()),
        "rows": [
            _row(ledger, stats, user) for ledger, stats in pairs if isinstance(stats, Exception) or not stats.empty
        ],
        "so_far": "" if whole else SO_FAR,
        "default": f"{MAX_RECORDS:,}",
    }


def _row(ledger: Ledger, stats: LedgerStats | Exception, user: User) -> Row | Unread:
    id_, head = sha256(f"{ledger.namespace}:{ledger.queue}".encode()).hexdigest()[:16], ledger_names.head(ledger)
    if isinstance(stats, Exception):
        return Unread(id_, head, plain(refusals.said(stats)))
    gate = stats.gate
    return Row(
        id=id_,
        head=head,
        closed=gate is not None,
        whose=gate_panel.whose(gate, user).strip() if gate else "",
        reason=why(gate.reason, 200) if gate else "",
        records=f"{stats.records:,}",
        nearly_full=NEARLY_FULL <= stats.records <= MAX_RECORDS,
        due=f"{stats.due:,}",
        later=f"{stats.later:,}",
        leased=f"{stats.leased:,}",
        over=f"{stats.expired:,}" if stats.expired else "",
        quarantined=f"{stats.quarantined:,}" if stats.quarantined else "",
        oldest=times.ago(stats.at - stats.oldest_due) if stats.oldest_due is not None else "nothing due",
    )


def places(found: Sequence[Ledger], request_id: str) -> list[tuple[Head, str]]:
    """Where a request is, or would be, in each of these ledgers."""
    return [(ledger_names.head(each), ledger_names.request_url(each, request_id)) for each in found]
