"""Old receipts of a ledger, as its page shows them: how many there are, how many are gone."""

from dataclasses import dataclass, replace

from joobq_admin.joobq.delivery import Ledger, LedgerStats
from joobq_admin.pages import ledger_names, times, words
from joobq_admin.pages.ledger_answers import Told
from joobq_admin.pages.ledger_forms import Pruning
from joobq_admin.pages.ledger_panel import Panel
from joobq_admin.pages.purge_forms import Confirmation, Fields
from joobq_admin.sso.roles import Action, User

DAYS = 30
TEXT = (
    "COMPLETED and DEAD records stay as receipts, and count as records, until they are pruned. "
    "What is pruned is forgotten: its id can be admitted again, and is then delivered again."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrunePanel(Panel):
    """`days`: what the form asks for; `fields`: of the button beside it, `goes_on`: which is pressed by itself."""

    days: int = DAYS
    button: str = ""
    danger: bool = False
    fields: Fields = ()
    goes_on: bool = False
    value: int = 0
    total: int = 0
    line: str = ""


def panel(ledger: Ledger, stats: LedgerStats, user: User) -> PrunePanel:
    return PrunePanel(heading="Settled receipts", text=TEXT, **ledger_names.button(ledger, Action.PRUNE, user))


def counting(shown: PrunePanel, asked: Pruning, total: int) -> PrunePanel:
    """On the way through all records."""
    return replace(
        shown, heading="Counting, nothing is changed", text=f"{receipts(asked)} so far. {_age(asked)}",
        days=asked.days, goes_on=True, button="Next page", value=min(asked.scanned, total), total=max(1, total),
        line=_read(asked, total), fields=_fields(asked, ("count_first", "1"), ("operation", shown.operation)),
    )  # fmt: skip


def counted(shown: PrunePanel, asked: Pruning) -> PrunePanel:
    """`asked.pruned` of them."""
    n, at = asked.pruned, f"counted at {times.named(times.now())}"
    if not n:
        return replace(shown, heading="No receipt is that old", text=f"{_age(asked)} It was {at}.", days=asked.days)
    text = f"{_age(asked)} They were {at}; nothing is changed yet."
    return replace(
        shown, heading=f"{receipts(asked)} can be pruned", text=text, days=asked.days, danger=True,
        button=f"Prune {n:,}…", fields=(("operation", shown.operation), ("days", str(asked.days)), ("n", str(n))),
    )  # fmt: skip


def going(shown: PrunePanel, asked: Pruning, given: Confirmation, operation: str, left: int) -> PrunePanel:
    """On the way through all records, `asked.pruned` are gone."""
    total = left + asked.pruned
    answered = (("confirmed", "1"), ("reason", given.reason), ("count", str(asked.n)), ("operation", operation))
    return replace(
        shown, heading=f"Pruning: {receipts(asked)} gone", text=_age(asked), days=asked.days, goes_on=True,
        button="Next page", value=min(asked.scanned, total), total=max(1, total), line=_read(asked, total),
        fields=_fields(asked, *answered),
    )  # fmt: skip


def pruned(shown: PrunePanel, asked: Pruning) -> PrunePanel:
    text = f"They are gone for good, at {times.named(times.now())}. {_age(asked)}"
    if not (asked.pruned or asked.least):
        text = f"Somebody else may have pruned them. {_age(asked)}"
    if asked.pruned != asked.n:
        text += f" Counted before: {asked.n:,}."
    return replace(shown, heading=f"Pruned {receipts(asked)}", text=text, days=asked.days)


def receipts(asked: Pruning) -> str:
    """How many were counted, or are gone."""
    return f"{'at least ' * asked.least}{words.counted(asked.pruned, 'receipt')}"


def after(told: Told, shown: PrunePanel) -> PrunePanel:
    """The same with what went wrong; then nothing goes on by itself."""
    return replace(shown.telling(told), goes_on=False, button="Continue" if shown.button else "")


def _fields(asked: Pruning, *more: tuple[str, str]) -> Fields:
    names = ("days", "cursor", "scanned", "pruned", "n")
    least = (("least", "1"),) if asked.least else ()
    return (*((name, str(getattr(asked, name))) for name in names), *least, *more)


def which(asked: Pruning) -> str:
    return f"that have not changed for {words.counted(asked.days, 'day')}" if asked.days else "of any age"


def _age(asked: Pruning) -> str:
    return f"Receipts {which(asked)}."


def _read(asked: Pruning, total: int) -> str:
    return f"{asked.scanned:,} of about {total:,} records read"
