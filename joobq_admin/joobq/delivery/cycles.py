"""A repair cycle that several go on with, step by step: it is one, whoever began it, and its numbers are true for all.

The hash `joobq:admin:repair:{<namespace>:<queue>}` says how far it is; it is kept for an hour after the last step.
"""

import re
import secrets
from collections.abc import Mapping, Sequence
from functools import partial

from redis import exceptions

from joobq_admin.joobq import keys, refusals, scripts
from joobq_admin.joobq.audit import Actor
from joobq_admin.joobq.delivery import asked
from joobq_admin.joobq.delivery.mending import Mending
from joobq_admin.joobq.delivery.shapes import MENDED, Cycle, Mended
from joobq_admin.joobq.entry import to_text
from joobq_admin.joobq.outcome import AnswerLost

A_TURN = 5_000  # ms after which another may take the step of one that does not end it
KEPT = 3_600_000  # ms after its last step
_FIELDS = (
    "operation", "by", "name", "began", "stepped", "turn", "until", "ended", "total", "cursor", "lost", *MENDED,
)  # fmt: skip


class Cycles(Mending):
    """See delivery.ledger.Ledger."""

    def cycle(self) -> Cycle | None:
        """The repair cycle that goes on, or the last one; None: there was none within the hour."""
        return _cycle(self._kept())

    def begin_cycle(self, operation: str, by: Actor, seconds: float) -> Cycle | None:
        """Takes a step of about so long of the cycle that goes on, and begins one when none does.

        One operation begins one cycle. Asked again after a lost answer it goes on where it is.
        """
        who, stats = asked.actor(by), self.stats()
        new = ("cursor", "records:0", "by", who.id, "name", who.name, "total", stats.records + stats.entries)
        zeros = (part for name in ("lost", *MENDED) for part in (name, 0))
        return self._step(asked.operation(operation), seconds, 1, (*new, *zeros))

    def go_on(self, seconds: float) -> Cycle | None:
        """Takes a step of the cycle that goes on, if none is under way. When it is done, or there is none: nothing."""
        return self._step("", seconds, 0, ())

    @property
    def _cycle_key(self) -> bytes:
        return keys.repair(self.namespace, self.queue)

    def _step(self, operation: str, seconds: float, begins: int, new: Sequence[object]) -> Cycle | None:
        turn = secrets.token_hex(8)
        args = (operation, turn, A_TURN, KEPT, begins, *new)
        mine, *fields = self._send(scripts.TAKE_TURN.call((self._cycle_key,), args))
        cycle = _cycle(_named(fields))
        if not (mine and cycle):
            return cycle
        at = cycle.done.cursor
        try:
            done = self.repair_for(seconds, at)
        except exceptions.RedisError as error:
            nothing, lost = Mended(at, 0, 0, 0, 0, 0), int(isinstance(error, AnswerLost))
            scripts.or_else(None, partial(self._end, cycle.operation, turn, nothing, lost))  # the next need not wait
            raise
        try:
            return _cycle(_named(self._end(cycle.operation, turn, done)), stepped=True)
        except AnswerLost:  # of the last step nobody else would record what the cycle came to
            found = self._kept()
            if (found.get("turn"), found.get("until")) != (turn, "0"):
                raise
            return _cycle(found, stepped=True)

    def _end(self, operation: str, turn: str, done: Mended, lost: int = 0) -> list[bytes]:
        numbers = (part for name in MENDED for part in (name, getattr(done, name)))
        args = (operation, turn, done.cursor, KEPT, "lost", lost, *numbers)
        fields: list[bytes] = self._send(scripts.END_TURN.call((self._cycle_key,), args))
        return fields

    def _kept(self) -> dict[str, str]:
        """The fields of a cycle, as far as they are there."""
        try:
            (values,) = self._read(("HMGET", self._cycle_key, *_FIELDS))
        except exceptions.ResponseError as error:
            if not refusals.wrong_type(error):
                raise
            return {}
        return {name: to_text(value) for name, value in zip(_FIELDS, values, strict=True) if value is not None}


def _named(flat: Sequence[bytes]) -> dict[str, str]:
    return dict(zip(map(to_text, flat[::2]), map(to_text, flat[1::2]), strict=True))


def _cycle(found: Mapping[str, str], stepped: bool = False) -> Cycle | None:
    """Of its fields. None for any others, as take_turn does: then a new one may begin."""
    try:
        cycle = Cycle(
            operation=found["operation"],
            by=Actor(found["by"], found["name"]),
            began_at=_number(found["began"]),
            stepped_at=_number(found["stepped"]),
            ended_at=_number(found["ended"]) if found["ended"] else None,
            total=_number(found["total"]),
            done=Mended(found["cursor"], *(_number(found[name]) for name in MENDED)),
            lost=_number(found["lost"]),
            stepped=stepped,
        )
        _number(found["until"])
        if cycle.ended_at is None:
            asked.repair_cursor(cycle.done.cursor)
    except (KeyError, ValueError):
        return None
    return cycle


def _number(text: str) -> int:
    if not re.fullmatch("[0-9]{1,15}", text):
        raise ValueError("no number of a cycle")
    return int(text)
