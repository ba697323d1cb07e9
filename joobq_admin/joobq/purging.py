"""A purge of everything, or of everything of one queue: for good, under one record.

Everything goes in one step. Of a queue those entries go that are there at the beginning, in steps that keep nobody
waiting. They are planned first: the plan of the operation (see keys.plan) holds 16 bytes of the digest of each. When
all of the dead set was looked through, the purge is recorded, and nothing more is planned. Then it is looked through
again, and what is on the plan goes, off the plan in the very step that takes it out of the dead set: the numbers are
true however often a step is done, and by however many at once.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from itertools import chain
from typing import NamedTuple

from redis import exceptions

from joobq_admin.joobq import keys, lookup, scripts
from joobq_admin.joobq.audit import AuditLog
from joobq_admin.joobq.entry import Entry, to_bytes, to_text
from joobq_admin.joobq.filters import in_queue
from joobq_admin.joobq.lookup import TOP, Cursor
from joobq_admin.joobq.operation import Operation, reason_of
from joobq_admin.joobq.outcome import AnswerLost, NotDone, Refusal
from joobq_admin.joobq.scripts import Call, Reply

BLOCK = 400  # entries of a step that are read at once, or fewer large ones
LEAST = 0.1  # seconds of reading that a step has, however short it is to be
CALL_BYTES = 1 << 20  # about what one call of a script holds
ASKED = timedelta(minutes=10)  # that a plan is kept while nobody has said yes to it, after its last step
KEPT = timedelta(hours=1)  # one that was recorded, after its last step
_OVER = b"1"
_OTHERS = 2  # what purge_all says where others are planned

Act = Callable[[Sequence[Entry], bool], None]


class Plan(NamedTuple):
    """`left`: entries of `queue` that are still to go; when it is `over`, those that were not there any more."""

    queue: str
    left: int
    over: bool


class Step(NamedTuple):
    """`older`: where the next step begins; None = the dead set was looked through. `above`: entries newer than that."""

    older: Cursor | None
    above: int


class Purging(Operation):
    """What Operation raises; and AnswerLost for an answer that was lost: then it is done in part, or not, or all."""

    def purge_all(self) -> int:
        """Everything at once; how many entries went, or are recorded: then nothing is done.

        Raises NotDone when nothing was done, AnswerLost when that is not known.
        """
        args = (self.id, "", "", *self._who_and_why()) if self.audit else ()
        its_keys = (keys.DEAD, keys.COUNTS, *(AuditLog.KEYS if self.audit else ()))
        went, _ = self._numbers(scripts.PURGE_ALL.call(its_keys, args))
        return went

    def purge_queue(self, queue: str) -> int:
        """Those entries of a queue that are there now; how many went. Cut off, the same operation goes on with it."""
        planned, how = 0, _OTHERS
        while how == _OTHERS:  # somebody pressed the same, and plans as well
            _to_the_end(self.plan, queue)
            with scripts.looking():
                plan = self.planned()
            planned, how = plan.left if plan else 0, 0
            if self.audit:
                planned, how = self._record(planned, queue)
        try:
            _to_the_end(self.purge_planned, queue)
            plan = self.planned()
            scripts.run(self.redis, ("UNLINK", *keys.plan(self.id)))
        except (NotDone, exceptions.RedisError) as error:
            raise AnswerLost(f"{error}: some of {planned} entries went, or none") from error
        return planned - (plan.left if plan else 0)

    def plan(self, queue: str, start: Cursor | None, seconds: float) -> Step:
        """Plans what is there of a queue from `start` on (None: the newest), for about so long.

        Such a plan is kept for ten minutes after the last step. Another queue's stays as it is.
        """

        def add(entries: Sequence[Entry], end: bool) -> None:
            if entries or end:
                args = (self.id, to_bytes(queue), _ms(ASKED), *map(_planned_as, entries))
                self._numbers(scripts.PLAN.call((keys.AUDIT_INDEX, *keys.plan(self.id)), args))

        return self._look_through(queue, start, seconds, add)

    def planned(self) -> Plan | None:
        """What is left of the plan; None: there is none, or not any more."""
        head, *parts = keys.plan(self.id)
        (queue, over), *left = scripts.read(
            self.redis, [("HMGET", head, "queue", "over"), *(("SCARD", part) for part in parts)]
        )
        return None if queue is None else Plan(to_text(queue), sum(left), over == _OVER)

    def record(self, planned: int, queue: str) -> bool:
        """Records the purge of what is on the plan, if that are so many; else nothing is done. Needs an audit log."""
        _, how = self._record(planned, queue)
        return how != _OTHERS

    def purge_planned(self, queue: str, start: Cursor | None, seconds: float) -> Step:
        """Purges what is on the plan from `start` on (None: the newest), for about so long. It must be recorded.

        From then on a plan is kept for an hour after the last step.
        """

        def purge(entries: Sequence[Entry], end: bool) -> None:
            blocks = list(_small(entries)) + ([[]] if end else [])
            for at, block in enumerate(blocks, 1):
                self._numbers(self._planned_call(queue, block, over=end and at == len(blocks)))

        return self._look_through(queue, start, seconds, purge)

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
        args = (to_bytes(queue), _ms(KEPT), int(over), *named)
        return scripts.PURGE_PLANNED.call((keys.DEAD, keys.COUNTS, *keys.plan(self.id)), args)

    def _record(self, planned: int, queue: str) -> tuple[int, int]:
        args = (self.id, planned, _ms(KEPT), b"queue", to_bytes(queue), *self._who_and_why())
        its_keys = (keys.DEAD, keys.COUNTS, *AuditLog.KEYS, *keys.plan(self.id))
        entries, how = self._numbers(scripts.PURGE_ALL.call(its_keys, args))
        return entries, how

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


def _to_the_end(step: Callable[[str, Cursor | None, float], Step], queue: str) -> None:
    here = step(queue, None, LEAST).older
    while here:
        here = step(queue, here, LEAST).older


def _ms(time: timedelta) -> int:
    return time // timedelta(milliseconds=1)


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
