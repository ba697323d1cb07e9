"""The queues with their counts, and what is said of how sure these are."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from joobq_admin.connection import dead_letters
from joobq_admin.joobq.counting import Counts
from joobq_admin.joobq.entry import to_bytes
from joobq_admin.pages import links, times
from joobq_admin.pages.tokens import plain

MOST_QUEUES, LONGEST_NAME, SHOWN = 60, 1_000, 80  # bytes of a name that fits addresses; characters that are shown
NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class QueueRow:
    """`value`: the name as a form can send it back; '' when it cannot."""

    name: str
    value: str
    n: str
    w: str  # its share of all, %; of the smallest it is still seen
    url: str
    current: bool
    quiet: bool


@dataclass(frozen=True, slots=True)
class Rail:
    queues: list[QueueRow]
    total: str
    binned: str  # entries in the bin; '' = not known
    note: str
    all: bool  # the list of all queues is shown
    all_url: str
    more: str


def queue_name(queue: str | None) -> str:
    return plain(queue or "", SHOWN) or "no queue name"


def in_queue(queue: str | None) -> str:
    """'in invoices', or 'without a queue name'."""
    return f"in {queue_name(queue)}" if queue else "without a queue name"


def letters(n: int) -> str:
    """The noun alone: numbers are told in many ways."""
    return "dead letter" if n == 1 else "dead letters"


def rail_now(shown: str | None = None) -> Rail:
    """As the numbers are now. Raises TROUBLE."""
    return rail(*dead_letters().numbers(), shown)


def rail(
    counts: Counts,
    binned: int | None = None,
    shown: str | None = None,
    all_shown: bool = False,
    kept: Mapping[str, str] = NOTHING,
) -> Rail:
    """`binned`: how many are in the bin; `shown`: the queue whose list this is; '' = entries without a name.

    `kept`: what a list is looked for besides, which stays when another queue is opened.
    """
    told = [(name, n) for name, n in counts.items() if len(to_bytes(name)) <= LONGEST_NAME]
    most = sorted(told, key=lambda item: (item[0] == "", -item[1], item[0]))
    if len(most) > MOST_QUEUES:
        most = [item for at, item in enumerate(most) if at < MOST_QUEUES or item[0] in ("", shown)]
    left = len(counts) - len(most)
    rows = [
        QueueRow(
            name=queue_name(name),
            value=name if name.isprintable() else "",
            n=number(counts, name),
            w=f"{max(0.2, 100 * n / max(counts.total, 1)):.1f}",
            url=links.queue(name, **kept),
            current=name == shown,
            quiet=name == "",
        )
        for name, n in most
    ]
    more = f"and {left:,} other queues with fewer entries" if left else ""
    in_bin = f"{binned:,}" if binned is not None else ""
    return Rail(rows, f"{counts.total:,}", in_bin, _note(counts), all_shown, links.entries(**kept), more)


def number(counts: Counts, queue: str) -> str:
    """How many entries of a queue, as exactly as it is known."""
    n = counts.get(queue, 0)
    open_end = counts.bounded and counts.uncounted
    return f"{n:,}–{n + counts.uncounted:,}" if open_end else f"{n:,}"


def _note(counts: Counts) -> str:
    if counts.exact:
        return ""
    if counts.bounded:
        return f"{counts.uncounted:,} not yet counted"
    return "as read while changing" if counts.complete else _partial(counts)


def _partial(counts: Counts) -> str:
    return f"counted {counts.total - counts.uncounted:,} of {counts.total:,}"


def how_sure(counts: Counts, queue: str | None) -> str:
    """The line below the title: how many there are, when, and how sure that is."""
    at = times.named(counts.as_of)
    if counts.exact:
        of = f"of {counts.total:,} in all" if queue is not None else f"in {_queues(len(counts) - ('' in counts))}"
        return f"{of}, at {at}"
    if counts.bounded:
        n, k = counts.get(queue or "", 0), counts.uncounted
        told = (
            f"{queue_name(queue)} {n:,} to {n + k:,}: {k:,} not yet counted"
            if queue is not None
            else f"{k:,} not yet counted by queue"
        )
        return f"{told}, {at}"
    if counts.complete:
        return f"{counts.total:,} in all; by queue as read while entries were changing, {at}"
    return _partial(counts)


def _queues(n: int) -> str:
    return f"{n:,} queue{'s' * (n != 1)}"
