"""Every page that finds, groups and watches, one after the other, while Redis notes how long each command took."""

import re
import time
from collections.abc import Iterator
from statistics import median
from urllib.parse import urlencode

import redis as redis_py

from joobq_admin.joobq import keys
from joobq_admin.joobq.lookup import Cursor
from tests.bench.figures import Figure
from tests.bench.letters import APART
from tests.bench.listing import LIST, asking, memory
from tests.bench.stalls import watched
from tests.support.dashboard import Dashboard
from tests.support.eventually import eventually
from tests.support.letters import DIED, digest, jid
from tests.support.servers import Server

ROUNDS = 15
COUNTING = re.compile(rb"counted [\d,]+ of")
LONGEST, P99, REST, BY_QUEUE, BY_ERROR = 250, 5, 90, 70, 30  # asked: ms of a request, of a command; MB of a worker


def figures(server: Server, n: int) -> list[Figure]:
    """`server` holds `n` letters of `fill`."""
    with Dashboard(server.url) as ours, asking(ours, "") as ask:
        ask("/audit/")
        at_rest = memory(ours)
        ask(LIST)
        eventually(lambda: not COUNTING.search(ask(LIST)) and server.client.exists(keys.PROVED), timeout=600)
        with_queues = memory(ours)
        eventually(lambda: not COUNTING.search(ask("/dead-letters/groups/")), timeout=600)
        with_errors = memory(ours)
        took = dict[str, list[float]]()
        with watched(server.client, server.port) as stalls:
            for _ in range(ROUNDS):
                for what, address in _addresses(server.client, n):
                    began = time.perf_counter()
                    ask(address)
                    took.setdefault(what, []).append(1_000 * (time.perf_counter() - began))
        after = memory(ours)
    return [
        *(request(what, each) for what, each in took.items()),
        _at_most("commands meanwhile, p99 of scripts", stalls.p99, P99, "ms"),
        _at_most("commands meanwhile, the longest", stalls.longest, P99, "ms"),
        Figure("longest wait of one that pings", f"{stalls.ping:.1f} ms"),
        _at_most("memory of a worker at rest", at_rest, REST, "MB"),
        _at_most("with what is counted by queue", with_queues - at_rest, BY_QUEUE, "MB more"),
        _at_most("with what is counted by error", with_errors - with_queues, BY_ERROR, "MB more"),
        Figure("after all these pages", f"{after - with_errors:.0f} MB more"),
    ]


def _addresses(redis: redis_py.Redis, n: int) -> Iterator[tuple[str, str]]:
    ((raw, score),) = redis.zrange(keys.DEAD, n // 3, n // 3, withscores=True)
    entry = f"{LIST}{int(score)}-{digest(raw)[:16]}/"
    middle = Cursor(DIED - APART * (n // 2))
    yield "list", LIST
    yield "list, halfway", f"{LIST}?after={middle}"
    yield "a common queue", f"{LIST}?queue=queue-1"
    yield "a rare queue", f"{LIST}?queue=rare"
    yield "a queue that is not there", f"{LIST}?queue=none"
    yield "an error class", f"{LIST}?{urlencode({'error': 'DB::PoolTimeout'})}"
    yield "text that all have", f"{LIST}?q=gave+up"
    yield "text that one has", f"{LIST}?q=user{n // 2}%40example.com"
    yield "text that none has", f"{LIST}?q=nowhere"
    yield "text that none has, on from halfway", f"{LIST}?q=nowhere&after={middle}"
    yield "text in a rare queue", f"{LIST}?q=gave+up&queue=rare"
    yield "kind", f"{LIST}?kind=malformed"
    yield "since a time", f"{LIST}?since=2020-01-01"
    yield "by error", "/dead-letters/groups/"
    yield "news", f"{LIST}fresh?seen={DIED - APART * 1_000}.{n - 1_000}"
    yield "news of a text", f"{LIST}fresh?seen={DIED - APART * n}.1&q=nowhere"
    yield "an entry", entry
    yield "a jid", f"/jobs/{jid(n // 3)}/"
    yield "a jid that is not there", f"/jobs/{jid(n + 1)}/"


def request(what: str, took: list[float]) -> Figure:
    longest, half = max(took), median(took)
    return Figure(f"{what}, longest (p50)", f"{longest:.0f} ms ({half:.0f})", ask="<= 250 ms", met=longest <= LONGEST)


def _at_most(what: str, measured: float, most: float, unit: str) -> Figure:
    return Figure(what, f"{measured:.1f} {unit}", ask=f"<= {most} {unit}", met=measured <= most)
