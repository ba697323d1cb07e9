"""What a list says of itself: its title, what is looked for, how many that are and how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from joobq_admin.connection import redaction
from joobq_admin.joobq.counting import Counts
from joobq_admin.joobq.entry import Entry
from joobq_admin.joobq.lookup import Page
from joobq_admin.joobq.spread import Spread
from joobq_admin.pages import errors, rows, times
from joobq_admin.pages.counts import how_sure, in_queue, letters, number, queue_name
from joobq_admin.pages.list_forms import Listing
from joobq_admin.pages.sift import TIMES
from joobq_admin.triage.fingerprint import Fingerprint, fingerprint
from joobq_admin.triage.groups import Group, Groups
from joobq_admin.triage.search import PRESETS


@dataclass(frozen=True, slots=True)
class Found:
    """What a list was read with. `dated`: how many of all have a score that is a time.

    `within`: how many died in the time that is looked for, where only a time is; `groups`: where an error is.
    """

    asked: Listing
    counts: Counts
    page: Page
    dated: int
    now: datetime
    within: Spread | None = None
    groups: Groups | None = None

    @property
    def entries(self) -> Sequence[Entry]:
        return self.page.entries

    @property
    def undated(self) -> int:
        return max(0, self.counts.total - self.dated)

    @property
    def all_here(self) -> bool:
        """Is this page all that there is?"""
        return self.page.complete and self.asked.cursor is None

    @property
    def group(self) -> Group | None:
        """What was counted of the error that is looked for; None when this page alone has more by now."""
        group = self.groups.of(self.asked.wanted.group) if self.groups and self.groups.complete else None
        return group if group and group.count >= len(self.entries) else None

    @property
    def error(self) -> Fingerprint | None:
        """That of the group that is looked for, as far as anything here knows it."""
        if self.group:
            return self.group.error
        return fingerprint(self.entries[0], redaction()) if self.entries else None


@dataclass(frozen=True, slots=True)
class Head:
    """`n` and `words`: the title; `sub`: the line below it; `say`: what is read out when the list changes."""

    n: str
    words: str
    sub: str
    say: str


def head(found: Found) -> Head:
    asked = found.asked
    if not asked.sifted:
        return _of_queue(found)
    if asked.only("queue", "unknown", "undated"):
        return _undated(found)
    if found.within:
        return _of_time(found, found.within)
    if asked.of_one_error:
        return _of_error(found)
    n, looked_for = len(found.entries), " · ".join([*_linked(found), f"read {times.named(found.counts.as_of)}"])
    if found.all_here:
        return Head(f"{n:,}", f"{letters(n)} match{'es' * (n == 1)}", looked_for, f"{n:,} match")
    return Head("", "Dead letters that match", looked_for, f"{n:,} shown")


def _of_queue(found: Found) -> Head:
    queue, counts = found.asked.queue, found.counts
    if queue is None:
        n = f"{counts.total:,}"
        return Head(n, letters(counts.total), how_sure(counts, None), f"{n} {letters(counts.total)}")
    n, so_far = number(counts, queue), "" if counts.complete or counts.bounded else " so far"
    words = f"{letters(counts.get(queue, 0))} {in_queue(queue)}{so_far}"
    return Head(n, words, how_sure(counts, queue), f"{n} in {queue_name(queue)}")


def _undated(found: Found) -> Head:
    queue, n = found.asked.queue, f"{found.undated:,}"
    of = f" in {queue_name(queue)}" if queue is not None else ""
    words = f"{letters(found.undated)} without a death time{of}"
    return Head("" if of else n, words, rows.NO_TIME_NOTE, f"{n} without a death time")


def _of_time(found: Found, within: Spread) -> Head:
    n = sum(within.between)
    words = f"{letters(n)} {_time(found.asked, found.now)}"
    of_all = f"of {within.total:,} in all, at {times.named(within.as_of)}"
    return Head(f"{n:,}", words, of_all, f"{n:,} {words}")


def _of_error(found: Found) -> Head:
    """`n`: as it was counted, else as many as there are on this page, where these are all."""
    error, group, counted = found.error, found.group, found.groups
    if error is None and not found.all_here:
        return Head("", "Dead letters of one error", "", "none so far")
    if error is None:
        return Head("", "No dead letter of this error", "None has it any more.", "none")
    told = [errors.in_words(error)]
    n = len(found.entries) if found.all_here else group.count if group else None
    if group and counted:
        told += [f"{queue_name(queue)} {count:,}" for queue, count in group.queues[:3]]
        told += [f"{group.again:,} died again"] if group.again else []
        told.append(errors.how_sure(counted))
    words = f"{letters(n or 0)}: {errors.name(error)}"
    if n is None:
        return Head("", f"Dead letters: {errors.name(error)}", " · ".join(told), words)
    return Head(f"{n:,}", words, " · ".join(told), f"{n:,} {words}")


def _linked(found: Found) -> list[str]:
    """What is looked for that no field of the form shows."""
    filters, wanted, error = found.asked.filters, found.asked.wanted, found.error
    told = {
        "queue": in_queue(wanted.queue),
        "unknown": in_queue(""),
        "undated": "without a death time",
        "group": f"{errors.name(error)}: {errors.in_words(error)}" if error else "one error",
    }
    return [told[each] for each in told if each in filters]


def _time(asked: Listing, now: datetime) -> str:
    since, until = asked.wanted.since, asked.wanted.until
    if since and until:
        return f"died {times.between(since, until, now)}"
    if since:
        preset = asked.filters["since"]
        return f"of the {TIMES[preset].lower()}" if preset in PRESETS else f"died since {times.minute(since, now)}"
    assert until
    return f"died before {times.minute(until, now)}"
