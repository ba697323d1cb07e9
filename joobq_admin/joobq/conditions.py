"""What is asked with the first round trip of a thread: before it what must hold, behind it what is good to know."""

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
        except BaseException:  # raised again: whatever ended it, nobody knows that it was asked
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


class Question:
    """`call` changes nothing; `reply`: what Redis answered, an error of it too; None while it has not."""

    def __init__(self, call: tuple[Any, ...]) -> None:
        self.call, self.asked = call, False
        self.reply: Any = None


_behind: ContextVar[Question | None] = ContextVar("question", default=None)


@contextmanager
def behind(question: Question) -> Iterator[Question]:
    """Within it the question goes with the first things that this thread reads, whose answers do not depend on it."""
    before = _behind.set(question)
    try:
        yield question
    finally:
        _behind.reset(before)


def unanswered() -> Question | None:
    question = _behind.get()
    return question if question and not question.asked else None
