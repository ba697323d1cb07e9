"""Which dead letters a list is asked for, and from where on. What is no filter is told (BadRequest), never dropped."""

from dataclasses import dataclass
from datetime import datetime

from django.core.exceptions import BadRequest
from django.http import HttpRequest

from joobq_admin.joobq.entry import Kind
from joobq_admin.joobq.lookup import Cursor
from joobq_admin.pages import forms, times
from joobq_admin.pages.forms import LONGEST_FILTER, MOST_ROWS, ROWS
from joobq_admin.triage.news import Seen
from joobq_admin.triage.search import Search, moment

FLAGS = ("unknown", "undated")
FILTERS = ("queue", *FLAGS, "error", "group", "kind", "q", "since", "until")
PLACES = ("before", "after", "limit")
MOST = 10**18  # entries


@dataclass(frozen=True, slots=True)
class Listing:
    """`wanted`: which entries; `filters`: the same as the address says it, by parameter, without what is empty."""

    wanted: Search
    filters: dict[str, str]
    cursor: Cursor | None = None
    newer: bool = False  # from the cursor towards newer entries
    limit: int = ROWS

    @property
    def queue(self) -> str | None:
        """None = all; '' = entries without a queue name."""
        return self.wanted.queue

    @property
    def undated(self) -> bool:
        return self.wanted.undated

    def only(self, *names: str) -> bool:
        """Is nothing looked for but these, or not even they?"""
        return self.filters.keys() <= {*names}

    @property
    def sifted(self) -> bool:
        """Is more looked for than a queue?"""
        return not self.only("queue", "unknown")

    @property
    def of_one_error(self) -> bool:
        """Is one error looked for, by its fingerprint, and nothing else?"""
        return self.sifted and self.only("group")

    @property
    def reads_on(self) -> bool:
        """Is each entry looked at, to see whether it is one?"""
        return not self.only("since", "until") and not self.only("undated")

    @property
    def place(self) -> dict[str, str]:
        """Where on the list, as the address says it."""
        cursor = {"before" if self.newer else "after": str(self.cursor)} if self.cursor else {}
        return cursor | ({"limit": str(self.limit)} if self.limit != ROWS else {})


def listing(request: HttpRequest, text: str | None = None) -> Listing:
    """By the query of the URL, or by `text`, which is another."""
    given = _given(request, text, PLACES)
    before, after = given.pop("before", ""), given.pop("after", "")
    if before and after:
        raise BadRequest("A list goes on before a place or after one.")
    limit = forms.number(given.pop("limit", ""), ROWS, 1, MOST_ROWS)
    return Listing(_wanted(given), given, forms.cursor(before or after), bool(before), limit)


@dataclass(frozen=True, slots=True)
class Watching:
    """`seen`: what the list has shown that asks; `told`: how many new ones it was told of, and how many in all.

    `stale`: it had no answer the last time, and says so.
    """

    asked: Listing
    seen: Seen
    told: tuple[int, int]
    stale: bool


def watching(request: HttpRequest) -> Watching:
    given = _given(request, None, ("seen", "told", "stale"))
    try:
        seen = Seen.parse(given.pop("seen", ""))
    except ValueError as error:
        raise BadRequest(str(error)) from error
    new, _, total = given.pop("told", "").partition(".")
    told = forms.number(new, 0, 0, MOST), forms.number(total, seen.total, 0, MOST)
    stale = forms.flag(given, "stale")
    filters = {name: value for name, value in given.items() if name in FILTERS}
    return Watching(Listing(_wanted(filters), filters), seen, told, stale)


def _given(request: HttpRequest, text: str | None, places: tuple[str, ...]) -> dict[str, str]:
    """What is not empty, each parameter once."""
    given = forms.each_once(request, text)
    if unknown := [name for name in given if name not in (*FILTERS, *places)]:
        raise BadRequest(f"There is no filter “{unknown[0][:80]}”.")
    if long := [name for name in FILTERS if len(given.get(name, "")) > LONGEST_FILTER]:
        raise BadRequest(f"The filter {long[0]} is longer than {LONGEST_FILTER:,} characters.")
    typed = {name: given[name].strip() for name in ("q", "error", "since", "until") if name in given}
    flags = {name: "1" if forms.flag(given, name) else "" for name in FLAGS}
    given |= typed | flags
    return {name: given[name] for name in (*FILTERS, *places) if given.get(name)}


def _wanted(given: dict[str, str]) -> Search:
    if "queue" in given and "unknown" in given:
        raise BadRequest("Entries are of a queue, or without a queue name.")
    kind = given.get("kind")
    if kind and kind not in tuple(Kind):
        raise BadRequest(f"“{kind[:80]}” is none of kind: {', '.join(Kind)}.")
    now = times.now()
    try:
        return Search(
            text=given.get("q", ""),
            queue="" if "unknown" in given else given.get("queue"),
            error=given.get("error", ""),
            kind=Kind(kind) if kind else None,
            group=given.get("group", ""),
            since=_moment(given.get("since"), now),
            until=_moment(given.get("until"), now),
            undated="undated" in given,
        )
    except ValueError as error:
        raise BadRequest(str(error)) from error


def _moment(text: str | None, now: datetime) -> datetime | None:
    return moment(text, now) if text else None
