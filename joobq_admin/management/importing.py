"""manage.py ledger import: records of elsewhere, line by line, while the gate is closed.

An interrupted import goes on where it was: a checkpoint beside the file says how far it came. A line that cannot be
taken is counted, told in a reject file beside it, and stops nothing. Importing twice changes nothing, so an import may
always begin anew; whenever the checkpoint is in doubt, it does.
"""

import fcntl
import json
import time
from argparse import Namespace
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import BinaryIO

from joobq_admin.joobq.delivery import AdmissionOutcome, Ledger
from joobq_admin.management import lines
from joobq_admin.management.files import Checkpoint, Line, Place, beside, lines_of
from joobq_admin.management.recording import recorded
from joobq_admin.management.rehearsal import CONFLICT, GATE_OPEN, TOO_LARGE, longest, rehearse
from joobq_admin.management.terminal import Exit, Terminal

SAVED_EVERY = 1.0  # seconds
REJECTED = {AdmissionOutcome.CONFLICT: CONFLICT, AdmissionOutcome.TOO_LARGE: TOO_LARGE}
STOPPED = {
    AdmissionOutcome.GATE_OPEN: "The gate was opened: nothing is imported while requests may be claimed.",
    AdmissionOutcome.FULL: "The ledger is full: prune it, or give the --max-records that its producers give.",
}


def import_(terminal: Terminal, asked: Namespace) -> Exit:
    ledger, path = asked.ledger, asked.file
    with path.open("rb") as file:
        gate = ledger.gate()
        if asked.dry_run:
            return rehearse(terminal, asked, file, gate)
        if gate is None:
            terminal.say(GATE_OPEN.format(asked.name))
            return Exit.STOPPED
        if not _alone(file):
            terminal.say(f"Another import of {path} is under way.")
            return Exit.STOPPED
        checkpoint = Checkpoint(beside(path, "checkpoint.json"), asked.name, file, gate)
        told = beside(path, "rejected.ndjson")
        with told.open("ab") as rejects:
            work = Import(ledger, file, rejects, checkpoint)
            stopped = _run(terminal, asked, work)
    if rejected := work.place.rejected:
        terminal.say(f"{rejected:,} {'line was' if rejected == 1 else 'lines were'} rejected: {told} says why.")
    else:
        told.unlink()
    if stopped:
        terminal.say(stopped)
    return Exit.STOPPED if stopped else Exit.LOOK if rejected else Exit.DONE


def _alone(file: BinaryIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _run(terminal: Terminal, asked: Namespace, work: "Import") -> str:
    """Why it stopped before the end; '' = it did not."""
    size, stopped, ended = asked.file.stat().st_size, "", False
    with recorded(terminal, work.ledger, "import", asked.reason) as did:
        work.begin()
        if work.place.number:
            terminal.say(f"It goes on after line {work.place.number:,}.")
        began = replace(work.place)
        try:
            with terminal.progress("import", size) as advance:
                advance(began.end)
                stopped = work.go_on(advance)
            ended = not stopped
        finally:
            place = work.place
            if accepted := place.accepted - began.accepted:
                did |= {"file": asked.file.name, "accepted": accepted, "rejected": place.rejected - began.rejected}
            work.end(ended)
            if not ended:
                terminal.say(f"It came to line {place.number:,}; the same command goes on from there.")
    told = {name: value for name, value in asdict(place).items() if name in ("accepted", "duplicate", "rejected")}
    terminal.line(ledger=asked.name, lines=place.number, **told)
    return stopped


class Import:
    """`place` says how far it came."""

    def __init__(self, ledger: Ledger, file: BinaryIO, rejects: BinaryIO, checkpoint: Checkpoint) -> None:
        self.ledger, self.file, self.rejects, self.checkpoint = ledger, file, rejects, checkpoint
        self.place = Place()

    def begin(self) -> None:
        """Where the checkpoint says, if all is there that was imported until then: Redis loses its newest writes first
        when it fails, so the last line tells for those before it.
        """
        place = self.checkpoint.load()
        if place and place.last is not None and self.rejects.tell() >= place.rejects:
            line = next(lines_of(self.file, longest(self.ledger), 0, place.last), None)
            if line and self._outcome(line) is AdmissionOutcome.DUPLICATE:
                self.place = place
        self.rejects.truncate(self.place.rejects)

    def go_on(self, advance: Callable[[int], None]) -> str:
        """To the end, or to what stops it: why."""
        place, due = self.place, time.monotonic() + SAVED_EVERY
        for line in lines_of(self.file, longest(self.ledger), place.number, place.end):
            try:
                outcome = self._outcome(line)
                reason = REJECTED.get(outcome, "")
            except ValueError as wrong:
                outcome, reason = None, str(wrong)
            if outcome in STOPPED:
                return STOPPED[outcome]
            if reason:
                place.rejected += 1
                place.rejects += self.rejects.write(
                    json.dumps({"line": line.number, "reason": reason}).encode() + b"\n"
                )
            else:
                place.accepted += outcome is AdmissionOutcome.ACCEPTED
                place.duplicate += outcome is AdmissionOutcome.DUPLICATE
                place.last = line.at
            advance(line.end - place.end)
            place.number, place.end = line.number, line.end
            if time.monotonic() >= due:
                self.end(False)
                due = time.monotonic() + SAVED_EVERY
        return ""

    def end(self, ended: bool) -> None:
        """The checkpoint stands until the end of the file was reached."""
        self.rejects.flush()
        if ended:
            self.checkpoint.remove()
        else:
            self.checkpoint.save(self.place)

    def _outcome(self, line: Line) -> AdmissionOutcome:
        """Raises ValueError for a line that cannot be taken."""
        return self.ledger.import_record(**asdict(lines.read(line.text))).outcome
