"""Counting in the background: what it counts, until it is exact, until it ends."""

import threading
from itertools import count

import redis as redis_py

from joobq_admin.joobq import keys
from joobq_admin.joobq.counting import Counting, Counts
from tests.support.eventually import eventually
from tests.support.writers import interrupted


def nobody_counts(timeout: float = 10.0) -> None:
    """Waits until no thread counts in the background any more."""
    eventually(lambda: not any(thread.name in ("counts", "errors") for thread in threading.enumerate()), timeout)


def holding(port: int, after: int = 0, name: str = "counts") -> tuple[redis_py.Redis, threading.Event, threading.Event]:
    """A client with which a thread of this name waits ahead of all but `after` calls; "it waits", and "it goes on"."""
    waits, goes_on, calls = threading.Event(), threading.Event(), count()

    def hold() -> None:
        if threading.current_thread().name == name and next(calls) >= after:
            waits.set()
            goes_on.wait(10)

    return interrupted(port, hold), waits, goes_on


def fill(redis: redis_py.Redis, entries: int = 2000) -> None:
    """As workers do that never count."""
    redis.zadd(keys.DEAD, {b'{"n":%d,"queue":"q%d"}' % (n, n % 3): n for n in range(entries)})


def exact(counting_: Counting, timeout: float = 10.0) -> Counts:
    def look() -> Counts | None:
        now = counting_.counts()
        return now if now.exact else None

    found = eventually(look, timeout)
    assert found is not None
    return found
