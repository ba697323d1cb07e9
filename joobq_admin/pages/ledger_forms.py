"""What the pages of ledgers are asked with, checked. Names may hold anything: they stand in the query of each URL."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.core.exceptions import BadRequest
from django.http import HttpRequest

from joobq_admin import connection
from joobq_admin.joobq.delivery import MENDED, Ledger, Mended, asked
from joobq_admin.pages import forms

LONGEST_AGE = 36_500  # days
MOST = 10**12


def ledger(request: HttpRequest) -> Ledger:
    """By `namespace` and `queue`; whether anything is kept there is another question."""
    given = forms.query(request)
    try:
        return connection.ledger(given.get("namespace", ""), given.get("queue", ""))
    except ValueError as wrong:
        raise BadRequest(f"no ledger: {wrong}") from wrong


def request_id(request: HttpRequest) -> str:
    """By `id`."""
    name = forms.query(request).get("id", "")
    try:
        asked.request_id(name)
    except ValueError as wrong:
        raise BadRequest(f"no request: {wrong}") from wrong
    return name


def cursor(text: str | None) -> str:
    """A place among the records of a ledger, or of its quarantine."""
    try:
        return asked.cursor(text or "0")
    except ValueError as wrong:
        raise BadRequest("no such place") from wrong


def operation(request: HttpRequest) -> str:
    posted: Any = request.POST
    return forms.operation_id(posted.get("operation"))


def digest(request: HttpRequest) -> str:
    """Of the bytes that were reviewed."""
    posted: Any = request.POST
    try:
        return asked.digest(posted.get("digest"))
    except ValueError as wrong:
        raise BadRequest("no digest") from wrong


@dataclass(frozen=True, slots=True)
class Repairing:
    """`begins`: a cycle; `looks`: only, on from `looked`, of about `total`; else what there is goes on."""

    begins: bool
    looks: bool
    looked: Mended
    total: int


def repairing(request: HttpRequest) -> Repairing:
    posted: Any = request.POST
    at = posted.get("cursor") or "records:0"
    try:
        asked.repair_cursor(at)
    except ValueError as wrong:
        raise BadRequest("no such place") from wrong
    numbers = (forms.number(posted.get(name), 0, 0, MOST) for name in MENDED)
    return Repairing(
        begins=forms.flag(posted, "begin"),
        looks=forms.flag(posted, "look"),
        looked=Mended(at, *numbers),
        total=forms.number(posted.get("total"), 0, 0, MOST),
    )


@dataclass(frozen=True, slots=True)
class Pruning:
    """Receipts that have not changed for so many days: `n` were counted, or `pruned` are gone, of `scanned` records,
    `cursor` is where the next step begins. `counts`: nothing goes yet. `least`: the answer of a step was lost, so more
    may be gone.
    """

    days: int
    counts: bool
    cursor: str = "0"
    scanned: int = 0
    pruned: int = 0
    n: int = 0
    least: bool = False

    @property
    def age(self) -> timedelta:
        return timedelta(days=self.days)


def pruning(request: HttpRequest) -> Pruning:
    posted: Any = request.POST
    text = posted.get("days", "").strip()
    if not (text.isascii() and text.isdecimal() and 0 < len(text) <= 5 and int(text) <= LONGEST_AGE):
        raise BadRequest(f"an age is 0 to {LONGEST_AGE} days")
    return Pruning(
        days=int(text),
        counts=forms.flag(posted, "count_first"),
        cursor=cursor(posted.get("cursor")),
        scanned=forms.number(posted.get("scanned"), 0, 0, MOST),
        pruned=forms.number(posted.get("pruned"), 0, 0, MOST),
        n=forms.number(posted.get("n"), 0, 0, MOST),
        least=forms.flag(posted, "least"),
    )
