"""What each entry died of: a tally that keeps 16 bytes of it, beside its hash.

These are numbers: of its error, of its queue, of the second when it died, and of its job (a hash: jobs are compared and
not named). Errors and queues beyond so many are not told apart: one number stands for all others.
"""

from collections.abc import Collection, Iterable, Iterator, Sized
from itertools import starmap
from struct import Struct
from typing import NamedTuple

from joobq_admin.joobq import keys
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.entry import TIMES_FROM, TIMES_TO, Entry
from joobq_admin.joobq.tally import Blocks
from joobq_admin.triage.fingerprint import Fingerprint, Key, fingerprint, key_of
from joobq_admin.triage.redact import Redaction

MOST_ERRORS, MOST_QUEUES = 2_000, 5_000  # that are told apart
LONGEST_QUEUE = 512  # characters of a name that is
OTHERS = 0  # an error's or a queue's number: one of those that are not
NEVER, DOOMSDAY = 0, (1 << 32) - 1  # seconds: no time is known; the last that has room
NO_JOB = 0

_row = Struct("=HHIq")


class Row(NamedTuple):
    """`seconds`: unix time; `job`: the same for all deaths of one, or NO_JOB."""

    error: int
    queue: int
    seconds: int
    job: int


class Rows:
    """Of the entries of a block; by column, that a million of them are added up in little time."""

    __slots__ = ("_rows",)

    def __init__(self, rows: bytes) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows) // _row.size

    def __iter__(self) -> Iterator[tuple[int, int, int, int]]:
        """As plain tuples."""
        return _row.iter_unpack(self._rows)

    def __add__(self, other: "Rows") -> "Rows":
        return Rows(self._rows + other._rows)

    @property
    def errors(self) -> Iterable[int]:
        return memoryview(self._rows).cast("H")[::8]

    @property
    def queues(self) -> Iterable[int]:
        return memoryview(self._rows).cast("H")[1::8]

    @property
    def seconds(self) -> Iterable[int]:
        return memoryview(self._rows).cast("I")[1::4]

    @property
    def jobs(self) -> Iterable[int]:
        return memoryview(self._rows).cast("q")[1::2]


class ErrorTally(Blocks[Row]):
    """`errors`, `queues`: what their numbers stand for."""

    scored = True  # the score is the time

    def __init__(self, queue: DeadLetterQueue, redaction: Redaction) -> None:
        super().__init__(queue.redis, keys.DEAD)
        self._redaction = redaction
        self.errors: dict[int, Fingerprint] = {}
        self.queues: dict[int, str] = {}
        self._error_numbers: dict[Key, int] = {}
        self._queue_numbers: dict[str, int] = {}
        self._free = list(range(MOST_ERRORS, OTHERS, -1))
        self.full = False  # one was not told apart: no new one can be from now on, for some of it may be among others
        self.changes = 0  # grows with every change of any row

    def name(self, member: bytes, score: float) -> Row:
        entry = Entry(member, score)
        job = entry.job_key
        return Row(
            error=self._error_number(entry),
            queue=self._queue_number(entry.queue),
            seconds=_seconds(entry),
            job=NO_JOB if job is None else hash(job) or 1,
        )

    def kept(self, names: Iterable[Row], before: Sized) -> Rows:
        rows = Rows(b"".join(starmap(_row.pack, names)))
        self.changes += bool(len(rows) or len(before))
        return rows

    def forget(self, used: Collection[int]) -> None:
        """Errors that no entry has any more leave their numbers to others. `used`: those of all entries."""
        for key, number in list(self._error_numbers.items()):
            if number not in used:
                del self._error_numbers[key], self.errors[number]
                self._free.append(number)

    def _error_number(self, entry: Entry) -> int:
        key = key_of(entry, self._redaction)
        number = self._error_numbers.get(key)
        if number is not None:
            return number
        if self.full or not self._free:
            self.full = True
            return OTHERS
        number = self._error_numbers[key] = self._free.pop()
        self.errors[number] = fingerprint(entry, self._redaction)
        return number

    def _queue_number(self, name: str) -> int:
        number = self._queue_numbers.get(name)
        if number is not None:
            return number
        if len(name) > LONGEST_QUEUE or len(self.queues) == MOST_QUEUES:
            return OTHERS
        number = self._queue_numbers[name] = 1 + len(self.queues)
        self.queues[number] = name
        return number


def _seconds(entry: Entry) -> int:
    if TIMES_FROM <= entry.score < TIMES_TO:
        return min(int(entry.score // 1000), DOOMSDAY)
    died = entry.died_at
    return min(max(NEVER, int(died.timestamp())), DOOMSDAY) if died else NEVER
