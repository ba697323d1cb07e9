"""A question that is asked with the first round trip of a thread, and so before anything of it is changed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any


class Condition:
    """`call` is a command that changes nothing; `check` gets its reply and raises what is to end everything else."""

    def __init__(self, call: tuple[Any, ...], check: Callable[[Any], None]) -> None:
        self.call, self.check = call, check
        self.tried = self.asked = False

    @contextmanager
    def being_asked(self) -> Iterator[None]:
        """Not once more by this very round trip; by the next one, should it fail."""
        self.tried = self.asked = True
        try:
            yield
        except BaseException:
            self.asked = False
            raise


_ours: ContextVar[Condition | None] = ContextVar("condition", default=None)


@contextmanager
def first(condition: Condition) -> Iterator[Condition]:
    """Within it this thread goes on reading and writing only if the condition holds."""
    before = _ours.set(condition)
    try:
        yield condition
    finally:
        _ours.reset(before)


def unasked() -> Condition | None:
    condition = _ours.get()
    return condition if condition and not condition.asked else None
