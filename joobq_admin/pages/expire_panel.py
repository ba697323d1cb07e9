"""Leases of a ledger that are over, as its page shows them: what ends them, how many a press has ended."""

from dataclasses import dataclass, replace

from joobq_admin.joobq.delivery import Ledger, LedgerStats
from joobq_admin.pages import ledger_names
from joobq_admin.pages.ledger_answers import Told
from joobq_admin.pages.ledger_panel import Panel
from joobq_admin.sso.roles import Action, User

TEXT = "They end as workers claim, or here and now: each request is due again, its attempts are kept."


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpirePanel(Panel):
    """`more`: are over, after a press."""

    more: bool = False


def panel(ledger: Ledger, stats: LedgerStats, user: User) -> ExpirePanel:
    return ExpirePanel(heading="Leases that are over", text=TEXT, **ledger_names.button(ledger, Action.EXPIRE, user))


def after(told: Told, shown: ExpirePanel, more: bool) -> ExpirePanel:
    shown = shown.telling(told)
    return replace(shown, more=True, text=f"{shown.text} More of them are over.") if more else shown
