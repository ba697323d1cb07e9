"""Sessions of people that ended before their time: who signed out, here or at whoever signs them in.

`joobq:admin:revoked:<id>` is a string: the unix second until which sessions of this id that began are over. It goes by
itself when none of them can be left.
"""

from collections.abc import Sequence
from datetime import timedelta

from redis import Redis

from joobq_admin.joobq import keys, scripts
from joobq_admin.joobq.conditions import Condition

ALL = 10**11  # of an id that belongs to one session alone: there is none that began later
MARGIN = timedelta(minutes=1)  # clocks differ


class SessionOver(Exception):
    """The session was ended elsewhere. Nothing more was read or changed by it."""


def still_on(ids: Sequence[str], began: int) -> Condition:
    """Holds while a session that began then, unix seconds, was ended by none of its ids; else raises SessionOver."""

    def check(ended: Sequence[bytes | None]) -> None:
        if any(began <= _second(until) for until in ended):
            raise SessionOver

    return Condition(("MGET", *map(keys.revoked, ids)), check)


def end(redis: Redis, id_: str, length: timedelta, until: int = ALL) -> None:
    """Ends the sessions of this id that began until then. `length`: of the longest session. Again is the same.

    Raises Unreachable or AnswerLost, or what Redis says.
    """
    (before,) = scripts.read(redis, [("GET", keys.revoked(id_))])
    last = max(until, _second(before))  # a logout that was told late ends no less
    scripts.run(redis, ("SET", keys.revoked(id_), last, "EX", int((length + MARGIN).total_seconds())))


def _second(value: bytes | None) -> int:
    return int(value) if value and value.isdigit() else -1
