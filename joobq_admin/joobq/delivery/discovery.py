"""Which ledgers there are: told by the names of all keys, and so looked for a while at a time."""

import re
import time
from collections.abc import Iterable, Iterator
from threading import Lock
from typing import NamedTuple

from redis import Redis

from joobq_admin.joobq import keys, scripts
from joobq_admin.joobq.delivery import asked
from joobq_admin.joobq.entry import to_text

Name = tuple[str, str]  # namespace, queue

PATTERN = f"{keys.DELIVERY}{{*}}:*"
STEP = 1_000  # keys that one SCAN goes through: under 1 ms of Redis
REST = 10  # times as long as a whole look took, until the next one

_key = re.compile(rf"{keys.DELIVERY}{{({asked.NAME})}}:(?:{'|'.join(keys.DELIVERY_KINDS)})").fullmatch


def names_of(found: Iterable[bytes]) -> Iterator[Name]:
    """Of the ledgers that these keys belong to."""
    for key in map(_key, map(to_text, found)):
        namespace, _, queue = key[1].partition(":") if key else ("", "", "")
        if namespace and queue:
            yield namespace, queue


class Known(NamedTuple):
    """`whole`: every key was looked at since this process began; else there may be others."""

    names: list[Name]
    whole: bool


class Discovery:
    """What a process knows of the ledgers on `redis`. Threads may share it.

    What was found stays known until a whole look did not find it any more.
    """

    def __init__(self, redis: Redis) -> None:
        self.redis, self._lock = redis, Lock()
        self._known, self._found = set[Name](), set[Name]()
        self._cursor: int | None = 0  # None: the last look was whole
        self._whole, self._took, self._rested = False, 0.0, 0.0

    def look(self, seconds: float) -> Known:
        """Looks on for about so long, unless another thread does; what is known then. Raises what reading raises."""
        if self._lock.acquire(blocking=False):
            try:
                self._look(seconds)
            finally:
                self._lock.release()
        return Known(sorted(self._known | self._found), self._whole)

    def _look(self, seconds: float) -> None:
        began = time.monotonic()
        if self._cursor is None and began < self._rested:
            return
        cursor, goes_on = self._cursor or 0, True
        while goes_on:
            (answer,) = scripts.read(self.redis, [("SCAN", cursor, "MATCH", PATTERN, "COUNT", STEP)])
            cursor = int(answer[0])
            self._found = self._found | set(names_of(answer[1]))
            self._cursor = cursor or None
            goes_on = bool(cursor) and time.monotonic() < began + seconds
        self._took += time.monotonic() - began
        if not cursor:
            self._known, self._found, self._whole = self._found, set(), True
            self._rested, self._took = time.monotonic() + REST * self._took, 0.0
