"""Dead letters as many as a bench asks for: of 1.7 KB, dead of 40 errors, over 8 queues and a rare one."""

import json
from collections.abc import Iterator
from itertools import islice
from random import Random

import redis as redis_py

from joobq_admin.joobq import keys
from tests.support.letters import DIED, jid

RARE = 10
APART = 500  # ms, from one death to the next
CLASSES = ["Socket::ConnectError", "IO::TimeoutError", "KeyError", "DB::PoolTimeout", "SMTP::Refused"]
PLACES = ["connect", "read", "settle", "render", "deliver", "charge", "parse", "look_up"]
BACKTRACE = "\n".join(f"/app/src/mailer/{n:02d}_deliver.cr:{n * 7} in 'deliver_{n}'" for n in range(25))


def letters(n: int, chance: Random) -> Iterator[tuple[bytes, int]]:
    """Queues and errors by Zipf's law; the newest last."""
    queues = chance.choices([f"queue-{rank}" for rank in range(1, 9)], _zipf(8), k=n)
    for at in chance.sample(range(n), RARE):
        queues[at] = "rare"
    errors = [(cls, place) for place in PLACES for cls in CLASSES]
    for at, (queue, (cls, place)) in enumerate(zip(queues, chance.choices(errors, _zipf(40), k=n), strict=True)):
        error = {"failed_at": "2026-11-29T12:29:50Z", "message": f"{place} gave up on user{at}@example.com after 30 s"}
        error |= {"backtrace": BACKTRACE, "cause": "", "error_class": cls}
        fields = {"jid": jid(at), "queue": queue, "order": at, "retries": 0, "max_retries": 3, "expires": 5}
        fields |= {"status": "dead", "error": error}
        yield json.dumps(fields, separators=(",", ":")).encode(), DIED - APART * (n - at)


def fill(redis: redis_py.Redis, n: int) -> None:
    made = letters(n, Random(7))
    while some := dict(islice(made, 5_000)):
        redis.zadd(keys.DEAD, some)


def _zipf(n: int) -> list[float]:
    return [1 / rank for rank in range(1, n + 1)]
