"""Entries per queue: from the hash while it is known to be right, else counted in the background.

JoobQ's newer workers change set and hash in one script, its older ones add to the set and never count. A hash that was
once proved (swapped in by an EXEC that nothing had disturbed since the first byte was read) can then only fall behind:
while the marker of that proof stands, a sum equal to the size of the set means that every number is right, and a sum
smaller by k that each queue holds between its number and k more. The marker goes with every swap that proved less, and
with a read that finds what this cannot explain: a sum above the size, a field that is no count, a key of another type.
"""

import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Lock
from time import monotonic
from typing import Any

from redis import Redis, exceptions

from joobq_admin.joobq import background, keys, scripts
from joobq_admin.joobq.background import Background, Proofs, begins_anew_in_a_child
from joobq_admin.joobq.cjson import queue_of
from joobq_admin.joobq.scripts import READ, RECOUNT, SWAP, Call
from joobq_admin.joobq.tally import Tally

SMALL, SMALL_BYTES = 400, 1 << 20  # what one script may count while Redis serves nobody else: about 4 ms
FRESH = timedelta(seconds=3)  # a count of this process this old is shown as it is
LOCK = 10_000  # ms until others may count when this process has died

_KEYS = (keys.DEAD, keys.COUNTS, keys.PROVED)
_is_count = re.compile(rb"0|[1-9][0-9]{0,17}").fullmatch


@dataclass(frozen=True, eq=False)
class Counts(Mapping[str, int]):
    """Queue -> entries, without zeros; '' = those that name none. Equal to a dict of the same.

    `total`: size of the set; `as_of`: when, by the server's clock, UTC. What is known of the numbers:
      exact                  each is right
      bounded, not exact     each queue holds between its number and `uncounted` more
      complete, not exact    they add up, by queue as read while entries were changing
      none of these          `uncounted` entries are not counted yet
    """

    by_queue: Mapping[str, int]
    total: int
    as_of: datetime
    complete: bool = False
    bounded: bool = False

    @property
    def exact(self) -> bool:
        return self.complete and self.bounded

    @property
    def uncounted(self) -> int:
        return self.total - sum(self.by_queue.values())

    def __getitem__(self, queue: str) -> int:
        return self.by_queue[queue]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_queue)

    def __len__(self) -> int:
        return len(self.by_queue)


class Counting:
    """Counts of the dead set on `redis`, a client that returns bytes. Every method may be called from any thread.

    A set of up to 400 entries is counted at once by a script, a larger one by one thread of this process, which keeps
    what it has learnt (16 bytes an entry) and two connections of its own. Only one process at a time does so. Where
    nothing may be written (a read-only user, a replica, a full server) each process counts for itself.
    """

    CALL = READ.call(_KEYS, read_only=True)

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._token = secrets.token_hex(8).encode()  # this process, as holder of the lock
        self._distrusted = b""  # the marker that a read found to be wrong, in case it may not be removed
        self.begin()
        begins_anew_in_a_child(self)

    def begin(self) -> None:
        """Nothing counted, no thread: at first, and in a forked child."""
        self._tally = Tally(self._redis, keys.DEAD, queue_of)
        self._own: Counts | None = None  # what this process has counted; replaced as a whole
        self._thread, self._counting = Background("counts", self._work, self._let_go), Lock()
        self._proofs, self._told = Proofs(), 0.0
        self._may_write = self._may_swap = True
        self._enough = 0  # a set that has shrunk to this needs no thread any more

    def counts(self, read: Sequence[Any] = ()) -> Counts:
        """The best that is known now; never waits for the thread. Raises Unreachable, or what Redis says.

        `read`: the answer to `CALL`, where that was sent together with other calls.
        """
        self._thread.asked()
        now = self._of(read) if read else self._read()
        if now.exact:
            return now
        if now.total <= SMALL and (counted := self._count_small()) is not None:
            return counted
        self._enough = SMALL if now.total > SMALL else 0
        self._thread.wake()
        return self._best(now)

    def certain(self, queue: str, read: Sequence[Any]) -> int | None:
        """How many entries of this queue there were at the very moment of `read`; None when that is not known."""
        now = self._of(read)
        return now.get(queue, 0) if now.exact else None

    def count(self, queue: str | None = None) -> int:
        """Entries in all, or of one queue ('' = those that name none)."""
        counts = self.counts()
        return counts.total if queue is None else counts.get(queue, 0)

    def recount(self, deadline: float | None = None) -> Counts:
        """Reads every entry and puts the hash right, in the caller's thread; the result says how sure it is.

        Tries until it is exact, or until `deadline` (by time.monotonic(), a minute from now when None).
        """
        now = self._read()
        if now.total <= SMALL and (counted := self._count_small()) is not None:
            return counted
        deadline = monotonic() + 60 if deadline is None else deadline
        if not self._counting.acquire(timeout=max(0, deadline - monotonic())):
            return self.counts()
        try:
            self._may_write = self._may_swap = True
            while True:
                counted = self._refresh(now, True, deadline)
                if counted.exact or monotonic() >= deadline:
                    break
            self._let_go()
        finally:
            self._counting.release()
        return counted

    # -- what the hash says

    def _read(self) -> Counts:
        return self._of(*scripts.read(self._redis, [self.CALL]))

    def _of(self, read: Sequence[Any]) -> Counts:
        total, is_hash, marker, seconds, micros, *fields = read
        numbers = dict(zip(fields[::2], fields[1::2], strict=True))
        sound = is_hash and all(map(_is_count, numbers.values())) and sum(map(int, numbers.values())) <= total
        if marker and not sound:
            self._distrusted = marker  # should the next call be refused
            scripts.send(self._redis, [READ.call(_KEYS, [marker])])
        by_queue = _by_queue(numbers.items()) if sound else {}
        complete = bool(sound) and sum(by_queue.values()) == total
        bounded = bool(sound) and marker not in (b"", self._distrusted)
        return Counts(by_queue, total, _moment(seconds, micros), complete, bounded)

    def _count_small(self) -> Counts | None:
        """A small set, counted by one script; None when it is not small after all."""
        token, limits = secrets.token_hex(8), (SMALL, SMALL_BYTES)
        (reply,) = scripts.send(self._redis, [RECOUNT.call(_KEYS, [token, *limits])])
        if not isinstance(reply, list):  # refused, or lost: asked again in a way that writes nothing
            (reply,) = scripts.read(self._redis, [RECOUNT.call(_KEYS, [b"", *limits], read_only=True)])
        if not reply:
            return None
        seconds, micros, *pairs = reply
        by_queue = _by_queue(zip(pairs[::2], pairs[1::2], strict=True))
        return Counts(by_queue, sum(by_queue.values()), _moment(seconds, micros), complete=True, bounded=True)

    def _best(self, now: Counts) -> Counts:
        """Of what the hash says and what this process has counted."""
        own = self._own
        if own is not None and own.complete and now.as_of - own.as_of < FRESH:
            if own.exact and own.total == now.total:
                return own
            if not now.bounded or now.uncounted * 10 > now.total:  # bounds so wide are true, but of little use
                return replace(own, bounded=False)
        if own is None or now.bounded or now.complete or sum(own.values()) > now.total:
            return now
        return Counts(own.by_queue, now.total, now.as_of, complete=sum(own.values()) == now.total)

    # -- the thread

    def _work(self) -> Iterator[float]:
        """Counts until the hash is proved, or there is little to count."""
        pause, self._may_swap = background.PAUSE, True
        while True:
            with self._counting:
                now = self._read()
                if now.exact or now.total <= self._enough:
                    return
                if self._hold():
                    pause = self._proofs.step(self._tally, partial(self._refresh, now))
                else:  # another process counts
                    pause = min(2 * pause, background.LONG_PAUSE)
            yield pause

    def _refresh(self, now: Counts, prove: bool, deadline: float) -> Counts:
        def swap(proved: bool) -> Sequence[Call]:
            if not (self._may_write and self._may_swap) or (now.bounded and not proved):  # bounds are worth more
                return ()
            token = secrets.token_hex(8) if proved else ""
            counts = [text for pair in self._tally.counts.items() for text in pair]
            # the whole text: a script that was forgotten must not fail inside the EXEC
            return [("EVAL", SWAP.text, 2, keys.COUNTS, keys.PROVED, token, *counts)]

        def progressed() -> None:
            if monotonic() - self._told > background.PAUSE:
                self._hold()
                if self._own is None or not self._own.complete:
                    self._publish(now)

        try:
            self._tally.refresh(deadline=deadline, then=swap, prove=prove, progress=progressed)
        except exceptions.ResponseError:
            if not self._may_swap:
                raise
            self._may_swap = False
            self._tally.refresh(deadline=deadline, prove=prove, progress=progressed)
        self._may_swap &= not any(isinstance(answer, exceptions.ResponseError) for answer in self._tally.answers)
        return self._publish(now)

    def _publish(self, now: Counts) -> Counts:
        tally, by_queue, self._told = self._tally, _by_queue(self._tally.counts.items()), monotonic()
        if tally.complete and tally.as_of:
            self._own = Counts(by_queue, tally.total, tally.as_of, True, tally.exact)
        else:
            self._own = Counts(by_queue, max(now.total, tally.total), now.as_of)
        return self._own

    def _hold(self) -> bool:
        """Takes or keeps the lock. True as well where nothing may be written."""
        take = ("SET", keys.RECOUNTING, self._token, "NX", "GET", "PX", LOCK)
        (holder,) = scripts.send(self._redis, [take])
        if holder == self._token:
            scripts.send(self._redis, [("PEXPIRE", keys.RECOUNTING, LOCK)])
        self._may_write = not isinstance(holder, exceptions.ResponseError)
        return holder in (None, self._token) or not self._may_write

    def _let_go(self) -> None:
        """Not atomic, and need not be: the lock saves work, what makes a swap right is its guard."""
        if scripts.read(self._redis, [("GET", keys.RECOUNTING)]) == [self._token]:
            scripts.send(self._redis, [("DEL", keys.RECOUNTING)])


def _by_queue(numbers: Iterable[tuple[bytes, Any]]) -> dict[str, int]:
    return {name.decode("utf-8", "surrogateescape"): int(n) for name, n in numbers if int(n)}


def _moment(seconds: bytes, micros: bytes) -> datetime:
    return datetime.fromtimestamp(int(seconds), UTC) + timedelta(microseconds=int(micros))
