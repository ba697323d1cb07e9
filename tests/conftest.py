"""Fixtures for every test: private servers, the real dashboard, a real browser. Nothing is faked."""

import os
from collections.abc import Callable, Iterator

import pytest
import redis as redis_py
from hypothesis import settings

from tests.support.servers import KINDS, Proxy, Server, free_port

# The address must be known before Django's settings are read; the server behind it starts when a test first needs it.
PORT = free_port()
os.environ |= {
    "DJANGO_SETTINGS_MODULE": "joobq_admin.settings",
    "JOOBQ_ADMIN_AUTH": "dev",
    "JOOBQ_ADMIN_REDIS_URL": f"redis://127.0.0.1:{PORT}/0",
}
settings.register_profile("suite", deadline=None, derandomize=True)
settings.load_profile("suite")


@pytest.fixture(scope="session")
def running() -> Iterator[Callable[[str], Server]]:
    """One server of each kind for the whole session. Tests take `server`, which is emptied first."""
    servers: dict[str, Server] = {}

    def of_kind(kind: str) -> Server:
        if kind not in servers:
            servers[kind] = Server(kind, port=PORT if kind == "valkey" else 0)
        return servers[kind]

    yield of_kind
    for server in servers.values():
        server.close()


@pytest.fixture(params=KINDS)
def server(request: pytest.FixtureRequest, running: Callable[[str], Server]) -> Server:
    """An empty server; the test runs once on each kind. Configuration and users stay as they are: else take new_server."""
    server = running(request.param)
    server.client.flushall()
    return server


@pytest.fixture
def redis(server: Server) -> redis_py.Redis:
    """A client of `server`. Bytes in, bytes out."""
    return server.client


@pytest.fixture
def valkey(running: Callable[[str], Server]) -> Server:
    """The empty server that Django's settings of this session name: for tests of pages, which run once."""
    server = running("valkey")
    server.client.flushall()
    return server


@pytest.fixture
def new_server() -> Iterator[Callable[..., Server]]:
    """Makes servers that this test may stop, configure and break: new_server("redis7", "--maxmemory", "5mb")."""
    servers: list[Server] = []

    def make(kind: str = "valkey", *config: str, persist: bool = False, replica_of: Server | None = None) -> Server:
        servers.append(Server(kind, *config, persist=persist, replica_of=replica_of))
        return servers[-1]

    yield make
    for server in servers:
        server.close()


@pytest.fixture
def new_proxy() -> Iterator[Callable[[Server], Proxy]]:
    """Makes proxies that lose answers: new_proxy(server)."""
    proxies: list[Proxy] = []

    def make(server: Server) -> Proxy:
        proxies.append(Proxy(server.port))
        return proxies[-1]

    yield make
    for proxy in proxies:
        proxy.close()
