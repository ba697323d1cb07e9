"""The page of one ledger: its numbers, its gate, what is in quarantine, in flight and next, what keeps it in order."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse

from joobq_admin import connection
from joobq_admin.joobq.delivery import CorruptRecord, Header, Ledger, LedgerStats, State
from joobq_admin.pages import (
    answer,
    expire_panel,
    gate_panel,
    ledger_names,
    prune_panel,
    quarantine,
    reader,
    repair_panel,
    times,
    words,
)
from joobq_admin.pages.answer import Problem
from joobq_admin.pages.ledger_answers import Told
from joobq_admin.pages.tokens import plain

ROWS = 10  # requests that are shown of each index
NOTHING = "Nothing is kept under this name: it was never used, or all of it was pruned"
TONES = {State.READY: "", State.LEASED: "send", State.COMPLETED: "done", State.DEAD: "bad"}


class Number(NamedTuple):
    label: str
    n: str
    small: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Numbers:
    """Read again and again while somebody looks."""

    url: str
    sub: str
    tally: list[Number]


@dataclass(frozen=True, slots=True)
class Request:
    id: str
    url: str
    state: str
    tone: str
    attempt: str
    owner: str
    when: str


@dataclass(frozen=True, slots=True)
class Requests:
    url: str
    at: str
    rows: list[Request]


First = Sequence[Header | CorruptRecord]  # of an index
Panel = Callable[[LedgerStats], Any]


def whole(
    request: HttpRequest,
    ledger: Ledger,
    cursor: str = "0",
    stats: LedgerStats | None = None,
    status: int = 200,
    **given: Any,
) -> HttpResponse:
    """The whole page; `cursor`: of the quarantine. `given`: panels that a press has changed. Raises TROUBLE."""
    stats, head = stats or ledger.stats(), ledger_names.head(ledger)
    leased, due = ledger.leased(ROWS), ledger.next_due(ROWS)
    context = {
        "title": str(head),
        "l": head,
        "every": reader.of(request).every,
        "numbers": numbers(ledger, stats, leased, due),
        "requests": requests(ledger, stats, leased, due),
        "quarantine": quarantine.table(ledger, cursor),
        **{name: given.get(name) or make(ledger, stats, request.user) for name, make in PANELS.items()},
    }
    return answer.page(request, "deliveries/ledger.html", context, status=status, nav="deliveries")


def pressed(request: HttpRequest, ledger: Ledger, name: str, told: Told, panel: Panel) -> HttpResponse:
    """What a press did, in the panel of this name: alone for htmx, else in the whole page. What was done stands in
    `told`: it is said also when the ledger cannot be read any more.
    """
    try:
        stats = ledger.stats()
        shown = panel(stats)
        if answer.wants(request, name):
            context = {name: shown, "l": ledger_names.head(ledger)}
            return answer.fragment(request, f"deliveries/_{name}.html", context, status=told.status)
        return whole(request, ledger, status=told.status, stats=stats, **{name: shown})
    except connection.TROUBLE:
        return _told_alone(request, ledger, name, told)


def _told_alone(request: HttpRequest, ledger: Ledger, name: str, told: Told) -> HttpResponse:
    status = told.status if told.status != 200 else 503
    text = f"{told.text} {told.unrecorded} The ledger cannot be read just now."
    links = ((ledger_names.url(ledger), "Look again", "primary"),)
    what = Problem(status, told.heading or "Done", told.heading or "Done", text, links=links)
    if answer.wants(request, name):
        return answer.fragment(request, "deliveries/_told.html", {"x": what, "name": name}, status=status)
    return answer.problem(request, what, nav="deliveries")


def numbers(ledger: Ledger, stats: LedgerStats, leased: First, due: First) -> Numbers:
    """What `stats` counts: records by their hash, all else by the indexes. What is next is by the first headers."""
    now, at = stats.at, times.at(stats.at)
    oldest = f"oldest due {times.ago(now - stats.oldest_due)}" if stats.oldest_due is not None else "nothing due"
    read = f"read {times.named(at)}" if at else ""
    held = NOTHING if stats.empty else words.counted(stats.records, "record")
    ends = next((ms for each in leased if isinstance(each, Header) and (ms := each.lease_until or 0) > now), None)
    later = next((each.due_at for each in due if isinstance(each, Header) and each.due_at > now), None)
    flight = f"ends first in {times.ahead(ends - now)}" if stats.leased and ends else ""
    if not (stats.leased or stats.expired):
        flight = "nothing in flight"
    return Numbers(
        url=ledger_names.url(ledger),
        sub=" · ".join(filter(None, (held, oldest, read))),
        tally=[
            Number("Due now", f"{stats.due:,}", "waiting for the gate" if stats.gate and stats.due else ""),
            Number("Due later", f"{stats.later:,}", f"next in {times.ahead(later - now)}" if later else ""),
            Number("Leased", f"{stats.leased:,}", flight),
            Number("Lease over", f"{stats.expired:,}", "", "warn" if stats.expired else ""),
            Number("Quarantined", f"{stats.quarantined:,}", "", "bad" if stats.quarantined else ""),
        ],
    )


def requests(ledger: Ledger, stats: LedgerStats, leased: First, due: First) -> Requests:
    """In flight and next, by the headers; one that cannot be read is shown as such."""
    at = times.at(stats.at)
    return Requests(
        url=ledger_names.url(ledger),
        at=times.time(at) if at else "",
        rows=[_request(ledger, each, stats.at) for each in (*leased, *due)],
    )


def _request(ledger: Ledger, each: Header | CorruptRecord, now: int) -> Request:
    shown = {"id": plain(each.request_id, 80), "url": ledger_names.request_url(ledger, each.request_id)}
    if isinstance(each, CorruptRecord):
        return Request(**shown, state="CORRUPT", tone="bad", attempt="", owner="", when=each.reason)
    return Request(
        **shown,
        state=each.state.value,
        tone=TONES[each.state],
        attempt=f"{each.attempt:,}",
        owner=ledger_names.owner(each.owner, 80),
        when=when(each.state, each.due_at, each.lease_until, now),
    )


def when(state: State, due_at: int, lease_until: int | None, now: int) -> str:
    """What its state waits for."""
    if state is State.LEASED and lease_until:
        left = lease_until - now
        return f"lease ends in {times.ahead(left)}" if left > 0 else f"lease over since {times.ago(-left)}"
    if state is State.READY:
        return f"due in {times.ahead(due_at - now)}" if due_at > now else f"due since {times.ago(now - due_at)}"
    return "settled since this was read"


PANELS = {
    "gate": gate_panel.panel,
    "repair": repair_panel.panel,
    "expire": expire_panel.panel,
    "prune": prune_panel.panel,
}
