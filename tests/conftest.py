"""Fixtures for every test: private servers, the real dashboard, a real browser. Nothing is faked."""

import os
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import django
import pytest
import redis as redis_py
from django.test import Client
from django.test.client import ClientHandler
from django.test.utils import setup_test_environment, teardown_test_environment
from hypothesis import settings
from playwright.sync_api import Browser, Page, sync_playwright

from tests.support import chromium
from tests.support.background import nobody_counts
from tests.support.dashboard import Dashboard
from tests.support.provider import Provider
from tests.support.servers import KINDS, Proxy, Server, free_port
from tests.support.signing_in import by_oidc
from tests.support.trials import LAB

# The address must be known before Django's settings are read; the server behind it starts when a test first needs it.
PORT = free_port()
for name in [name for name in os.environ if name.startswith(("JOOBQ_ADMIN_", "REDIS_"))]:
    del os.environ[name]
os.environ |= {
    "DJANGO_SETTINGS_MODULE": "joobq_admin.settings",
    "JOOBQ_ADMIN_AUTH": "dev",
    "JOOBQ_ADMIN_REDIS_URL": f"redis://127.0.0.1:{PORT}/0",
}
settings.register_profile("ours", deadline=None, derandomize=not LAB)  # the same each time, but in the lab
settings.load_profile("ours")


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


def emptied(server: Server) -> Server:
    nobody_counts()  # a thread of the test before would write here
    server.client.flushall()
    return server


@pytest.fixture(params=KINDS)
def server(request: pytest.FixtureRequest, running: Callable[[str], Server]) -> Server:
    """An empty server; the test runs once on each kind. To change its configuration or users take new_server."""
    return emptied(running(request.param))


@pytest.fixture
def redis(server: Server) -> redis_py.Redis:
    """A client of `server`. Bytes in, bytes out."""
    return server.client


@pytest.fixture
def valkey(running: Callable[[str], Server]) -> Server:
    """The empty server that Django's settings of this session name: for tests of pages, which run once."""
    return emptied(running("valkey"))


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


@pytest.fixture(scope="session")
def with_django() -> Iterator[None]:
    django.setup()
    setup_test_environment()
    yield
    teardown_test_environment()


@pytest.fixture(scope="session")
def application(with_django: None) -> Iterator[ClientHandler]:
    """The application in this process, with its middleware, without CSRF checks."""
    handler = ClientHandler(enforce_csrf_checks=False)
    handler.load_middleware()
    with patch("joobq_admin.pages.limits.PRESSES", 10**6):  # tests press faster than people
        yield handler


@pytest.fixture
def client(application: ClientHandler, valkey: Server) -> Client:
    """Requests to the application in this process, as the admin `dev`, without CSRF checks; Redis is `valkey`."""
    client = Client(headers={"Host": "127.0.0.1"})
    client.handler = application
    return client


@pytest.fixture
def provider() -> Iterator[Provider]:
    """An OpenID provider that this test may spoil."""
    provider = Provider()
    yield provider
    provider.close()


@pytest.fixture
def oidc(client: Client, provider: Provider) -> Iterator[Client]:
    """Somebody who is not signed in, where `provider` signs people in; else as `client`."""
    with by_oidc(provider):
        yield client


@pytest.fixture(scope="session")
def running_dashboard(running: Callable[[str], Server]) -> Iterator[Dashboard]:
    with Dashboard(running("valkey").url) as dashboard:
        yield dashboard


@pytest.fixture
def dashboard(running_dashboard: Dashboard, valkey: Server) -> Dashboard:
    """The real dashboard at `.url`, where everyone is the admin `dev`; Redis is `valkey`, empty."""
    return running_dashboard


@pytest.fixture(scope="session")
def running_behind_a_proxy(running: Callable[[str], Server]) -> Iterator[Dashboard]:
    with Dashboard(running("valkey").url, auth="proxy") as dashboard:
        yield dashboard


@pytest.fixture
def guarded(running_behind_a_proxy: Dashboard, valkey: Server) -> Dashboard:
    """The real dashboard at `.url`, for those whom a proxy vouches for (`signed_in`); Redis is `valkey`, empty."""
    return running_behind_a_proxy


@pytest.fixture
def new_dashboard() -> Iterator[Callable[..., Dashboard]]:
    """Makes dashboards of one's own: new_dashboard(server.url, auth="proxy", JOOBQ_ADMIN_ENVIRONMENT="live")."""
    dashboards: list[Dashboard] = []

    def make(redis_url: str, auth: str = "dev", **environment: str) -> Dashboard:
        dashboards.append(Dashboard(redis_url, auth, **environment))
        return dashboards[-1]

    yield make
    for dashboard in dashboards:
        dashboard.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        yield browser
        browser.close()


@pytest.fixture
def new_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Makes pages, each of another person: new_page(chromium.PHONE, "dark", javascript=False, headers=signed_in("a")).

    The test fails when one of them logs an error, breaks the CSP or asks another machine for something.
    """
    opened = []

    def make(*args: Any, **options: Any) -> Page:
        context, watch = chromium.new_context(browser, *args, **options)
        opened.append((context, watch))
        return context.new_page()

    yield make
    for context, _ in opened:
        context.close()
    assert [problem for _, watch in opened for problem in watch.problems] == []


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """A page of 1440 x 900 in light colours."""
    return new_page()
