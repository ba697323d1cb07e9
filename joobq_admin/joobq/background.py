"""Work in a thread of this process that goes on while somebody asks for what comes of it."""

import logging
import os
from collections.abc import Callable, Iterator
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Protocol
from weakref import WeakSet

from redis import exceptions

LINGER = 5.0  # seconds that the work goes on after the last question
LONG_PAUSE = 2.0  # seconds until it is begun again after Redis failed it

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
