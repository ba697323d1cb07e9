"""Counting in the background: what it counts, until it is exact, until it ends."""

import threading

import redis as redis_py

from joobq_admin.joobq import keys
from joobq_admin.joobq.counting import Counting, Counts
from tests.support.eventually import eventually


def nobody_counts(timeout: float = 10.0) -> None:
    """Waits until no thread counts in the background any more."""
    eventually(lambda: not any(thread.name in ("counts", "errors") for thread in threading.enumerate()), timeout)


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
