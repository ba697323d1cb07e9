"""How long a server serves nobody else: its own log of commands, and a client beside that only pings."""

import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection

import redis as redis_py

from tests.support.servers import connect

processes = multiprocessing.get_context("spawn")


def ping(port: int, ours: Connection) -> None:
    """Until it is told to end; then it says the longest answer, in ms."""
    client, longest = connect(port), 0.0
    client.ping()
    ours.send("ready")
    while not ours.poll(0.001):
        began = time.perf_counter()
        client.ping()
        longest = max(longest, 1_000 * (time.perf_counter() - began))
    ours.send(longest)


@dataclass
class Stalls:
    """In ms. The log has what scripts call too: a script counts as one command, of all others the longest counts."""

    p99: float = 0.0  # of the scripts
    longest: float = 0.0
    ping: float = 0.0


@contextmanager
def watched(redis: redis_py.Redis, port: int) -> Iterator[Stalls]:
    """Of all commands within, PINGs apart. Logging each costs time: measure rates elsewhere."""
    found, (ours, theirs) = Stalls(), processes.Pipe()
    pinger = processes.Process(target=ping, args=(port, theirs), daemon=True)
    pinger.start()
    ours.recv()
    redis.config_set("slowlog-max-len", 1_000_000)
    redis.config_set("slowlog-log-slower-than", 0)
    redis.slowlog_reset()
    try:
        yield found
    finally:
        redis.config_set("slowlog-log-slower-than", -1)
        ours.send("end")
        found.ping = ours.recv()
        pinger.join()
    log = [(each["duration"] / 1_000, each["command"]) for each in redis.slowlog_get(1_000_000)]
    scripts = sorted(ms for ms, command in log if command.startswith(b"EVAL"))
    found.p99 = scripts[int(0.99 * len(scripts))]
    found.longest = max(ms for ms, command in log if not command.startswith((b"PING", b"CONFIG", b"SLOWLOG")))
