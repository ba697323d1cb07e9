"""A WATCH dies with its connection. A tally must not take an EXEC on another connection for a proof."""

import json
import subprocess
import sys
from collections.abc import Callable

import pytest
import redis as redis_py

from joobq_admin.joobq import keys
from joobq_admin.joobq.cjson import queue_of
from joobq_admin.joobq.guard import Guard
from joobq_admin.joobq.tally import Tally
from tests.support.eventually import pause
from tests.support.servers import KINDS, Server
from tests.support.writers import truth


def fill(client: redis_py.Redis, entries: int = 500) -> None:
    client.zadd(keys.DEAD, {b'{"n":%d,"queue":"emails"}' % n: n for n in range(entries)})


def exchange(client: redis_py.Redis) -> None:
    """One goes and another comes in its place, which only a guard can tell."""
    (member,) = client.zrange(keys.DEAD, 7, 7)
    client.zrem(keys.DEAD, member)
    client.zadd(keys.DEAD, {b'{"n":7,"queue":"reports"}': 7})


def is_not_fooled(counted: Tally[bytes], server: Server) -> None:
    exchange(server.client)
    assert counted.refresh()
    assert counted.exact
    assert counted.counts == truth(server.client)


def test_a_guard_proves_once(redis: redis_py.Redis) -> None:
    guard = Guard(redis, keys.DEAD)
    assert guard.proves([]) is None, "it was never armed"
    guard.arm()
    assert guard.proves([("ECHO", "1"), ("ECHO", "2")])[1] == [b"1", b"2"]
    assert guard.proves([("ECHO", "1")]) is None
    guard.arm()
    redis.zadd(keys.DEAD, {"a": 1})
    assert guard.proves([("SET", "ran", "1")]) is None
    assert not redis.exists("ran")
    guard.arm()
    with pytest.raises(redis_py.ResponseError):
        guard.proves([("SET", "ran", "1"), ("NO SUCH COMMAND",)])
    assert not redis.exists("ran")
    guard.arm()
    assert guard.proves([]) is not None, "as good as new"


@pytest.mark.parametrize("health", [0, 0.05], ids=["plain", "with health checks"])
def test_connections_killed_by_the_server(server: Server, health: float) -> None:
    """A client of redis-py's own making connects again by itself."""
    fill(server.client)
    client = redis_py.Redis(port=server.port, health_check_interval=health)
    counted = Tally(client, keys.DEAD, queue_of)
    assert counted.refresh()
    server.client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    pause(1.2 * health)
    is_not_fooled(counted, server)
    client.close()


def test_a_pool_that_was_closed(server: Server) -> None:
    fill(server.client)
    client = server.connect()
    counted = Tally(client, keys.DEAD, queue_of)
    assert counted.refresh()
    client.connection_pool.disconnect()
    is_not_fooled(counted, server)


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_was_restarted(new_server: Callable[..., Server], kind: str) -> None:
    server = new_server(kind, persist=True)
    fill(server.client)
    counted = Tally(redis_py.Redis(port=server.port), keys.DEAD, queue_of)
    assert counted.refresh()
    server.restart()
    is_not_fooled(counted, server)
    counted.redis.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_replica_that_followed_another_primary(new_server: Callable[..., Server], kind: str) -> None:
    """Its whole data set is exchanged under the WATCH."""
    first, second, replica = new_server(kind), new_server(kind), new_server(kind)
    for primary in (first, second):
        fill(primary.client)
    exchange(second.client)
    counted = Tally(replica.client, keys.DEAD, queue_of)
    for primary in (first, second):
        replica.client.replicaof("127.0.0.1", primary.port)
        while truth(replica.client) != truth(primary.client):
            pause(0.02)
        assert counted.refresh()
        assert counted.exact
        assert counted.counts == truth(primary.client)


def test_a_change_while_the_guard_is_held(server: Server) -> None:
    fill(server.client)
    counted = Tally(server.client, keys.DEAD, queue_of)
    assert counted.refresh()
    read, first = counted.entries_read, counted.as_of
    assert counted.refresh()
    assert counted.entries_read == read, "nothing changed: nothing is read"
    assert first
    assert counted.as_of > first
    is_not_fooled(counted, server)


FORKS = """
import json, os, sys, redis
from joobq_admin.joobq import keys
from joobq_admin.joobq.guard import Guard
from joobq_admin.joobq.tally import Tally
client = redis.Redis(port=int(sys.argv[1]))
counted = Tally(client, keys.DEAD, len)
counted.refresh()
child = os.fork()
if not child:
    counted.refresh()
    del counted
    sys.exit(0)
os.waitpid(child, 0)
(member,) = client.zrange(keys.DEAD, 7, 7)
client.zrem(keys.DEAD, member)
client.zadd(keys.DEAD, {member + b" " * 40: 7})
counted.refresh()
print(json.dumps([counted.exact, counted.counts[len(member) + 40]]))
"""


def test_a_child_that_shares_the_connection(server: Server) -> None:
    """What a forked child does with its copy of the tally must not touch the guard of its parent."""
    fill(server.client, 50)
    done = subprocess.run(
        [sys.executable, "-c", FORKS, str(server.port)], capture_output=True, text=True, timeout=30, check=True
    )
    assert json.loads(done.stdout) == [True, 1]
