"""What became of entries and jobs, as pages tell it: the line of deaths, and the tombstone of an entry that is gone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from joobq_admin.joobq.audit import Record
from joobq_admin.joobq.entry import Entry
from joobq_admin.pages import links, slip, times
from joobq_admin.pages.faces import differs, error_of
from joobq_admin.pages.links import Link
from joobq_admin.pages.looked import Looked
from joobq_admin.pages.sends import name_of, receipt
from joobq_admin.pages.times import When
from joobq_admin.pages.tokens import plain
from joobq_admin.sso.roles import User
from joobq_admin.triage import history
from joobq_admin.triage.history import Step, StepKind

Fact = tuple[str, str, str]  # name, value, small print
SOURCES = "From the entries that are here and the audit log. What came before neither is not known."
THEN = {"purge": "Purged. This job will not run", "restore": "Back in dead letters: same bytes, same death time"}
MOST_STEPS = 50
OVER = "The entry this link points to is no longer in dead letters"


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
        step.kind.value, step.kind.value.capitalize() + to, when, by=name_of(record, user), why=plain(record.reason),
        url=links.operation(record.operation), link=f"operation {record.operation[:8]}",
    )  # fmt: skip


# -- tombstones


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What became of an entry that is not here."""

    over: str
    heading: str
    tone: str
    icon: str
    ref: str
    facts: tuple[Fact, ...]
    jid: str = ""
    queue: str = ""
    queue_url: str = ""
    note: str = ""
    note_tone: str = ""
    links: tuple[Link, ...] = ()
    receipt: str = ""


def tombstone(
    record: Record,
    here: Sequence[Entry],
    user: User,
    now: datetime,
    *,
    over: str = OVER,
    onward: tuple[Link, ...] = (),
    of_press: bool = False,
) -> Tombstone:
    """By the record that says how it left. `here`: others of its job; `of_press`: on the page of its operation."""
    redriven = record.action == "redrive"
    again = history.next_death(record, here) if redriven else None
    did = history.did(record.action).capitalize()
    who, queue = name_of(record, user), plain(record.queue)
    what = f"{did} to {queue}" if redriven and queue else THEN.get(record.action, did)
    facts: list[Fact] = [("What", what, f"version {slip.short(record.digest)}")]
    if record.at:
        facts.append(("When", f"{record.at:%H:%M:%S} UTC", f"{record.at:%a %-d %b %Y}"))
    if record.reason:
        facts.append(("Why", plain(record.reason), ""))
    if again:
        cls, message = error_of(again)
        at = f"{again.died_at:%H:%M:%S} UTC" if again.died_at else "at a time not known"
        facts.append(("Died again", at, f"{cls}, {message}" if message else cls))
        note, newer = "There is a newer entry of this job. Look at that one.", links.entry(again.ref)
        first: tuple[Link, ...] = ((newer, "Open the newer entry", "primary"),)
    else:
        note = "Nothing for you to do here." if redriven and not onward else ""
        first = onward
    ago = f", {times.distance(record.at, now)}" if record.at else ""
    did_it = (links.operation(record.operation), "What it did", "quiet")
    others: tuple[Link, ...] = ((links.queue(record.queue), f"Others in {queue}", ""),) if queue else ()
    return Tombstone(
        over=over, heading=f"{did} by {who}, and died again" if again else f"{did} by {who}{ago}",
        tone="warn" if again else "done" if redriven else "bad",
        icon="warn" if again else "check" if redriven else "purge",
        ref=f"Dead letter in {queue}" if queue else "Dead letter", jid=plain(record.jid)[:64],
        queue=queue, queue_url=links.queue(record.queue) if queue else "", facts=tuple(facts), note=note,
        note_tone="warn" if again else "", links=(*first, *others) if of_press else (*first, *others, did_it),
        receipt=receipt(record),
    )  # fmt: skip


def untold(
    what: str,
    digest: str,
    jid: str,
    here: Sequence[Entry],
    records: Sequence[Record],
    since: datetime | None,
    far: Looked,
    user: User,
) -> Tombstone:
    """Not found, and no record says that it left, but there is a trace. `what` they are the records of."""
    none = f"and none of this job among {far.at}" if not far.whole else f"and none of this job: looked at {far.at}"
    some = f"but {len(here):,} other {'entries' if len(here) != 1 else 'entry'} of this job: looked at {far.at}"
    last = f"{history.did(records[0].action).capitalize()} by {name_of(records[0], user)}" if records else ""
    log = f"the log goes back to {since:%-d %b %Y}" if since else "the log is empty"
    newest: tuple[Link, ...] = ((links.entry(here[0].ref), "Open the newest of them", "primary"),) if here else ()
    return Tombstone(
        over=OVER if what == "these bytes" else f"A link to {what}",
        heading="Gone, and not by this dashboard" if far.whole else "Not found, and not taken by this dashboard",
        tone="mute", icon="unknown", ref=f"version {digest[:4]}…", jid=plain(jid)[:64],
        facts=(
            ("In dead letters", f"No entry {'with' if what == 'these bytes' else 'of'} {what}", some if here else none),
            ("In the audit log", last or f"No record of {what}", "and nothing since" if last else log),
        ),
        note="Another tool removed it, or the log no longer reaches back so far." if far.whole else "",
        links=(*newest, *far.onward),
    )  # fmt: skip
