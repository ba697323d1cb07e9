"""A WATCH that survives nothing: the proof that not one byte of a key has changed for a while."""

import os
import weakref
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from redis import Redis, exceptions

from joobq_admin.joobq.scripts import Call

_LOST = (exceptions.ConnectionError, exceptions.TimeoutError)


class Guard:
    """Watches one key on a connection of its own, which is never in the client's pool: it costs the server one client.

    A WATCH dies with its connection, and an EXEC on the next one would succeed unguarded. So nobody else may hold this
    connection (a pool closes its own at will, a health check reconnects), after an error it is only asked for a new
    WATCH, and a forked child makes its own.
    """

    def __init__(self, redis: Redis, key: bytes) -> None:
        self._pool, self._key, self._pid, self._armed = redis.connection_pool, key, 0, False

    def arm(self) -> None:
        """Watches from now on. Raises what Redis says, or redis.ConnectionError or TimeoutError."""
        if self._pid != os.getpid():
            self._connection: Any = self._pool.connection_class(**self._pool.connection_kwargs)
            self._pid = os.getpid()
            weakref.finalize(self, self._connection.disconnect)  # with the guard, not whenever it is freed
        watch = [("UNWATCH",), ("WATCH", self._key)]
        try:
            self._ask(watch)
        except _LOST:  # closed while it was idle: opened again, once
            self._ask(watch)
        self._armed = True

    def proves(self, calls: Sequence[Call]) -> tuple[datetime, list[Any]] | None:
        """Runs `calls` in one EXEC if nothing has changed since the WATCH, which ends.

        Returns a moment, by the server's clock, until which nothing had changed, and the answers (errors among them).
        None: something may have changed and nothing was run, or the connection was lost and with it the answers.
        Raises the error of a call that Redis does not even queue; none was run.
        """
        armed, self._armed = self._armed and self._pid == os.getpid(), False
        if not armed:
            return None
        try:  # TIME comes before MULTI: a full Redis queues nothing, but an empty EXEC proves as much
            (seconds, micros), _, *_, answers = self._ask([("TIME",), ("MULTI",), *calls, ("EXEC",)])
        except _LOST:
            return None
        moment = datetime.fromtimestamp(int(seconds), UTC) + timedelta(microseconds=int(micros))
        return None if answers is None else (moment, answers)

    def _ask(self, calls: Sequence[Call]) -> list[Any]:
        """Sends all, reads all. Raises the first error when all have been read."""
        answers, errors = list[Any](), list[exceptions.ResponseError]()
        try:
            self._connection.send_packed_command(self._connection.pack_commands(calls), check_health=False)
            for _ in calls:
                try:
                    answers.append(self._connection.read_response())
                except exceptions.ResponseError as error:
                    errors.append(error)
        except BaseException:  # what was not read must not be taken for the next answer
            self._connection.disconnect()
            raise
        if errors:
            raise errors[0]
        return answers
