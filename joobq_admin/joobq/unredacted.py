"""Giving somebody an entry's exact bytes: first the record of who has them and why, then the bytes."""

from joobq_admin.joobq import keys, scripts
from joobq_admin.joobq.audit import AuditLog
from joobq_admin.joobq.cjson import queue_of
from joobq_admin.joobq.entry import Entry, EntryRef
from joobq_admin.joobq.operation import Operation
from joobq_admin.joobq.outcome import Answer, Outcome, outcome_of
from joobq_admin.joobq.scripts import Call


class Giving(Operation):
    """Needs an audit log."""

    def unredacted(self, ref: EntryRef) -> bytes | Outcome:
        """The bytes, only with a record. Done without them: recorded by this operation before, and gone since."""
        if not self.audit:
            raise ValueError("unredacted needs an audit log: who has the bytes is recorded first")
        here = dict[EntryRef, Entry]()

        def record() -> dict[EntryRef, Answer]:
            entries, answers = self._look_up("unredacted", [ref])
            here.update(entries)
            return answers | self._send_entries({each: self._call(entry) for each, entry in entries.items()})

        outcome = outcome_of([ref], record)
        return here[ref].raw if outcome.done and ref in here else outcome

    def _call(self, entry: Entry) -> Call:
        _, *who_and_why = self._who_and_why()
        args = (entry.raw, queue_of(entry.raw), *self._identity(entry), *who_and_why)
        return scripts.UNREDACTED.call((keys.DEAD, *AuditLog.KEYS), args)
