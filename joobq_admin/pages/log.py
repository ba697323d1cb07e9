"""What became of each press, for the log: one line an entry. Who, which bytes, why; never what an entry holds."""

import logging

from joobq_admin.joobq.delivery import Ledger
from joobq_admin.joobq.entry import EntryRef
from joobq_admin.joobq.outcome import Outcome, What
from joobq_admin.sso.roles import Action, User

lines = logging.getLogger(__name__)


def pressed(action: Action, operation: str, by: User, outcome: Outcome, said: str = "") -> None:
    """`said`: Redis's own words, when it let nothing be sent. What was done is in the audit log: it is no warning."""
    for refusal in outcome.refused:
        _line(action, operation, by, "refused", refusal.what, refusal.reason.value)
    groups = {
        "done": outcome.done,
        "missing": outcome.missing,
        "conflict": outcome.conflicts,
        "unknown": outcome.unknown,
        "unsent": outcome.unsent,
    }
    for word, group in groups.items():
        for what in group:
            _line(action, operation, by, word, what, said if word == "unsent" else "")


def of_a_ledger(action: Action, operation: str, by: User, outcome: str, ledger: Ledger, request_id: str = "") -> None:
    """The same of what is done to a ledger, or to one request of it."""
    of = f"{ledger.namespace}:{ledger.queue}"
    told = {"outcome": outcome, "ledger": of, "delivery": request_id, "operation": operation, "user": by.sub}
    lines.log(logging.INFO if outcome == "done" else logging.WARNING, str(action), extra=told)


def _line(action: Action, operation: str, by: User, outcome: str, what: What, reason: str) -> None:
    told = {
        "outcome": outcome,
        "reason": reason,
        "digest": what.digest if isinstance(what, EntryRef) else "",
        "operation": operation,
        "user": by.sub,
    }
    lines.log(logging.INFO if outcome == "done" else logging.WARNING, str(action), extra=told)
