"""Waiting for what another process or thread will do."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def pause(seconds: float) -> None:
    threading.Event().wait(seconds)


def eventually(look: Callable[[], T], timeout: float = 10.0, every: float = 0.02) -> T:
    """The first true answer of `look`, asked again and again. AssertionError with the last answer after `timeout` s."""
    deadline = time.monotonic() + timeout
    while not (answer := look()):
        if time.monotonic() > deadline:
            raise AssertionError(f"still {answer!r} after {timeout} s")
        pause(every)
    return answer
