"""One press of a button: looks up what it acts on, asks whether it may, sends each script once, says how it went."""

import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import TypedDict, TypeVar, Unpack

from redis import Redis

from joobq_admin.joobq import asked, keys, lookup, scripts, server
from joobq_admin.joobq.audit import ALL, Actor, AuditLog, as_recorded, jid_key, what_was_sent, who_and_why
from joobq_admin.joobq.bin import Bin
from joobq_admin.joobq.cjson import queue_of
from joobq_admin.joobq.entry import Entry, EntryRef, is_uuid, job_key, to_bytes
from joobq_admin.joobq.outcome import Answer, Refusal, Refused, UnexpectedReply, Unreachable
from joobq_admin.joobq.redriven import CannotRedrive, Redriven, redriven
from joobq_admin.joobq.scripts import Call, Reply, Script

T = TypeVar("T", str, EntryRef)
Found = TypeVar("Found")

DONE, MISSING, CONFLICT, UNKNOWN, UNSENT = "done", "missing", "conflicts", "unknown", "unsent"
_GROUP_OF = {
    Reply.DONE: DONE, Reply.DONE_BEFORE: DONE, Reply.THERE_ALREADY: DONE, Reply.GONE: MISSING,
    Reply.UNKNOWN: UNKNOWN, Reply.NOT_SENT: UNSENT,
}  # fmt: skip

_TRIED = {MISSING: "gone", CONFLICT: "changed", UNKNOWN: "outcome unknown", UNSENT: "not sent"}


class Press(TypedDict, total=False):
    """Who presses, why, and as what operation: 1 to 64 letters, digits and hyphens; minted when None."""

    by: Actor | None
    reason: str
    operation: str | None


class Operation:
    """`id`: letters, digits and hyphens, at most 64; minted when None. Recorded per (id, action, digest), when done.

    Raises NotDone when Redis refuses to be looked at, Unreachable when it does not answer: nothing was sent then.
    """

    def __init__(self, redis: Redis, audit: AuditLog | None, bin_: Bin | None, **press: Unpack[Press]) -> None:
        self.by, self.reason, id_ = press.get("by"), press.get("reason", ""), press.get("operation")
        asked.press(self.by, self.reason, id_)
        self.redis, self.audit, self.bin = redis, audit, bin_
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
        others = _others_of_a_job(refs, entries, pushes, answers)
        pushes = {ref: push for ref, push in pushes.items() if ref not in others}
        answers |= self._send_entries({ref: self._redrive_call(entries[ref], push) for ref, push in pushes.items()})
        answers |= self._with_types({ref: push.queue for ref, push in pushes.items()}, answers)
        tried = {ref: _what_was_tried(entries.get(other), answers[other]) for ref, other in others.items()}
        return answers | {ref: Refused(ref, Refusal.SAME_JOB, what) for ref, what in tried.items()}

    def purge(self, refs: Sequence[EntryRef], for_good: bool = False) -> dict[EntryRef, Answer]:
        entries, answers = self._look_up("purge", refs)
        return answers | self._send_entries({ref: self._purge_call(entry, for_good) for ref, entry in entries.items()})

    def restore(self, digests: Sequence[str]) -> dict[str, Answer]:
        return self._from_the_bin(digests, scripts.RESTORE, (keys.DEAD, keys.COUNTS, *AuditLog.KEYS, *Bin.KEYS))

    def empty(self, digests: Sequence[str]) -> dict[str, Answer]:
        return self._from_the_bin(digests, scripts.EMPTY, (*AuditLog.KEYS, *Bin.KEYS))

    def _from_the_bin(self, digests: Sequence[str], script: Script, its_keys: Sequence[bytes]) -> dict[str, Answer]:
        assert self.bin
        with scripts.looking(Refusal.BIN_BROKEN):
            jids = {digest: binned.entry.jid for digest, binned in self.bin.each(digests)}
        calls = {}
        for digest in digests:
            args = (self.id, digest, jid_key(to_bytes(jids.get(digest) or "")), *self._who_and_why())
            calls[digest] = script.call(its_keys, args)
        return self._send(calls)

    def _purge_call(self, entry: Entry, for_good: bool) -> Call:
        """Without a bin it is for good."""
        set_keys, args = (keys.DEAD, keys.COUNTS), (entry.raw, queue_of(entry.raw))
        if not self.audit:
            return scripts.REMOVE.call(set_keys, args)
        note = self.bin.note(self.by, self.reason, self.id) if self.bin and not for_good else b""
        room = self.bin.room if self.bin else 0
        return scripts.REMOVE.call(
            (*set_keys, *AuditLog.KEYS, *(Bin.KEYS if self.bin else ())),
            (*args, *self._identity(entry), note, room, *self._who_and_why()),
        )

    def _redrive_call(self, entry: Entry, push: Redriven) -> Call:
        set_keys = (keys.DEAD, push.queue, keys.retry_lock(_worker_jid(entry.jid)), keys.COUNTS)
        if not self.audit:
            return scripts.REDRIVE.call(set_keys, (entry.raw, push.raw))
        sent = what_was_sent(push.raw, push.changes)
        job = jid_key(to_bytes(entry.job_key or ""))
        args = (entry.raw, push.raw, *self._identity(entry), job, *self._who_and_why(), *sent)
        return scripts.REDRIVE.call((*set_keys, *AuditLog.KEYS), args)

    def _with_types(self, queues: dict[EntryRef, bytes], answers: dict[EntryRef, Answer]) -> dict[EntryRef, Answer]:
        """NOT_A_LIST with what the queue's key holds instead, as Redis names it."""
        not_lists = [what for what, answer in answers.items() if _is_refused(answer, Refusal.NOT_A_LIST)]
        types = scripts.or_else(
            list[bytes](), lambda: scripts.read(self.redis, [("TYPE", queues[ref]) for ref in not_lists])
        )
        return {
            ref: Refused(ref, Refusal.NOT_A_LIST, kind.decode()) for ref, kind in zip(not_lists, types, strict=False)
        }

    def _identity(self, entry: Entry) -> tuple[str | bytes, ...]:
        return self.id, entry.digest, jid_key(to_bytes(entry.jid or ""))

    def _who_and_why(self) -> tuple[bytes, ...]:
        return who_and_why(self.by, self.reason)

    def _look_up(self, action: str, refs: Sequence[EntryRef]) -> tuple[dict[EntryRef, Entry], dict[EntryRef, Answer]]:
        """The entries that are here and were not acted on by this operation before, and answers for the others."""
        with scripts.looking(Refusal.DEAD_BROKEN):
            entries = lookup.find(self.redis, refs)
        deaths = Counter(_job(ref, entries) for ref in refs)
        unsure = [ref for ref in refs if ref not in entries or deaths[_job(ref, entries)] > 1]
        answers = dict[EntryRef, Answer]()
        if unsure and self.audit:
            with scripts.looking(Refusal.AUDIT_BROKEN):
                recorded = self.audit.all_recorded(self.id, action, [ref.digest for ref in unsure])
            answers |= {ref: DONE for ref in unsure if ref.digest in recorded}
        entries = {ref: entry for ref, entry in entries.items() if ref not in answers}
        missed = [ref for ref in refs if ref not in entries and ref not in answers]
        if missed:
            with scripts.looking(Refusal.DEAD_BROKEN):
                jids = {ref.jid for ref in missed if ref.jid}
                here = lookup.nearby(self.redis, jids, {ref.digest for ref in missed}).entries
            by_digest = {entry.digest: entry for entry in here}
            entries |= {ref: by_digest[ref.digest] for ref in missed if ref.digest in by_digest}
            answers |= {ref: _gone(ref, here) for ref in missed if ref not in entries}
        if not {MISSING, CONFLICT}.isdisjoint(answers.values()):
            self.ask_the_primary()
        return entries, answers

    def ask_the_primary(self) -> None:
        """Raises NotDone for a replica, which may lag and must not say "gone": it refuses what would change nothing."""
        (reply,) = scripts.send(self.redis, [server.no_change()])
        if isinstance(reply, Reply):
            raise Unreachable("Redis did not answer")
        if isinstance(reply, Exception):
            with scripts.looking():
                raise reply

    def done_before(self, action: str, jids: Sequence[str]) -> dict[str, Answer]:
        """Of these jids those whose entry this operation has acted on, or another entry of the same job."""
        if not self.audit:
            return {}
        with scripts.looking(Refusal.AUDIT_BROKEN):
            records = self.audit.of_operation(self.id, action, ALL)
        recorded = {record.jid for record in records}
        answers = dict[str, Answer]()
        sent = {job_key(jid) for jid in recorded} if action == "redrive" else set[str]()
        for jid in jids:
            if as_recorded(jid) in recorded:
                answers[jid] = DONE
            elif job_key(jid) in sent:
                answers[jid] = Refused(jid, Refusal.SAME_JOB)
        return answers

    def _send_entries(self, calls: dict[EntryRef, Call]) -> dict[EntryRef, Answer]:
        answers = self._send(calls)
        lost = [ref for ref, answer in answers.items() if answer == MISSING]
        if lost:
            jids = {ref.jid for ref in lost if ref.jid}
            here = scripts.or_else(list[Entry](), lambda: lookup.nearby(self.redis, jids).entries)
            answers |= {ref: _gone(ref, here) for ref in lost}
        return answers

    def _send(self, calls: dict[T, Call]) -> dict[T, Answer]:
        after = [log.trim_call() for log in (self.audit, self.bin) if log]
        replies = scripts.write(self.redis, list(calls.values()), after) if calls else []
        answers = dict[T, Answer]()
        for what, reply in zip(calls, replies, strict=True):
            group = _GROUP_OF.get(reply) if isinstance(reply, Reply) else None
            answers[what] = group or Refused(what, reason_of(reply))
        return answers


def _others_of_a_job(
    refs: Sequence[EntryRef],
    entries: dict[EntryRef, Entry],
    may_be_sent: Collection[EntryRef],
    answers: dict[EntryRef, Answer],
) -> dict[EntryRef, EntryRef]:
    """Those that must not be sent, each with the entry of its job that is tried, or was sent by this operation before.

    An entry that is gone counts as tried when it was the newest: what became of it is not known here, and another in
    its place could be a second copy of the job.
    """
    jobs = defaultdict[str | EntryRef, list[EntryRef]](list)
    for ref in refs:
        jobs[_job(ref, entries)].append(ref)
    others = dict[EntryRef, EntryRef]()
    for deaths in jobs.values():
        deaths.sort(key=lambda ref: (ref.score, entries[ref].raw if ref in entries else b""), reverse=True)
        candidates = [ref for ref in deaths if ref in may_be_sent or ref not in entries]
        tried = next((ref for ref in candidates if answers.get(ref) == DONE), candidates[0] if candidates else None)
        others |= {ref: tried for ref in candidates if tried and ref != tried and ref in may_be_sent}
    return others


def _what_was_tried(entry: Entry | None, answer: Answer) -> str:
    """Of the one entry of a job that was: which, and how it went."""
    died = entry.died_at if entry else None
    which = f"The death of {died:%H:%M:%S}" if died else "Another death of it"
    if answer == DONE:
        return f"{which} was redriven"
    return f"{which} was tried: {answer.reason if isinstance(answer, Refused) else _TRIED[answer]}"


def _job(ref: EntryRef, entries: dict[EntryRef, Entry]) -> str | EntryRef:
    """One name for all entries of a job; an entry without a jid is a job of its own."""
    key = entries[ref].job_key if ref in entries else job_key(ref.jid) if ref.jid else None
    return ref if key is None else key


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
