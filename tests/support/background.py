"""Threads that tests leave behind."""

import threading

from tests.support.eventually import eventually


def nobody_counts(timeout: float = 10.0) -> None:
    """Waits until no thread counts in the background any more."""
    eventually(lambda: not any(thread.name == "counts" for thread in threading.enumerate()), timeout)
