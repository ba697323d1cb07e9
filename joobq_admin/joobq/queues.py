"""Where a job is that is not dead: JoobQ's own lists, read only, and only their nearest jobs.

The front of a queue, which runs next, is the right end of its list.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from redis import Redis, exceptions

from joobq_admin.joobq import keys, scripts
from joobq_admin.joobq.entry import TIMES_FROM, TIMES_TO, read_score, to_bytes

LOOK, LOOK_BYTES = 200, 1 << 20  # jobs of each key, and bytes of all, that one look goes through: under 2 ms of Redis


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """What was seen of a job at `as_of`, by the server's clock."""

    as_of: datetime
    waiting: int | None  # jobs in `<queue>`; None when that key holds no list
    place: int | None  # in `<queue>`, from the front: 1 runs next
    processing: bool  # in `joobq:processing:<queue>`: a worker has it, or left it behind
    delayed: bool  # in `joobq:delayed_jobs`
    due: datetime | None  # when it will be retried, where its score there is a time
    whole: bool  # every job of the three keys was looked at: what was not seen is not there


def waiting(redis: Redis, queue: str) -> int | None:
    """Jobs that wait in this queue now; None when its key holds no list, or may not be read."""
    try:
        (length,) = scripts.read(redis, [("LLEN", to_bytes(queue))])
    except exceptions.ResponseError:
        return None
    return int(length)


def whereabouts(redis: Redis, queue: str, jid: str) -> Whereabouts:
    """Looks for a job by its jid. Raises Unreachable, or what Redis says."""
    name = to_bytes(queue)
    call = scripts.WHEREABOUTS.call(
        (name, keys.processing(name), keys.DELAYED), (to_bytes(jid), LOOK, LOOK_BYTES), read_only=True
    )
    ((seconds, length, place, running, due, whole),) = scripts.read(redis, [call])
    score = read_score(due) if due else 0
    return Whereabouts(
        as_of=datetime.fromtimestamp(int(seconds), UTC),
        waiting=None if length < 0 else length,
        place=place or None,
        processing=bool(running),
        delayed=bool(due),
        due=datetime.fromtimestamp(score / 1000, UTC) if TIMES_FROM <= score < TIMES_TO else None,
        whole=bool(whole),
    )
