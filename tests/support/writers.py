"""Everyone who writes to the dead set at once: JoobQ's workers that keep the counts, those that never do, operators."""

import random
import weakref
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from joobq_admin.joobq import keys, scripts
from joobq_admin.joobq.cjson import queue_of

QUEUES = [b"emails", b"default", rb"caf\u00e9", rb"a\"b", rb"r\/s", b"\xff\xfe", rb"x\ny"]
NO_TIME = 604800  # the score of a third of all dead letters
KEYS = (keys.DEAD, keys.COUNTS)


class Writers:
    """Random writes, reproducible by their seed. `legacy`: how many of the adds never count."""

    def __init__(self, client: redis.Redis, seed: int, legacy: float = 0.0) -> None:
        self.redis, self.random, self.legacy = client, random.Random(seed), legacy
        self.clock, self.written = 1_769_000_000_000, 0
        self.busy = 0.0  # how likely somebody writes at each call
        self.wrote_at = datetime.min.replace(tzinfo=UTC)  # the last time that somebody did, by the server's clock
        self._inside = False

    def __call__(self) -> None:
        """To be called wherever another client may come first: sometimes writes once or a few times."""
        if self._inside or self.random.random() >= self.busy:
            return
        self._inside = True
        for _ in range(self.random.choice((1, 1, 1, 2, 5))):
            self.write()
        seconds, micros = self.redis.time()
        self.wrote_at = datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=micros)
        self._inside = False

    def write(self) -> None:
        """One of all that happens to the set, as often as it does."""
        self.clock += self.random.choice((0, 0, 1, 50))
        kinds = {
            self.dies: 40,
            self.dies_without_a_time: 20,
            self.purge: 10,
            self.redrive: 5,
            self.dies_again: 10,
            self.exchange: 15,
        }
        self.random.choices(list(kinds), list(kinds.values()))[0]()

    def member(self) -> bytes:
        """Mostly a job; now and then one whose queue only cjson can tell, or nobody."""
        self.written += 1
        head = b'{"jid":"%016x","queue":' % self.random.getrandbits(64)
        ends = [b'"%s","n":%d}', b'"%s","n":NaN,"m":%d}', b'5,"q":"%s","n":%d}', b'"a%s","n":%d']
        end = self.random.choices(ends, [90, 5, 3, 2])[0]
        return head + end % (self.random.choice(QUEUES), self.written)

    def any(self) -> bytes | None:
        size = self.redis.zcard(keys.DEAD)
        return self.redis.zrange(keys.DEAD, at := self.random.randrange(size), at)[0] if size else None

    def add(self, score: float, *members: bytes) -> None:
        self.run(scripts.ADD, KEYS, score, *members)

    def dies(self) -> None:
        self.add(self.clock, *[self.member() for _ in range(self.random.choice((1, 1, 1, 2)))])

    def dies_without_a_time(self) -> None:
        """As an error handler does it, in a worker that counts or in one that does not."""
        score, member = self.random.choice((NO_TIME,) * 9 + (self.clock - 5000,)), self.member()
        if self.random.random() < self.legacy:
            self.redis.zadd(keys.DEAD, {member: score})
        else:
            self.add(score, member)

    def dies_again(self) -> None:
        """The same bytes once more: only their score changes."""
        if member := self.any():
            self.add(self.random.choice((self.clock, NO_TIME, self.clock - 3000, self.clock + 0.5)), member)

    def purge(self) -> None:
        if member := self.any():
            self.remove(member)

    def remove(self, member: bytes) -> None:
        self.run(scripts.REMOVE, KEYS, member, queue_of(member))

    def redrive(self) -> None:
        member = self.any()
        if member and (queue := queue_of(member)):
            self.run(scripts.REDRIVE, (keys.DEAD, queue, keys.retry_lock(b"1"), keys.COUNTS), member, member)

    def exchange(self) -> None:
        """One goes and another comes in its very place: no rank of any other entry tells."""
        if member := self.any():
            score = self.redis.zscore(keys.DEAD, member)
            self.remove(member)
            other = member[:20] + b"%x" % self.random.randrange(16) + member[21:]
            self.add(score, other.replace(b'"queue":"', b'"queue":"' + self.random.choice((b"", b"z"))))

    def run(self, script: scripts.Script, keys: tuple[bytes, ...], *args: Any) -> None:
        (reply,) = scripts.send(self.redis, [script.call(keys, args)])
        assert isinstance(reply, int), reply


def truth(client: redis.Redis) -> Counter[bytes]:
    """Entries per queue, by reading them all."""
    return Counter(queue_of(member) for member in client.zrange(keys.DEAD, 0, -1))


def in_hash(client: redis.Redis) -> Counter[bytes]:
    """What the counts say, without zeros."""
    return Counter({queue: int(n) for queue, n in client.hgetall(keys.COUNTS).items() if int(n)})


def text(counted: Counter[bytes]) -> Counter[str]:
    """The same with names as the library gives them."""
    return Counter({queue.decode("utf-8", "surrogateescape"): n for queue, n in counted.items()})


def interrupted(port: int, before: Callable[[], None], **options: Any) -> redis.Redis:
    """A client that calls `before` ahead of everything that it sends, on every connection."""

    class Connection(redis.Connection):
        def send_packed_command(self, command: Any, check_health: bool = True) -> Any:
            before()
            return super().send_packed_command(command, check_health)

    pool = redis.ConnectionPool(connection_class=Connection, port=port, retry=Retry(NoBackoff(), 0), **options)
    client = redis.Redis(connection_pool=pool)
    weakref.finalize(client, pool.disconnect)  # whatever else is freed with it, and in whatever order
    return client
