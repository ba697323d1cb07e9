"""One press of a button: looks up what it acts on, asks whether it may, sends each script once, says how it went."""

import re
import time
import uuid
from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import TypeVar

from redis import Redis

from joobq_admin.joobq import keys, lookup, scripts
from joobq_admin.joobq.audit import Actor, AuditLog, jid_key, what_was_sent, who_and_why
from joobq_admin.joobq.bin import Bin
from joobq_admin.joobq.cjson import queue_of
from joobq_admin.joobq.entry import Entry, EntryRef, is_uuid, job_key, to_bytes
from joobq_admin.joobq.outcome import AnswerLost, NotDone, Refusal, Refused, UnexpectedReply
from joobq_admin.joobq.redriven import CannotRedrive, Redriven, redriven
from joobq_admin.joobq.scripts import Call, Reply

T = TypeVar("T", str, EntryRef)

_operation_id = re.compile(r"[A-Za-z0-9-]{1,64}").fullmatch

#: What became of one thing that was asked for: a group of Outcome, or why it was refused.
Answer = str | Refused
DONE, MISSING, CONFLICT, UNKNOWN, UNSENT = "done", "missing", "conflicts", "unknown", "unsent"
_GROUP_OF = {
    Reply.DONE: DONE, Reply.DONE_BEFORE: DONE, Reply.THERE_ALREADY: DONE, Reply.GONE: MISSING,
    Reply.UNKNOWN: UNKNOWN, Reply.NOT_SENT: UNSENT,
}  # fmt: skip


class Operation:
    """`id`: letters, digits and hyphens, at most 64; minted when None. Recorded per (id, action, digest), when done."""

    def __init__(
        self, redis: Redis, audit: AuditLog | None, bin_: Bin | None, by: Actor | None, reason: str, id_: str | None
    ) -> None:
        if id_ is not None and not (isinstance(id_, str) and _operation_id(id_)):
            raise ValueError("an operation is named by 1 to 64 letters, digits and hyphens")
        self.redis, self.audit, self.bin, self.by, self.reason = redis, audit, bin_, by, reason
        self.id = id_ or str(uuid.uuid4())

    def redrive(self, refs: Sequence[EntryRef], lifetime: timedelta) -> dict[EntryRef, Answer]:
        """Of one job the newest entry that may be sent is tried, whatever its answer; the others are refused."""
        entries, answers = self._look_up("redrive", refs)
        now, pushes = int(time.time() * 1000), dict[EntryRef, Redriven]()
        for ref, entry in entries.items():
            try:
                pushes[ref] = redriven(entry.raw, now, lifetime // timedelta(milliseconds=1))
            except CannotRedrive as no:
                answers[ref] = Refused(ref, no.reason, no.detail)
        for ref in _others_of_a_job(refs, entries, pushes, answers):
            answers[ref] = Refused(ref, Refusal.SAME_JOB)
            del pushes[ref]
        answers |= self._send({ref: self._redrive_call(entries[ref], push) for ref, push in pushes.items()})
        return answers | self._with_types({ref: push.queue for ref, push in pushes.items()}, answers)

    def purge(self, refs: Sequence[EntryRef]) -> dict[EntryRef, Answer]:
        entries, answers = self._look_up("purge", refs)
        return answers | self._send({ref: self.purge_call(entry) for ref, entry in entries.items()})

    def restore(self, digests: Sequence[str]) -> dict[str, Answer]:
        assert self.bin
        binned = self.bin.get(digests)
        calls = {}
        for digest in digests:
            jid = binned[digest].entry.jid if digest in binned else None
            args = (self.id, digest, jid_key(to_bytes(jid or "")), *self._who_and_why())
            calls[digest] = scripts.RESTORE.call((keys.DEAD, keys.COUNTS, *AuditLog.KEYS, *Bin.KEYS), args)
        return self._send(calls)

    def purge_all(self, planned: int | None = None, queue: str = "") -> tuple[int, bool]:
        """Everything at once, or (`planned` entries of one queue) only the record of it.

        How many entries went, or are to go, and whether that was recorded before: then nothing is done.
        Raises NotDone when nothing was done, AnswerLost when that is not known.
        """
        of_queue = () if planned is None else (b"queue", to_bytes(queue))
        args = (self.id, "" if planned is None else planned, *of_queue, *self._who_and_why()) if self.audit else ()
        call = scripts.PURGE_ALL.call((keys.DEAD, keys.COUNTS, *(AuditLog.KEYS if self.audit else ())), args)
        (reply,) = scripts.send(self.redis, [call])
        if isinstance(reply, list):
            return int(reply[0]), bool(reply[1])
        answer = scripts.answer(reply)
        if answer in (Reply.UNKNOWN, Reply.NOT_SENT):
            raise AnswerLost("the answer of purge_all was lost")
        raise NotDone(reason_of(answer))

    def purge_call(self, entry: Entry, recorded: bool = True) -> Call:
        """`recorded=False`: one of many that one record stands for; for good."""
        set_keys, args = (keys.DEAD, keys.COUNTS), (entry.raw, queue_of(entry.raw))
        if not self.audit or not recorded:
            return scripts.REMOVE.call(set_keys, args)
        note, room = (self.bin.note(self.by, self.reason, self.id), self.bin.room) if self.bin else (b"", 0)
        return scripts.REMOVE.call(
            (*set_keys, *AuditLog.KEYS, *(Bin.KEYS if self.bin else ())),
            (*args, *self._identity(entry), note, room, *self._who_and_why()),
        )

    def _redrive_call(self, entry: Entry, push: Redriven) -> Call:
        set_keys = (keys.DEAD, push.queue, keys.retry_lock(_worker_jid(entry.jid)), keys.COUNTS)
        if not self.audit:
            return scripts.REDRIVE.call(set_keys, (entry.raw, push.raw))
        sent = what_was_sent(push.raw, push.changes)
        args = (entry.raw, push.raw, *self._identity(entry), *self._who_and_why(), *sent)
        return scripts.REDRIVE.call((*set_keys, *AuditLog.KEYS), args)

    def _with_types(self, queues: dict[EntryRef, bytes], answers: dict[EntryRef, Answer]) -> dict[EntryRef, Answer]:
        """NOT_A_LIST with what the queue's key holds instead, as Redis names it."""
        not_lists = [what for what, answer in answers.items() if _is_refused(answer, Refusal.NOT_A_LIST)]
        types = scripts.read(self.redis, [("TYPE", queues[ref]) for ref in not_lists])
        return {
            ref: Refused(ref, Refusal.NOT_A_LIST, kind.decode()) for ref, kind in zip(not_lists, types, strict=True)
        }

    def _identity(self, entry: Entry) -> tuple[str | bytes, ...]:
        return self.id, entry.digest, jid_key(to_bytes(entry.jid or ""))

    def _who_and_why(self) -> tuple[bytes, ...]:
        return who_and_why(self.by, self.reason)

    def _look_up(self, action: str, refs: Sequence[EntryRef]) -> tuple[dict[EntryRef, Entry], dict[EntryRef, Answer]]:
        """The entries that are here, and answers for the others."""
        entries, answers = lookup.find(self.redis, refs), dict[EntryRef, Answer]()
        missed = [ref for ref in refs if ref not in entries]
        if missed and self.audit:
            recorded = self.audit.all_recorded(self.id, action, [ref.digest for ref in missed])
            answers |= {ref: DONE for ref in missed if ref.digest in recorded}
        missed = [ref for ref in missed if ref not in answers]
        if missed:
            here = lookup.nearby(self.redis, {ref.jid for ref in missed if ref.jid}, {ref.digest for ref in missed})
            by_digest = {entry.digest: entry for entry in here}
            entries |= {ref: by_digest[ref.digest] for ref in missed if ref.digest in by_digest}
            answers |= {ref: _gone(ref, here) for ref in missed if ref not in entries}
        return entries, answers

    def _send(self, calls: dict[T, Call]) -> dict[T, Answer]:
        after = [log.trim_call() for log in (self.audit, self.bin) if log]
        replies = scripts.write(self.redis, list(calls.values()), after) if calls else []
        answers = dict[T, Answer]()
        for what, reply in zip(calls, replies, strict=True):
            group = _GROUP_OF.get(reply) if isinstance(reply, Reply) else None
            answers[what] = group or Refused(what, reason_of(reply))
        lost = [what for what, answer in answers.items() if answer == MISSING and isinstance(what, EntryRef)]
        if lost:
            here = lookup.nearby(self.redis, {ref.jid for ref in lost if ref.jid})
            answers |= {ref: _gone(ref, here) for ref in lost}
        return answers


def _others_of_a_job(
    refs: Sequence[EntryRef],
    entries: dict[EntryRef, Entry],
    may_be_sent: Collection[EntryRef],
    answers: dict[EntryRef, Answer],
) -> list[EntryRef]:
    """Those that must not be sent because another entry of their job is tried, or was sent by this operation before.

    An entry that is gone counts as tried when it was the newest: what became of it is not known here, and another in
    its place could be a second copy of the job.
    """
    jobs = defaultdict[str, list[EntryRef]](list)
    for ref in refs:
        entry = entries.get(ref)
        key = entry.job_key if entry else job_key(ref.jid) if ref.jid else None
        if key is not None:
            jobs[key].append(ref)
    others = []
    for deaths in jobs.values():
        deaths.sort(key=lambda ref: (ref.score, entries[ref].raw if ref in entries else b""), reverse=True)
        candidates = [ref for ref in deaths if ref in may_be_sent or ref not in entries]
        tried = next((ref for ref in candidates if answers.get(ref) == DONE), candidates[0] if candidates else None)
        others += [ref for ref in candidates if ref != tried and ref in may_be_sent]
    return others


def _is_refused(answer: Answer, why: Refusal) -> bool:
    return isinstance(answer, Refused) and answer.reason is why


def _gone(ref: EntryRef, here: Sequence[Entry]) -> Answer:
    """Those bytes are not there: is another entry of the job?"""
    return CONFLICT if ref.jid and any(entry.job_key == job_key(ref.jid) for entry in here) else MISSING


def reason_of(answer: Reply | Refusal) -> Refusal:
    """Why nothing was done; a script's refusals have the names of Refusal."""
    if isinstance(answer, Refusal):
        return answer
    if answer.name not in Refusal.__members__:
        raise UnexpectedReply(f"{answer.name} is no answer to this script")
    return Refusal[answer.name]


def _worker_jid(jid: str | None) -> bytes:
    """The jid as a worker writes it into the name of the retry lock: lower case, with hyphens."""
    if jid and is_uuid(jid):
        return str(uuid.UUID(job_key(jid))).encode()
    return to_bytes(jid or "")
