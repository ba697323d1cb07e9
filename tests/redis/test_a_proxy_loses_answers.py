"""The tests of lost answers lean on this: the script runs exactly once, whatever its caller hears of it."""

from collections.abc import Callable

import pytest
import redis as redis_py

from tests.support.eventually import eventually
from tests.support.servers import Proxy, Server

COUNT = "return redis.call('incr', 'n')"
Proxied = Callable[[Server], Proxy]


def test_it_passes_everything_on(server: Server, new_proxy: Proxied) -> None:
    proxy = new_proxy(server)
    assert proxy.connect().eval(COUNT, 0) == 1
    assert proxy.scripts == 1


def test_scripts_that_only_read_do_not_count(server: Server, new_proxy: Proxied) -> None:
    proxy = new_proxy(server)
    sha = server.client.script_load("return 1")
    proxy.swallow()
    assert proxy.connect().execute_command("EVALSHA_RO", sha, 0) == 1
    assert proxy.scripts == 0


def test_a_swallowed_answer(server: Server, new_proxy: Proxied) -> None:
    proxy = new_proxy(server)
    client = proxy.connect()
    proxy.swallow()
    with pytest.raises(redis_py.TimeoutError):
        client.eval(COUNT, 0)
    assert (server.client.get("n"), proxy.scripts) == (b"1", 1)
    proxy.passes()
    assert client.eval(COUNT, 0) == 2


def test_a_connection_cut_after_some_answers(server: Server, new_proxy: Proxied) -> None:
    proxy = new_proxy(server)
    client = proxy.connect()
    pipe = client.pipeline(transaction=False)
    for _ in range(10):
        pipe.eval(COUNT, 0)
    proxy.cut(after=len(":1\r\n") * 3)
    with pytest.raises(redis_py.ConnectionError):
        pipe.execute()
    eventually(lambda: server.client.get("n") == b"10")
    assert proxy.scripts == 10


def test_a_script_that_comes_late(server: Server, new_proxy: Proxied) -> None:
    proxy = new_proxy(server)
    client = proxy.connect()
    proxy.hold()
    with pytest.raises(redis_py.TimeoutError):
        client.eval(COUNT, 0)
    assert server.client.get("n") is None
    proxy.release()
    eventually(lambda: server.client.get("n") == b"1")
    assert proxy.scripts == 1


def test_a_server_that_comes_back_has_what_it_had(new_server: Callable[..., Server]) -> None:
    server = new_server("valkey", persist=True)
    server.client.set("a", 1)
    server.restart(hard=True)
    assert server.client.get("a") == b"1"


def test_a_replica_follows(new_server: Callable[..., Server]) -> None:
    first = new_server()
    replica = new_server(replica_of=first)
    first.client.set("a", 1)
    eventually(lambda: replica.client.get("a") == b"1")
    with pytest.raises(redis_py.ReadOnlyError):
        replica.client.set("a", 2)
