"""Commands that change nothing: which ledgers there are, one of them, its requests, all of it."""

from argparse import Namespace
from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from rich.console import Console
from rich.table import Table
from rich.text import Text

from joobq_admin import connection
from joobq_admin.joobq import refusals
from joobq_admin.joobq.delivery import CorruptRecord, LedgerStats
from joobq_admin.management import lines
from joobq_admin.management.terminal import Exit, Terminal

COLUMNS = ("ledger", "records", "due", "later", "leased", "expired", "quarantined", "oldest due", "gate")
NUMBERS = COLUMNS[1:7]
WIDEST = 10_000  # characters of a line: a terminal that is narrower wraps it, and nothing is cut


class Page(Protocol):
    @property
    def cursor(self) -> str: ...


P = TypeVar("P", bound=Page)


def pages(step: Callable[[str], P], cursor: str = "0") -> Iterator[P]:
    """Every page of what is read by a cursor."""
    while True:
        page = step(cursor)
        yield page
        if (cursor := page.cursor) == "0":
            return


def list_(terminal: Terminal, asked: Namespace) -> Exit:
    """One line of JSON a ledger; on a terminal a table."""
    found, ended = list[tuple[str, LedgerStats]](), Exit.DONE
    for pair in connection.ledgers():
        name = ":".join(pair)
        try:
            found.append((name, connection.ledger(*pair).stats()))
        except connection.TROUBLE as trouble:
            if not (said := refusals.said(trouble)):
                raise
            terminal.say(f"{name}: Redis said: {said}")  # such as a key of another type: the others can be told
            ended = Exit.LOOK
    if not terminal.stdout.isatty():
        for name, stats in found:
            terminal.line(**lines.of_stats(name, stats))
        return ended
    table = Table(box=None, pad_edge=False)
    for column in COLUMNS:
        table.add_column(column, justify="right" if column in NUMBERS else "left")
    for name, stats in found:
        numbers = (Text(f"{getattr(stats, column):,}") for column in NUMBERS)
        table.add_row(Text(name), *numbers, _oldest(stats), "closed" if stats.gate else "open")
    Console(width=WIDEST).print(table)
    return ended


def show(terminal: Terminal, asked: Namespace) -> Exit:
    """The ledger, then each record in its quarantine, with the digest that a release or a discard asks for."""
    ledger = asked.ledger
    terminal.line(**lines.of_stats(asked.name, ledger.stats()))
    for page in pages(ledger.quarantined):
        for each in page.records:
            now = each.record
            reason = now.reason if isinstance(now, CorruptRecord) else None
            terminal.line(**lines.named("quarantined", each.request_id), digest=each.digest, corrupt=reason)
    return Exit.DONE


def resolve(terminal: Terminal, asked: Namespace) -> Exit:
    """One line a request, in the order of asking; what is not there, or corrupt, has no state."""
    ended = Exit.DONE
    for request_id, found in zip(asked.ids, asked.ledger.resolve_many(asked.ids), strict=True):
        if found is None or isinstance(found, CorruptRecord):
            ended = Exit.LOOK
            terminal.line(**lines.of_no_record(request_id, found))
            what = f"is corrupt: {found.reason}" if found else "was never admitted, or it was pruned"
            terminal.say(f"{request_id} {what}.")
        else:
            terminal.line(**lines.of_record(found))
    return ended


def export(terminal: Terminal, asked: Namespace) -> Exit:
    """Every record, in no order. What changes meanwhile is there as it was or as it is; some may be there twice."""
    ledger, corrupt = asked.ledger, 0
    stats = ledger.stats()
    if not stats.gate:
        terminal.say(f"The gate of {asked.name} is open: what is claimed meanwhile is told as it was or as it is.")
    with terminal.progress("export", stats.records) as advance:
        for page in pages(ledger.records):
            for record in page.records:
                if isinstance(record, CorruptRecord):
                    corrupt += 1
                    terminal.say(f"{record.request_id} is left out, it is corrupt: {record.reason}.")
                else:
                    terminal.line(**lines.of_record(record))
            advance(len(page.records))
    return Exit.LOOK if corrupt else Exit.DONE


def _oldest(stats: LedgerStats) -> str:
    """How long the first request has waited."""
    return _ago(stats.at - stats.oldest_due) if stats.oldest_due is not None else "–"


def _ago(ms: int) -> str:
    seconds = ms // 1000
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
