"""How often a client speaks to its server."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from redis import Redis


@contextmanager
def sends(redis: Redis) -> Iterator[Callable[[], int]]:
    """Counts what goes out on the client's one idle connection: with sends(redis) as count: ...; count()."""
    trips, connection = 0, redis.connection_pool.get_connection()
    redis.connection_pool.release(connection)
    send = connection.send_packed_command

    def counted(*args: object, **options: object) -> None:
        nonlocal trips
        trips += 1
        send(*args, **options)

    connection.send_packed_command = counted
    try:
        yield lambda: trips
    finally:
        connection.send_packed_command = send
