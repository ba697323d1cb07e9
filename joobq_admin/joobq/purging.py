"""A purge of everything, or of everything of one queue: for good, under one record.

Everything goes in one step. Of a queue those entries go that are there at the beginning: by `purge_queue` at once, or
in steps that keep nobody waiting. Then they are planned first: the set `joobq:admin:plan:<operation>` holds 16 bytes of
the digest of each. When all of the dead set was looked through, the purge is recorded, and nothing more is planned.
Then it is looked through again, and what is on the plan goes, off the plan in the very step that takes it out of the
dead set: the numbers are true however often a step is done, and by however many at once.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from itertools import chain, islice
from typing import NamedTuple

from redis import exceptions

from joobq_admin.joobq import keys, lookup, scripts
from joobq_admin.joobq.audit import AuditLog
from joobq_admin.joobq.entry import Entry, to_bytes
from joobq_admin.joobq.filters import in_queue
from joobq_admin.joobq.lookup import TOP, Cursor
from joobq_admin.joobq.operation import Operation, reason_of
from joobq_admin.joobq.outcome import AnswerLost, NotDone, Refusal
from joobq_admin.joobq.scripts import Call, Reply

BLOCK = 400  # entries of a step that are read at once, or fewer large ones
LEAST = 0.1  # seconds of reading that a step has, however short it is to be
CALL_BYTES = 1 << 20  # about what one call of a script holds
KEPT = timedelta(hours=1)  # a plan, after its last step
_KEPT_MS = KEPT // timedelta(milliseconds=1)
_OVER = b"over"
_OTHERS = 2  # what purge_all says where others are planned

Act = Callable[[Sequence[Entry], bool], None]


class Plan(NamedTuple):
    """`left`: planned entries that are still to go; when it is `over`, those that were not there any more."""

    left: int
    over: bool


class Step(NamedTuple):
    """`older`: where the next step begins; None = the dead set was looked through. `above`: entries newer than that."""

    older: Cursor | None
    above: int


class Purging(Operation):
    """What Operation raises; and AnswerLost for an answer that was lost: then it is done in part, or not, or all."""

    def purge_all(self, planned: int | None = None, queue: str = "") -> tuple[int, bool]:
        """Everything at once, or (`planned` entries of one queue) only the record of it.

        How many entries went, or are to go, and whether that was recorded before: then nothing is done.
        Raises NotDone when nothing was done, AnswerLost when that is not known.
        """
        of_queue = () if planned is None else (b"queue", to_bytes(queue))
        args = (self.id, "" if planned is None else planned, *of_queue, *self._who_and_why()) if self.audit else ()
        call = scripts.PURGE_ALL.call((keys.DEAD, keys.COUNTS, *(AuditLog.KEYS if self.audit else ())), args)
        went, before = self._numbers(call)
        return went, bool(before)

    def purge_all_planned(self, planned: int, queue: str) -> bool:
        """Records the purge of what is on the plan, if that are so many; else nothing is done. Needs an audit log."""
        args = (self.id, planned, b"queue", to_bytes(queue), *self._who_and_why())
        its_keys = (keys.DEAD, keys.COUNTS, *AuditLog.KEYS, keys.plan(self.id))
        _, how = self._numbers(scripts.PURGE_ALL.call(its_keys, args))
        return how != _OTHERS

    def purge_queue(self, queue: str) -> int:
        """Those entries of a queue that are there now; how many went."""
        with scripts.looking(Refusal.DEAD_BROKEN):
            first = {bytes.fromhex(entry.digest) for entry in lookup.every(self.redis, in_queue(queue))}
        planned, before = self.purge_all(len(first), queue) if self.audit else (len(first), False)
        if before:
            return planned
        gone, entries = 0, lookup.every(self.redis, in_queue(queue))
        try:
            while block := list(islice(entries, scripts.PIPELINE)):
                here = [entry for entry in block if bytes.fromhex(entry.digest) in first]
                calls = [self._purge_call(entry, for_good=True, recorded=False) for entry in here]
                replies = scripts.write(self.redis, calls) if calls else []
                gone += replies.count(Reply.DONE)
                if cut := [reply for reply in replies if reply not in (Reply.DONE, Reply.GONE)]:
                    break
            else:
                return gone
        except exceptions.RedisError as error:
            raise AnswerLost(f"{error} after {gone} entries") from error
        if gone or self.audit or not {Reply.UNKNOWN, Reply.NOT_SENT}.isdisjoint(cut):
            raise AnswerLost(f"{cut[0].name} after {gone} entries")
        raise NotDone(reason_of(cut[0]))

    def plan(self, queue: str, start: Cursor | None, seconds: float) -> Step:
        """Plans what is there of a queue from `start` on (None: the newest), for about so long. Needs an audit log."""

        def add(entries: Sequence[Entry], end: bool) -> None:
            if entries:
                args = (self.id, _KEPT_MS, *map(_planned_as, entries))
                self._numbers(scripts.PLAN.call((keys.plan(self.id), keys.AUDIT_INDEX), args))

        return self._look_through(queue, start, seconds, add)

    def purge_planned(self, queue: str, start: Cursor | None, seconds: float) -> Step:
        """Purges what is on the plan from `start` on (None: the newest), for about so long. It must be recorded.

        A plan is kept for an hour after the last step.
        """

        def purge(entries: Sequence[Entry], end: bool) -> None:
            blocks = list(_small(entries)) + ([[]] if end else [])
            for at, block in enumerate(blocks, 1):
                self._numbers(self._planned_call(queue, block, over=end and at == len(blocks)))

        return self._look_through(queue, start, seconds, purge)

    def planned(self) -> Plan | None:
        """What is left of the plan; None: there is none, or not any more."""
        key = keys.plan(self.id)
        held, over = scripts.read(self.redis, [("SCARD", key), ("SISMEMBER", key, _OVER)])
        return Plan(held - over, bool(over)) if held else None

    def size(self) -> int:
        """Entries in all, of every queue."""
        (size,) = scripts.read(self.redis, [("ZCARD", keys.DEAD)])
        return int(size)

    def _look_through(self, queue: str, start: Cursor | None, seconds: float, act: Act) -> Step:
        here, began = start or TOP, time.monotonic()
        until, deadline = began + seconds, began + max(seconds, LEAST)
        while True:
            with scripts.looking(Refusal.DEAD_BROKEN):
                page = lookup.walk(self.redis, here, BLOCK, in_queue(queue), budget=BLOCK, deadline=deadline)
            act(page.entries, page.older is None)
            if page.older is None or time.monotonic() >= until:
                return Step(page.older, page.above + page.scanned)
            here = page.older

    def _planned_call(self, queue: str, entries: Sequence[Entry], over: bool) -> Call:
        named = chain.from_iterable((_planned_as(entry), entry.raw) for entry in entries)
        args = (to_bytes(queue), _KEPT_MS, int(over), *named)
        return scripts.PURGE_PLANNED.call((keys.DEAD, keys.COUNTS, keys.plan(self.id)), args)

    def _numbers(self, call: Call) -> list[int]:
        """What a script says whose answer is numbers, when it did its work."""
        (reply,) = scripts.send(self.redis, [call])
        with scripts.looking():
            if isinstance(reply, exceptions.RedisError):
                raise reply
        if isinstance(reply, list):
            return list(map(int, reply))
        answer = scripts.answer(reply)
        if answer in (Reply.UNKNOWN, Reply.NOT_SENT):
            raise AnswerLost("the answer of a purge was lost")
        raise NotDone(reason_of(answer))


def _planned_as(entry: Entry) -> bytes:
    return bytes.fromhex(entry.digest)[:16]


def _small(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    """The same in blocks of no more than about CALL_BYTES."""
    block, size = list[Entry](), 0
    for entry in entries:
        block.append(entry)
        size += len(entry.raw)
        if size >= CALL_BYTES:
            yield block
            block, size = [], 0
    if block:
        yield block
