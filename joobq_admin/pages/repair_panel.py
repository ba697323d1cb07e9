"""Repair of a ledger, as its page shows it: what it would mend, how far a cycle is, what it has mended."""

from dataclasses import dataclass, replace

from joobq_admin.joobq.delivery import MENDED, Cycle, Ledger, LedgerStats, Mended
from joobq_admin.pages import ledger_names, times, words
from joobq_admin.pages.ledger_answers import Told
from joobq_admin.pages.ledger_panel import Panel
from joobq_admin.pages.purge_forms import Fields
from joobq_admin.sso.roles import Action, User

TEXT = (
    "Reads every record, ends leases that are over, mends the two indexes and quarantines what fails its checksum. "
    "Work goes on meanwhile."
)
LOST = " The answer of a step was lost: more may be mended than is counted."
ON = "Page by page while this page is open. Then the indexes, the other way round."
WOULD = ("Leases over", "Index entries that lie", "Corrupt")
DID = ("Leases ended", "Index entries mended", "Quarantined")

Button = tuple[str, Fields]  # label, hidden fields


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairPanel(Panel):
    """`goes_on`: by itself, with the fields of the first button, after so long."""

    buttons: tuple[Button, ...] = ()
    goes_on: str = ""
    value: int = 0
    total: int = 0
    line: str = ""
    tone: str = ""
    tally: tuple[tuple[str, str], ...] = ()


def panel(ledger: Ledger, stats: LedgerStats, user: User) -> RepairPanel:
    """The cycle that goes on, or the last one, or none. Raises TROUBLE."""
    cycle = ledger.cycle()
    return of_cycle(ledger, cycle, user) if cycle else _idle(ledger, user)


def _idle(ledger: Ledger, user: User) -> RepairPanel:
    return _offered(RepairPanel(heading="Repair", text=TEXT), ledger, user, _look(), _begin("Start a cycle"))


def of_look(ledger: Ledger, user: User, seen: Mended, total: int) -> RepairPanel:
    """A dry run, under way or at its end."""
    if seen.cursor:
        shown = RepairPanel(heading=f"Looking, nothing is changed: {_where(seen)}", text=ON, goes_on="50ms")
        button = ("Next page", _look_on(seen, total))
        return _offered(_with_numbers(shown, seen, total, would=True), ledger, user, button)
    wrong = seen.expired + seen.mended + seen.quarantined
    text = f"Looked at {times.named(times.now())}. Nothing was changed."
    heading = "A repair would mend this" if wrong else "Nothing to mend"
    shown = _with_numbers(RepairPanel(heading=heading, text=text, tone="done"), seen, total, would=True)
    return _offered(shown, ledger, user, *([_begin("Repair now")] if wrong else []), _look("Look again"))


def of_cycle(ledger: Ledger, cycle: Cycle, user: User, goes_on: bool = False) -> RepairPanel:
    """`goes_on`: its reader has just gone on with it, so the page does."""
    who = ledger_names.who(cycle.by.id, cycle.by.name, user) or "nobody that is named"
    by, lost = f"by {who}{_at(cycle.began_at)}.", LOST if cycle.lost else ""
    if cycle.ended_at is not None:
        records = words.counted(cycle.done.records, "record")
        text = f"Finished{_at(cycle.ended_at)}, {records} and both indexes, begun {by}{lost}"
        shown = RepairPanel(heading="Repaired, one whole cycle", text=text, tone="done")
        buttons = (_look(), _begin("Start again"))
    else:
        last = f": its last step was{_at(cycle.stepped_at)}" if _at(cycle.stepped_at) else ""
        text = f"{ON} Begun {by}" if goes_on else f"Begun {by} It goes on while somebody's page does{last}."
        every = "" if not goes_on else "50ms" if cycle.stepped else "1s"
        shown = RepairPanel(heading=f"Repairing: {_where(cycle.done)}", text=text + lost, goes_on=every)
        buttons = (("Next page" if goes_on else "Go on with it", (("operation", cycle.operation),)),)
    return _offered(_with_numbers(shown, cycle.done, cycle.total), ledger, user, *buttons)


def _at(ms: int) -> str:
    """' at 02:21:40', where a calendar knows that time."""
    at = times.at(ms)
    return f" at {times.clock(at, times.now())}" if at else ""


def after(told: Told, shown: RepairPanel) -> RepairPanel:
    """The same with what went wrong; then nothing goes on by itself."""
    return replace(shown.telling(told), goes_on="")


def _offered(shown: RepairPanel, ledger: Ledger, user: User, *buttons: Button) -> RepairPanel:
    if not user.can(Action.REPAIR):
        return replace(shown, needs=words.may_not(user, Action.REPAIR), goes_on="")
    return replace(shown, url=ledger_names.url(ledger, "repair"), buttons=buttons)


def _look(label: str = "See what it would mend") -> Button:
    return label, (("operation", ledger_names.new_operation()), ("look", "1"))


def _look_on(seen: Mended, total: int) -> Fields:
    numbers = tuple((name, str(getattr(seen, name))) for name in ("cursor", *MENDED))
    return (("operation", ledger_names.new_operation()), ("look", "1"), ("total", str(total)), *numbers)


def _begin(label: str) -> Button:
    return label, (("operation", ledger_names.new_operation()), ("begin", "1"))


def _where(done: Mended) -> str:
    return "records" if done.cursor.startswith("records:") else "indexes"


def _with_numbers(shown: RepairPanel, done: Mended, total: int, would: bool = False) -> RepairPanel:
    read, entries = done.records + done.entries, words.counted(done.entries, "id")
    names = WOULD if would else DID
    numbers = (done.expired, done.mended, done.quarantined)
    return replace(
        shown,
        value=min(read, total) if done.cursor else max(total, 1),
        total=max(total, 1),
        line=f"{words.counted(done.records, 'record')} read, {entries} in ready and leases checked",
        tally=tuple((name, f"{n:,}") for name, n in zip(names, numbers, strict=True)),
    )
