"""What a state change can answer. A race that can be foreseen is an outcome here, never an exception."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum, unique
from typing import TypeVar

from redis import exceptions

from joobq_admin.joobq.entry import EntryRef


@unique
class Refusal(StrEnum):
    """Why nothing was done. In the order of the checks: the first that applies is the answer."""

    # the entry
    NOT_AN_OBJECT = "NOT_AN_OBJECT"
    NOT_STRICT_JSON = "NOT_STRICT_JSON"
    PLACEHOLDER = "PLACEHOLDER"
    BAD_FIELD = "BAD_FIELD"
    JID_NOT_UUID = "JID_NOT_UUID"
    NO_QUEUE = "NO_QUEUE"
    RESERVED_QUEUE = "RESERVED_QUEUE"
    QUEUE_NAME = "QUEUE_NAME"
    SAME_JOB = "SAME_JOB"
    # a key in Redis, or the rights to it
    NOT_A_LIST = "NOT_A_LIST"
    DEAD_BROKEN = "DEAD_BROKEN"
    AUDIT_BROKEN = "AUDIT_BROKEN"
    BIN_BROKEN = "BIN_BROKEN"
    BIN_FULL = "BIN_FULL"
    NOT_ALLOWED = "NOT_ALLOWED"
    # the server, by its own word; nothing has changed
    READONLY = "READONLY"
    OOM = "OOM"
    BUSY = "BUSY"
    LOADING = "LOADING"
    MISCONF = "MISCONF"
    NOREPLICAS = "NOREPLICAS"
    MASTERDOWN = "MASTERDOWN"
    CLUSTERDOWN = "CLUSTERDOWN"
    KILLED = "KILLED"

    @property
    def by_server(self) -> bool:
        """Did Redis itself take no changes just then? Trying again later may do."""
        return self in _BY_SERVER


_BY_SERVER = frozenset(list(Refusal)[list(Refusal).index(Refusal.READONLY) :])

What = str | EntryRef  # what was asked for: a jid, or one exact entry
T = TypeVar("T", str, EntryRef)


@dataclass(frozen=True, slots=True)
class Refused:
    """`detail` says what exactly was found, for people; it may be empty, and is no part of what is equal."""

    what: What
    reason: Refusal
    detail: str = field(default="", compare=False)


#: What became of one thing that was asked for: a group of Outcome, or why it was refused.
Answer = str | Refused


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything that was asked for, each in exactly one group, in the order of asking."""

    done: tuple[What, ...] = ()
    missing: tuple[What, ...] = ()  # someone else got there first
    conflicts: tuple[What, ...] = ()  # the job is there, those bytes are not
    refused: tuple[Refused, ...] = ()
    unknown: tuple[What, ...] = ()  # sent, but the answer was lost
    unsent: tuple[What, ...] = ()  # not tried: an earlier answer was lost. The same operation can go on later


class Unreachable(exceptions.ConnectionError, ConnectionError):
    """No connection to Redis: nothing was sent, so nothing was done. One of redis-py's connection errors, too."""


class AnswerLost(exceptions.ConnectionError, ConnectionError):
    """It was sent, and the answer was lost: it may be done or not. The same operation again is safe."""


class NotDone(RuntimeError):
    """Nothing was done, for this reason: where an answer is a number and has no room for it."""

    def __init__(self, reason: Refusal) -> None:
        super().__init__(reason)
        self.reason = reason


class UnexpectedReply(RuntimeError):
    """A script answered what it never answers: it is not the one that this code knows."""


def outcome_of(wanted: Sequence[T], act: Callable[[], Mapping[T, Answer]]) -> Outcome:
    """What became of each; of all the same when nothing was sent because Redis refused to be looked at."""
    groups, refused = defaultdict[str, list[What]](list), list[Refused]()
    answers: Mapping[T, Answer]
    try:
        answers = act()
    except NotDone as no:
        answers = {what: Refused(what, no.reason) for what in wanted}
    for what in wanted:
        answer = answers[what]
        if isinstance(answer, Refused):
            refused.append(answer)
        else:
            groups[answer].append(what)
    return Outcome(refused=tuple(refused), **{group: tuple(whats) for group, whats in groups.items()})
