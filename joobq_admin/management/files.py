"""The file of an import, read line by line; and how far the import came, in a checkpoint beside it."""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

from joobq_admin.joobq.delivery import Gate


@dataclass(frozen=True, slots=True)
class Line:
    """`text` is None when it is too long. It begins at byte `at` of the file and ends before `end`."""

    number: int
    text: bytes | None
    at: int
    end: int


def lines_of(file: BinaryIO, longest: int, number: int = 0, at: int = 0) -> Iterator[Line]:
    """From byte `at` on, behind line `number`; blank ones are passed over. Never more than one in memory."""
    file.seek(at)
    while text := file.readline(longest + 1):
        end, more = at + len(text), text
        while not more.endswith(b"\n") and (more := file.readline(longest)):
            end += len(more)
        number += 1
        if not text.isspace():
            yield Line(number, text if len(text) <= longest else None, at, end)
        at = end


def beside(file: Path, what: str) -> Path:
    """emails.ndjson has emails.<what> beside it, emails.1 has emails.1.<what>: no two files share one."""
    return file.with_name(f"{file.name.removesuffix('.ndjson')}.{what}")


@dataclass(slots=True)
class Place:
    """How far an import came: what it made of the first `number` lines, which end before byte `end` of the file."""

    number: int = 0
    end: int = 0
    last: int | None = None  # where the last line begins that was taken
    rejects: int = 0  # bytes of the reject file
    accepted: int = 0
    duplicate: int = 0
    rejected: int = 0


class Checkpoint:
    """Holds for one ledger, one content of the file and one closing of the gate: with another it is as if not there."""

    def __init__(self, path: Path, ledger: str, file: BinaryIO, gate: Gate) -> None:
        facts = os.stat(file.fileno())
        self.path = path
        self.of = {"ledger": ledger, "file": [facts.st_size, facts.st_mtime_ns], "gate": asdict(gate)}

    def load(self) -> Place | None:
        try:
            found = json.loads(self.path.read_bytes())
            return Place(**found["place"]) if found["of"] == self.of else None
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    def save(self, place: Place) -> None:
        """At once or not at all: a process that is killed leaves the one before."""
        new = self.path.with_name(f"{self.path.name}.new")
        new.write_text(json.dumps({"of": self.of, "place": asdict(place)}))
        new.replace(self.path)

    def remove(self) -> None:
        with suppress(FileNotFoundError):
            self.path.unlink()
