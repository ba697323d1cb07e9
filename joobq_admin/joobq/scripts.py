"""The Lua scripts: loaded from lua/, sent exactly once, and their answers as names.

A write must never be sent again by the client after a time-out: the first copy may have worked. redis-py retries by
default (one EVAL was seen to arrive eleven times), so writes do not go through its `execute_command`: a connection is
taken, everything is sent once, each reply is read once. What was sent and not answered is UNKNOWN.
"""

import hashlib
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import Any, TypeVar

from redis import Redis, exceptions

from joobq_admin.joobq import conditions, refusals
from joobq_admin.joobq.outcome import AnswerLost, NotDone, Refusal, UnexpectedReply, Unreachable

_log = logging.getLogger(__name__)

PIPELINE = 50  # scripts a round trip: larger ones are no faster and stall other clients

_NO_ANSWER = (exceptions.ConnectionError, exceptions.TimeoutError, OSError)
# redis-py counts two answers of a server among the errors of the connection
_REFUSALS = (exceptions.ResponseError, exceptions.BusyLoadingError, exceptions.AuthenticationError)

Found = TypeVar("Found")

Call = tuple[Any, ...]  # one command as it goes over the wire


class Reply(IntEnum):
    """What a writing script says. A number that is not here raises: it is a script of another version."""

    DONE = 1
    DONE_BEFORE = 2
    THERE_ALREADY = 3
    GONE = 0
    NOT_A_LIST = -1
    AUDIT_BROKEN = -2
    NOT_ALLOWED = -3
    BIN_BROKEN = -4
    BIN_FULL = -5
    SAME_JOB = -6
    DEAD_BROKEN = -7
    UNKNOWN = -100  # ours, never a script's: the answer was lost
    NOT_SENT = -101  # ours: an earlier answer was lost, this one was not tried


_BY_SHA: dict[str, "Script"] = {}
_LUA = Path(__file__).parent / "lua"
_include = re.compile(rb"^--include (\w+)\n", re.M)


def _beside(script: Path, name: str) -> Path:
    return script.parent / "include" / f"{name}.lua"


class Script:
    """One file of lua/, with what it names by `--include`, out of include/ beside it. Its header is its contract."""

    def __init__(self, name: str) -> None:
        self.name, file = name, _LUA / f"{name}.lua"
        self.text = _include.sub(lambda line: _beside(file, line[1].decode()).read_bytes(), file.read_bytes())
        self.sha = hashlib.sha1(self.text, usedforsecurity=False).hexdigest()
        _BY_SHA[self.sha] = self

    def call(self, keys: Sequence[bytes], args: Sequence[Any] = (), *, read_only: bool = False) -> Call:
        """The command that runs it. A user without write rights may only run EVALSHA_RO."""
        return ("EVALSHA_RO" if read_only else "EVALSHA", self.sha, len(keys), *keys, *args)


ADD, REDRIVE, REMOVE, RESTORE, PURGE_ALL = map(Script, ("add", "redrive", "remove", "restore", "purge_all"))
UNREDACTED, PLAN, PURGE_PLANNED, NOTE = map(Script, ("unredacted", "plan", "purge_planned", "note"))
EMPTY, TRIM_AUDIT, TRIM_BIN, TAKE_TURN, END_TURN = map(
    Script, ("empty", "trim_audit", "trim_bin", "take_turn", "end_turn")
)
SEEK, SPREAD, RECORDS, COPIES, WHEREABOUTS = map(Script, ("seek", "spread", "records", "copies", "whereabouts"))
READ, RECOUNT, RANKS, SWAP = map(Script, ("read", "recount", "ranks", "swap"))


def write(redis: Redis, calls: Sequence[Call], after: Sequence[Call] = ()) -> list[Reply | Refusal]:
    """Sends writing scripts in pipelines of 50; one answer each, in order.

    The first lost answer ends it: what was not sent is NOT_SENT, and the same operation can go on later.
    `after`: calls sent behind every pipeline (trimming); when Redis refuses one, the log says so and nobody else.
    Raises Unreachable when nothing at all could be sent, UnexpectedReply for an answer that no script gives.
    """
    answers: list[Reply | Refusal] = []
    for start in range(0, len(calls), PIPELINE):
        block = calls[start : start + PIPELINE]
        try:
            replies = send(redis, [*block, *after])
        except Unreachable:
            if not answers:
                raise
            break
        for refused in (reply for reply in replies[len(block) :] if isinstance(reply, exceptions.ResponseError)):
            _log.warning("what is too old is not taken away: Redis said %s", refused)
        answers += map(answer, replies[: len(block)])
        if not {Reply.UNKNOWN, Reply.NOT_SENT}.isdisjoint(answers[start:]):
            break
    return answers + [Reply.NOT_SENT] * (len(calls) - len(answers))


def run(redis: Redis, call: Call) -> Any:
    """Sends one writing command once; what it answered.

    Raises the error that Redis says, Unreachable when nothing was sent, AnswerLost when the answer was lost.
    """
    (reply,) = send(redis, [call])
    if isinstance(reply, Reply):
        raise Unreachable("nothing was sent") if reply is Reply.NOT_SENT else AnswerLost("the answer was lost")
    if isinstance(reply, Exception):
        raise reply
    return reply


def read(redis: Redis, calls: Sequence[Call], aside: Sequence[Call] = ()) -> list[Any]:
    """Runs commands that change nothing in one round trip; one reply each, in order.

    `aside`: calls behind them that one can do without: the reply is None to one that Redis refuses.

    Reads may be sent again: a connection that was stale is replaced once. Raises the first error reply, and Unreachable
    when Redis does not answer.
    """
    if condition := conditions.unasked():
        with condition.being_asked():
            reply, *replies = read(redis, [condition.call, *calls], aside)
        condition.check(reply)
        return replies
    if not calls:
        return []
    question = conditions.unanswered()
    behind = [question.call] if question else []
    for last in (False, True):
        replies = send(redis, [*calls, *aside, *behind])
        if Reply.UNKNOWN not in replies[:1] or last:
            break
    if question:
        question.asked, question.reply = True, replies.pop()
    for at, reply in enumerate(replies):
        if isinstance(reply, Reply):
            raise Unreachable("Redis did not answer")
        if isinstance(reply, Exception):
            if at < len(calls):
                raise reply
            replies[at] = None
    return replies


def send(redis: Redis, calls: Sequence[Call]) -> list[Any]:
    """Calls, each sent once; a script that the server has forgotten did not run: it is sent again, once, with its text.

    Raises Unreachable when there was no connection.
    """
    read(redis, [])  # nothing is sent for a thread whose condition does not hold
    replies = _exchange(redis, calls)
    again = [at for at, reply in enumerate(replies) if isinstance(reply, exceptions.NoScriptError)]
    if again:
        late: list[Any]
        try:
            late = _exchange(redis, list(_with_texts(calls[at] for at in again)))
        except Unreachable:
            late = [Reply.NOT_SENT] * len(again)
        for at, reply in zip(again, late, strict=True):
            replies[at] = reply
    return replies


def _with_texts(calls: Iterable[Call]) -> Iterator[Call]:
    """The first call of each script with its text, which makes the server know it for those behind."""
    known = set[str]()
    for command, sha, *rest in calls:
        if sha in known:
            yield command, sha, *rest
        else:
            known.add(sha)
            yield command.replace("EVALSHA", "EVAL"), _BY_SHA[sha].text, *rest


def _exchange(redis: Redis, calls: Sequence[Call]) -> list[Any]:
    """Sends `calls` once in one go and reads one reply each: a value, an error of the server, or Reply.UNKNOWN."""
    pool, replies = redis.connection_pool, list[Any]()
    try:
        connection = pool.get_connection()  # may connect, and looks for a stale socket: nothing is sent yet
    except exceptions.AuthenticationError:
        raise  # it did answer
    except _NO_ANSWER as error:
        raise Unreachable(str(error)) from error
    try:
        connection.send_packed_command(connection.pack_commands(calls), check_health=False)
        for _ in calls:
            try:
                replies.append(connection.read_response(disconnect_on_error=False))
            except _REFUSALS as error:
                replies.append(error)
    except _NO_ANSWER:
        connection.disconnect()
        replies += [Reply.UNKNOWN] * (len(calls) - len(replies))
    except BaseException:  # a worker that is being stopped: leave no half-read replies to the next user
        connection.disconnect()
        raise
    finally:
        pool.release(connection)
    return replies


def answer(reply: object) -> Reply | Refusal:
    """The one place that turns a writing script's reply into a name. Raises UnexpectedReply for any other."""
    if isinstance(reply, Reply):
        return reply
    if isinstance(reply, int) and reply in _SCRIPTS_SAY:
        return Reply(reply)
    if refusal := refusals.refusal_of(reply):
        return refusal
    raise UnexpectedReply(f"{type(reply).__name__}: {reply!s:.200}")


_SCRIPTS_SAY = frozenset(reply.value for reply in Reply if reply > Reply.UNKNOWN)


@contextmanager
def looking(wrong_type: Refusal | None = None) -> Iterator[None]:
    """Before anything is sent. `wrong_type`: what it means that the key that is read holds another type."""
    try:
        yield
    except exceptions.RedisError as error:
        reason = wrong_type if refusals.wrong_type(error) else refusals.refusal_of(error)
        if not reason:
            raise
        raise NotDone(reason) from error


def or_else(otherwise: Found, look: Callable[[], Found]) -> Found:
    """Once scripts were sent nothing may raise any more: what they did would go untold."""
    try:
        return look()
    except (Unreachable, exceptions.RedisError):
        return otherwise
