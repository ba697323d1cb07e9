"""How much goes over the wire at once: no step stalls the other clients of a Redis."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

MAX_BATCH = 128  # records a script
MAX_BATCH_BYTES = 2 << 20  # of payloads; one that is larger goes alone


def batches(items: Iterable[T], most: int, size: Callable[[T], int] = lambda _: 0) -> Iterator[list[T]]:
    """The items in order, at most `most` of them and 2 MiB at a time."""
    batch, total = list[T](), 0
    for item in items:
        if batch and (len(batch) == most or total + size(item) > MAX_BATCH_BYTES):
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += size(item)
    if batch:
        yield batch
