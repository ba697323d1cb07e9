"""JoobQ's own lists, read only. The front of a queue, which runs next, is the right end of its list."""

from redis import Redis, exceptions

from joobq_admin.joobq import scripts
from joobq_admin.joobq.entry import to_bytes


def waiting(redis: Redis, queue: str) -> int | None:
    """Jobs that wait in this queue now; None when its key holds no list, or may not be read."""
    try:
        (length,) = scripts.read(redis, [("LLEN", to_bytes(queue))])
    except exceptions.ResponseError:
        return None
    return int(length)
