"""Dead letters by error: how many, of which queues, since when, and how many died again.

Counted by a thread of this process while somebody looks. The first look is told as it goes on, later ones read what has
changed; like the counts by queue they say how sure they are.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from threading import Condition
from time import monotonic

from joobq_admin.joobq import background
from joobq_admin.joobq.background import Background, Proofs, begins_anew_in_a_child
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.triage.error_tally import DOOMSDAY, MOST_ERRORS, NEVER, NO_JOB, OTHERS, ErrorTally, Rows
from joobq_admin.triage.fingerprint import Fingerprint
from joobq_admin.triage.history import LONG_AGO
from joobq_admin.triage.redact import Redaction

HOURS = 24
WAIT, FRESH = 0.1, 1.5  # seconds that a question waits for an answer; and for which an answer holds
MINUTE = timedelta(minutes=1)  # hours that are so old are told anew, and what was counted so long ago not at all
JOBS = 1 << 16  # about so many jobs are compared at a time


@dataclass(frozen=True, slots=True)
class Group:
    """The entries of one error. `queues`: how many of each, most first; None = of those beyond the first 5,000.

    `first`, `last`: deaths among those that are here, to the second; None: none has a time. `again`: entries of jobs
    that have more than one, of whatever error; None until all are counted. `hours`: deaths in each of the 24 hours up
    to `Groups.as_of`.
    """

    error: Fingerprint
    count: int
    queues: tuple[tuple[str | None, int], ...]
    first: datetime | None
    last: datetime | None
    again: int | None
    hours: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Groups:
    """The errors, most entries first. `others`: entries of those beyond the first 2,000.

    `total`: entries in the set; `counted`: how many of them by now; `as_of`: when, by the server's clock, UTC.
      exact                 each number is right
      complete, not exact   they add up, by error as read while entries were changing
      neither               as far as they are counted
    """

    groups: tuple[Group, ...]
    others: int
    total: int
    counted: int
    as_of: datetime
    complete: bool = False
    exact: bool = False

    def of(self, id: str) -> Group | None:
        """That of a fingerprint."""
        return next((group for group in self.groups if group.error.id == id), None)


class Grouping:
    """The errors of the dead set. `groups` may be called from any thread; one counts, and keeps 24 bytes an entry."""

    def __init__(self, queue: DeadLetterQueue, redaction: Redaction) -> None:
        self._queue, self._redaction = queue, redaction
        self.begin()
        begins_anew_in_a_child(self)

    def begin(self) -> None:
        """Nothing counted, no thread: at first, and in a forked child."""
        self._begin_to_count()
        self._thread, self._told = Background("errors", self._work), Condition()
        self._groups: Groups | None = None  # replaced as a whole
        self._known_at = self._rest_until = 0.0

    def _begin_to_count(self) -> None:
        self._tally, self._proofs = ErrorTally(self._queue, self._redaction), Proofs()
        self._summed, self._summed_as_of = -1, LONG_AGO  # at which of the tally's changes

    def groups(self, wait: float = WAIT) -> Groups:
        """The best that is known, at once or after `wait` seconds. Raises Unreachable, or what Redis says."""
        size, now = self._tally.size()
        asked = monotonic()
        self._thread.asked()
        self._thread.wake()
        with self._told:
            if self._groups and now - self._groups.as_of > MINUTE:
                self._groups = None
            self._told.wait_for(lambda: self._is_complete and self._known_at > asked - FRESH, wait)
            known = self._groups or Groups((), 0, size, 0, now)
        return known if known.complete else replace(known, total=max(size, known.counted))

    @property
    def _is_complete(self) -> bool:
        return self._groups is not None and self._groups.complete

    def _work(self) -> Iterator[float]:
        while True:
            if self._tally.full and len(self._tally.errors) <= MOST_ERRORS // 2:  # there is room to tell them apart
                self._begin_to_count()
            yield self._proofs.step(self._tally, self._refresh)

    def _refresh(self, prove: bool, deadline: float) -> ErrorTally:
        began, tally = monotonic(), self._tally
        tally.refresh(deadline=deadline, prove=prove, progress=self._progressed)
        self._tell(began)
        return tally

    def _progressed(self) -> None:
        """What the first look has read is told now and then."""
        if not self._is_complete and monotonic() >= self._rest_until:
            read = sum(len(block.hashes) for block in self._tally.blocks)
            if read == self._tally.total:
                self._tell(monotonic())

    def _tell(self, began: float) -> None:
        """Sums up what has changed, for at most a fifth of the time. `began`: from when on it was read."""
        tally, told = self._tally, self._groups
        if self._is_complete and not tally.complete:
            return  # what was complete a moment ago says more
        size, as_of = (tally.total, tally.as_of) if tally.complete and tally.as_of else tally.size()
        if told and tally.changes == self._summed and as_of - self._summed_as_of < MINUTE:
            told = replace(told, as_of=as_of, complete=tally.complete, exact=tally.exact)
        elif self._is_complete and monotonic() < self._rest_until:
            return
        else:
            started = monotonic()
            told = groups_of(tally, max(size, tally.total), as_of)
            self._rest_until = monotonic() + max(background.PAUSE, 4 * (monotonic() - started))
            self._summed, self._summed_as_of = tally.changes, as_of
        with self._told:
            self._groups, self._known_at = told, began
            self._told.notify_all()


def groups_of(tally: ErrorTally, total: int, as_of: datetime) -> Groups:
    """What is known of `total` entries at `as_of`."""
    sums = Sums(tally, as_of)
    found = [sums.group(number, error) for number, error in tally.errors.items() if number in sums.queues]
    if tally.complete:
        tally.forget(sums.queues)
    return Groups(
        groups=tuple(sorted(found, key=lambda group: (-group.count, group.error.id))),
        others=sums.queues[OTHERS].total(),
        total=total,
        counted=tally.total,
        as_of=as_of,
        complete=tally.complete,
        exact=tally.exact,
    )


class Sums:
    """Of all rows of a tally, by the number of the error."""

    def __init__(self, tally: ErrorTally, as_of: datetime) -> None:
        self._names, self._blocks = tally.queues, [block.names for block in tally.blocks if block.names]
        self.queues = defaultdict[int, Counter[int]](Counter)
        self.first, self.last, self.again = dict[int, int](), dict[int, int](), Counter[int]()
        self.hours = defaultdict[int, list[int]](lambda: [0] * HOURS)
        until = int(as_of.timestamp())
        for rows in self._blocks:
            if self._count(rows) > until - HOURS * 3600:
                self._count_hours(rows, until)
        self._is_whole = tally.complete
        if self._is_whole:
            self._count_again(1 + tally.total // JOBS)

    def _count(self, rows: Rows) -> int:
        """The newest time of death, NEVER: none is known."""
        for (error, queue), n in Counter(zip(rows.errors, rows.queues, strict=True)).items():
            self.queues[error][queue] += n
        times = sorted(zip(rows.seconds, rows.errors, strict=True))
        dated = [(seconds, error) for seconds, error in times if seconds != NEVER]
        last = {error: seconds for seconds, error in dated}
        first = {error: seconds for seconds, error in reversed(dated)}
        for error in last:
            self.first[error] = min(self.first.get(error, DOOMSDAY), first[error])
            self.last[error] = max(self.last.get(error, NEVER), last[error])
        return times[-1][0]

    def _count_hours(self, rows: Rows, until: int) -> None:
        hours, since = self.hours, until - HOURS * 3600
        for error, _, seconds, _ in rows:
            if since < seconds <= until:
                hours[error][(seconds - since - 1) // 3600] += 1

    def _count_again(self, parts: int) -> None:
        """A part of all jobs at a time: a million of them at once would be 100 MB."""
        again = set[int]()
        for part in range(parts):
            jobs = sorted(job for rows in self._blocks for job in rows.jobs if job % parts == part)
            again.update(job for job, other in pairwise(jobs) if job == other != NO_JOB)
            if again and (len(again) > JOBS // 4 or part == parts - 1):
                for rows in self._blocks:
                    self.again.update([error for error, _, _, job in rows if job in again])
                again.clear()

    def group(self, number: int, error: Fingerprint) -> Group:
        queues = self.queues[number]
        return Group(
            error=error,
            count=queues.total(),
            queues=tuple((self._names.get(queue), n) for queue, n in queues.most_common()),
            first=_moment(self.first.get(number)),
            last=_moment(self.last.get(number)),
            again=self.again[number] if self._is_whole else None,
            hours=tuple(self.hours[number]),
        )


def _moment(seconds: int | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
