"""What a command says: lines of JSON on stdout, for machines; words and progress on stderr, for people."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum

from django.core.management.base import OutputWrapper
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

EVERY = 10.0  # seconds between lines of progress where there is no terminal


class Exit(IntEnum):
    """What a command ends with; documented in README."""

    DONE = 0
    STOPPED = 1  # it could not, or not to the end; words say why
    WRONG = 2  # it was not asked in a way that makes sense
    LOOK = 3  # done, and something needs a look: a corrupt record, a rejected line, a request that is not there
    UNRECORDED = 4  # done, and the audit log has no record of it
    INTERRUPTED = 130  # by Ctrl-C; the number is the shells' own


class Terminal:
    def __init__(self, stdout: OutputWrapper, stderr: OutputWrapper) -> None:
        self.stdout, self.stderr = stdout, stderr
        self.unrecorded = False

    def line(self, **facts: object) -> None:
        self.stdout.write(json.dumps(facts))

    def say(self, words: str) -> None:
        """Names and reasons may hold anything: what cannot be seen is written out, or it would steer the terminal."""
        plain = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in words)
        self.stderr.write("".join(plain), style_func=str)  # not in red, as Django writes

    @contextmanager
    def progress(self, doing: str, total: int) -> Iterator[Callable[[int], None]]:
        """Call what this gives with how many more are done; it begins at 0, and `total` is about how many there are."""
        if not self.stderr.isatty():
            yield self._lines(doing, total)
            return
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True)) as shown:
            task = shown.add_task(doing, total=total)
            yield lambda more: shown.advance(task, more)

    def _lines(self, doing: str, total: int) -> Callable[[int], None]:
        done, due = 0, time.monotonic() + EVERY

        def advance(more: int) -> None:
            nonlocal done, due
            done += more
            if time.monotonic() >= due:
                due = time.monotonic() + EVERY
                self.say(f"{doing}: {done:,} of {total:,}")

        return advance
