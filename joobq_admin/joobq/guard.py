"""A WATCH that survives nothing: the proof that not one byte of a key has changed for a while."""

import os
from collections.abc import Sequence
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
        watch = [("UNWATCH",), ("WATCH", self._key)]
        try:
            self._ask(watch)
        except _LOST:  # closed while it was idle: opened again, once
            self._ask(watch)
        self._armed = True

    def proves(self, calls: Sequence[Call]) -> list[Any] | None:
        """Runs `calls` in one EXEC if nothing has changed since the WATCH, which ends. Their answers, or errors.

        None: something may have changed and nothing was run, or the connection was lost and with it the answers.
        Raises the error of a call that Redis does not even queue; none was run.
        """
        armed, self._armed = self._armed and self._pid == os.getpid(), False
        try:
            answers: list[Any] | None = self._ask([("MULTI",), *calls, ("EXEC",)]) if armed else None
        except _LOST:
            return None
        return answers

    def _ask(self, calls: Sequence[Call]) -> Any:
        """Sends all, reads all; the last answer, or the first error."""
        answer, errors = None, list[exceptions.ResponseError]()
        try:
            self._connection.send_packed_command(self._connection.pack_commands(calls), check_health=False)
            for _ in calls:
                try:
                    answer = self._connection.read_response()
                except exceptions.ResponseError as error:
                    errors.append(error)
        except BaseException:  # what was not read must not be taken for the next answer
            self._connection.disconnect()
            raise
        if errors:
            raise errors[0]
        return answer
