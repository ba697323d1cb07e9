"""The line of deaths of a job, as pages print it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from joobq_admin.joobq.audit import Record
from joobq_admin.joobq.entry import Entry
from joobq_admin.pages import links, times
from joobq_admin.pages.rows import differs, error_of
from joobq_admin.pages.sends import name_of, why
from joobq_admin.pages.times import When
from joobq_admin.pages.tokens import plain
from joobq_admin.sso.roles import User
from joobq_admin.triage import history
from joobq_admin.triage.history import Step, StepKind

SOURCES = "From the entries that are here and the audit log. What is in neither is not known."
MOST_STEPS = 50


@dataclass(frozen=True, slots=True)
class StepRow:
    kind: str
    what: str
    when: When | None
    here: bool = False
    by: str = ""
    text: str = ""
    why: str = ""
    url: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Deaths:
    steps: list[StepRow]
    note: str


def deaths(
    here: Sequence[Entry], records: Iterable[Record], shown: Entry | None, user: User, now: datetime, unread: str = ""
) -> Deaths:
    """`here`: the job's entries; `shown`: the one that this page is about; `records`: what was done to any of them.

    `unread`: why there are no records.
    """
    steps = history.history(here, records)
    left = len(steps) - MOST_STEPS
    rows = [_step(step, shown, user, now) for step in steps[:MOST_STEPS]]
    more = f"{left:,} older ones are not shown. " if left > 0 else ""
    return Deaths(rows, more + (unread or SOURCES))


def _step(step: Step, shown: Entry | None, user: User, now: datetime) -> StepRow:
    when = times.when(step.at, now) if step.at else None
    entry, record = step.entry, step.record
    if entry:
        cls, message = error_of(entry)
        is_shown = shown is not None and entry.digest == shown.digest
        text = "" if is_shown else f"Still here, {differs(shown, entry)}." if shown else "Still here."
        what = f"Died, {message or cls}"
        return StepRow(
            "died", what if len(what) <= 90 else f"{what[:90]}…", when, here=is_shown, text=text,
            url="" if is_shown else links.entry(entry.ref), link="open",
        )  # fmt: skip
    assert record
    if step.kind is StepKind.DIED:
        left = "redrive" if record.action == "redrive" else "purge"
        return StepRow("died", "Died", when, text=f"Left dead letters with that {left}.")
    to = f" to {plain(record.queue)}" if step.kind is StepKind.REDRIVEN and record.queue else ""
    return StepRow(
        step.kind.value, step.kind.value.capitalize() + to, when, by=name_of(record, user), why=why(record.reason),
        url=links.operation(record.operation), link=f"operation {record.operation[:8]}",
    )  # fmt: skip
