"""The form above the list: what is looked for, as it stands in the address, and what may be chosen."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from joobq_admin.joobq.entry import Entry, Kind
from joobq_admin.pages import links
from joobq_admin.pages.list_forms import Listing
from joobq_admin.pages.rows import face
from joobq_admin.pages.tokens import plain
from joobq_admin.triage.fingerprint import error_class
from joobq_admin.triage.search import PRESETS

KINDS = {
    Kind.JOB: "Jobs that failed",
    Kind.EXPIRED: "Expired",
    Kind.PLACEHOLDER: "Placeholders",
    Kind.MALFORMED: "Malformed",
}
TIMES = {"1h": "Last hour", "24h": "Last 24 h", "7d": "Last 7 days", "30d": "Last 30 days"}
TYPED = ("q", "error", "kind", "since", "until", "limit")

Option = tuple[str, str, bool]  # value, words, is it chosen


@dataclass(frozen=True, slots=True)
class Sift:
    """`hidden`: what is looked for by links alone; `since`, `until`: exact times, in UTC, in the place of presets.

    `unsendable`: what is looked for holds bytes that no form can send, so there is none.
    """

    q: str
    error: str
    kinds: list[Option]
    times: list[Option]
    exact: bool
    since: str
    until: str
    exact_url: str
    any_time_url: str
    hidden: list[tuple[str, str]]
    unsendable: bool


def sift(asked: Listing, now: datetime) -> Sift:
    filters, wanted = asked.filters, asked.wanted
    exact = bool(wanted.until or (wanted.since and filters["since"] not in PRESETS))
    hidden = {key: value for key, value in (filters | asked.place).items() if key not in (*TYPED, "before", "after")}
    timeless = {key: value for key, value in filters.items() if key not in ("since", "until")}
    return Sift(
        q=plain(wanted.text),
        error=plain(wanted.error),
        kinds=[(kind, words, kind is wanted.kind) for kind, words in KINDS.items()],
        times=[(value, words, value == filters.get("since")) for value, words in TIMES.items()],
        exact=exact,
        since=_local(wanted.since) if exact else "",
        until=_local(wanted.until),
        exact_url=links.entries(**timeless, since=_local((wanted.since or now - timedelta(hours=1)).replace(second=0))),
        any_time_url=links.entries(**timeless),
        hidden=list(hidden.items()),
        unsendable=not "".join(hidden.values()).isprintable(),
    )


def classes(entries: Iterable[Entry]) -> list[str]:
    """What may be chosen as a class: those of the entries that are here, as far as they are shown."""
    return sorted({face(each).cls for each in entries if each.error and error_class(each.error) == face(each).cls})


def _local(at: datetime | None) -> str:
    """As a field for a date and a time has it."""
    return at.replace(tzinfo=None).isoformat(timespec="seconds" if at.second else "minutes") if at else ""
