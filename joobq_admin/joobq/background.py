"""Work in a thread of this process that goes on while somebody asks for what comes of it."""

import logging
import os
from collections.abc import Callable, Iterator
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any, Protocol
from weakref import WeakSet

from redis import exceptions

from joobq_admin.joobq.tally import Blocks

LINGER = 5.0  # seconds that the work goes on after the last question
PAUSE, LONG_PAUSE = 0.25, 2.0  # seconds between steps at least; and until it is begun again after Redis failed it
LONGEST = 30.0  # seconds that one look at a set may take
LONG_REST = 60.0  # seconds between proofs at most

_log = logging.getLogger(__name__)


class Background:
    """`work` yields seconds to wait before the next step, and ends when nothing is left to do.

    It ends too when nobody has asked for a while, or Redis fails: the next question begins it again. `done` is called
    unless Redis failed.
    """

    def __init__(
        self, name: str, work: Callable[[], Iterator[float]], done: Callable[[], object] = lambda: None
    ) -> None:
        self._name, self._work, self._done = name, work, done
        self._thread: Thread | None = None
        self._starting = Lock()
        self._asked_at = self._retry_at = 0.0

    def asked(self) -> None:
        """Somebody wants to know: what is going on goes on."""
        self._asked_at = monotonic()

    def wake(self) -> None:
        """Begins, unless it is going on or has just failed."""
        with self._starting:
            if monotonic() >= self._retry_at and not (self._thread and self._thread.is_alive()):
                self._thread = Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()

    def _run(self) -> None:
        try:
            work = self._work()
            while monotonic() - self._asked_at < LINGER and (pause := next(work, None)) is not None:
                sleep(pause)
            self._done()
        except (exceptions.RedisError, OSError, TypeError) as error:  # TypeError: redis-py, when its pool is closed
            self._retry_at = monotonic() + LONG_PAUSE
            _log.warning("%s ended: %s", self._name, error)


class Known(Protocol):
    @property
    def exact(self) -> bool: ...


class Proofs:
    """Steps of a count that is kept up to date. A proof reads every entry again: it is tried when nothing has just
    changed, then it rests for four times as long as it took, or twice as long as before when it failed."""

    def __init__(self) -> None:
        self._due = self._rest = 0.0

    def step(self, blocks: Blocks[Any], refresh: Callable[[bool, float], Known]) -> float:
        """Seconds to wait after it. `refresh`: (prove, deadline) -> what is known then."""
        began = monotonic()
        exact = refresh(False, began + LONGEST).exact
        pause = min(1.0, max(PAUSE, 4 * (monotonic() - began)))
        if not exact and blocks.quiet and began >= self._due:
            began = monotonic()
            exact = refresh(True, began + LONGEST).exact
            took = monotonic() - began
            self._rest = min(LONG_REST, 4 * took if exact else max(4 * took, 2 * self._rest))
            self._due = began + took + self._rest
        return pause


class Begins(Protocol):
    def begin(self) -> None:
        """Nothing is known, and no thread runs."""


_everyone = WeakSet[Begins]()


def begins_anew_in_a_child(owner: Begins) -> None:
    """A thread of the parent does not run in a forked child, and what it was about to change is half changed there."""
    _everyone.add(owner)


def _in_a_forked_child() -> None:
    for owner in list(_everyone):
        owner.begin()


os.register_at_fork(after_in_child=_in_a_forked_child)
