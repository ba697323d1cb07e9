"""What the list prints, ready-made: filters in the loop of a template would cost more than reading the rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any

from django.urls import reverse

from joobq_admin.joobq.audit import Record
from joobq_admin.joobq.entry import TIMES_FROM, Entry
from joobq_admin.pages import links, times
from joobq_admin.pages.faces import Badge, differs, face
from joobq_admin.pages.sends import name_of
from joobq_admin.triage.history import redriven_before

STAR = " *"
NO_TIME_NOTE = "Their score is a lifetime (604800), not a time. * = read from error.failed_at"

Heading = tuple[str, str]  # a label, and a note beside it
UNDATED = ("Without a death time", NO_TIME_NOTE)
BY_JID = ("By jid, the order in which Redis keeps them", "")

#: One row. A dict, because templates look names up there first.
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Day:
    """Rows under one heading."""

    label: str
    rows: list[Row]
    note: str = ""


@dataclass(slots=True)
class Group:
    """A death and, when it is the newest of its job on the page, the others."""

    entry: Entry
    others: list[Entry] = field(default_factory=list)


def days(
    entries: Sequence[Entry], records: Mapping[str, Sequence[Record]], now: datetime, undated: Heading = UNDATED
) -> list[Day]:
    """`records` by jid: what was done to each job, newest first; `undated`: above those without a death time."""
    base = reverse("entries")
    found = list[Day]()
    for (label, note), groups in groupby(by_job(entries), lambda group: _heading(group.entry, now) or undated):
        rows = [_row(group, records.get(group.entry.jid or "", ()), now, base) for group in groups]
        found.append(Day(label, rows, note))
    return found


def by_job(entries: Sequence[Entry]) -> list[Group]:
    """In their order, but the deaths of one job together under the newest."""
    groups, of_job = list[Group](), dict[str, Group]()
    for entry in entries:
        key = entry.job_key
        if key is not None and key in of_job:
            of_job[key].others.append(entry)
            continue
        groups.append(Group(entry))
        if key is not None:
            of_job[key] = groups[-1]
    return groups


def _heading(entry: Entry, now: datetime) -> Heading | None:
    if entry.died_at_source == "score" and entry.died_at:
        return times.day(entry.died_at, now), ""
    return ("With a score that is no time", "") if entry.score >= TIMES_FROM else None


def _row(group: Group, records: Sequence[Record], now: datetime, base: str) -> Row:
    entry, shown = group.entry, face(group.entry)
    return {
        **shown._asdict(),
        **_died(entry, now),
        "url": links.entry(entry.ref, base),
        "badges": [*badges(entry, 1 + len(group.others), records, now), *shown.badges],
        "deaths": [_death(other, entry, now, base) for other in group.others],
    }


def _death(entry: Entry, lead: Entry, now: datetime, base: str) -> Row:
    url = links.entry(entry.ref, base)
    return {**_died(entry, now), "id": entry.digest[:16], "url": url, "diff": differs(lead, entry)}


def _died(entry: Entry, now: datetime) -> Row:
    at = entry.died_at
    if at is None:
        return {"iso": "", "rel": "", "clock": "", "full": ""}
    when = times.when(at, now)
    if entry.died_at_source == "score":
        return {"iso": when.iso, "rel": when.rel, "clock": when.clock, "full": when.full}
    full = f"{when.full}, read from {entry.died_at_source}: the score is no time"
    return {"iso": when.iso, "rel": when.rel, "clock": when.clock + STAR, "full": full}


def badges(entry: Entry, deaths: int, records: Sequence[Record], now: datetime) -> list[Badge]:
    """What of its job needs a look. `deaths`: entries of it that are here; `records`: what was done to them."""
    found = list[Badge]()
    if deaths > 1:
        found.append(("", f"{deaths} deaths of this job", ""))
    if before := redriven_before(entry, records):
        at = f" at {times.clock(before.at, now)}" if before.at else ""
        found.append(("warn", "died again", f"Redriven by {name_of(before)}{at}, then it died as this"))
    return found
