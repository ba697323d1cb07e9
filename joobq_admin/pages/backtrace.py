"""A backtrace as JoobQ writes it: the app's own lines in sight, those of Crystal and of libraries folded."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from joobq_admin.pages.tokens import plain
from joobq_admin.triage.redact import Redaction

YOURS, SAID = "your code", "what was said"
_library = re.compile(r"(?:/.*/)?lib/([^/]+)/").match


@dataclass(slots=True)
class Group:
    """Lines of a backtrace that follow each other and belong together; where not `app` they can be folded."""

    whose: str
    frames: list[tuple[str, str]] = field(default_factory=list)  # file:line:column, in 'method'

    @property
    def app(self) -> bool:
        return self.whose in (YOURS, SAID)

    @property
    def label(self) -> str:
        return f"{_lines(len(self.frames))} in {self.whose}"


@dataclass(frozen=True, slots=True)
class Frames:
    """A backtrace: its groups, all of it as text, and how much of it is the app's."""

    groups: list[Group]
    text: str
    sum: str


def frames(lines: Sequence[str], redaction: Redaction, most: int = 200) -> Frames:
    """Of lines that say something, `from file:line:column in 'method'`, `from ???` and `Caused by: …`.

    What is said before the first place is the error's message, which stands elsewhere. `most`: lines that are shown.
    """
    shown = plain(redaction.redacted_text("\n".join(lines[:most]))._replace(hidden=()))  # the * say enough
    groups: list[Group] = []
    for line in shown.split("\n"):
        at, method, name = line.removeprefix("from ").partition(" in '")
        if not line.startswith("from "):
            if not groups or not line:
                continue
            whose, at, method, name = SAID, line, "", ""
        elif at == "???":
            whose = groups[-1].whose if groups and not groups[-1].app else "unknown code"
        else:
            whose = _whose(at)
        if not groups or groups[-1].whose != whose:
            groups.append(Group(whose))
        groups[-1].frames.append((at, (method + name).strip()))
    places = sum(len(group.frames) for group in groups if group.whose != SAID)
    yours = sum(len(group.frames) for group in groups if group.whose == YOURS)
    return Frames(groups, shown, f"{_lines(yours)} of your code in {places}" if places else "no lines of code")


def _whose(at: str) -> str:
    """Whose code it is, by its file: Crystal's, a library's (its name), else the app's."""
    if at.startswith("/usr/") or "/crystal/" in at:
        return "Crystal"
    library = _library(at)
    return library[1] if library else YOURS


def _lines(count: int) -> str:
    return f"{count or 'no'} line{'s' * (count != 1)}"
