"""/healthz: does the process answer? /readyz: does Redis answer it?"""

from collections.abc import Callable

from tests.support.dashboard import Dashboard
from tests.support.servers import Server
from tests.support.wire import ask


def test_without_redis_the_process_is_alive_and_not_ready_and_needs_no_restart_when_redis_is_back(
    new_server: Callable[..., Server], new_dashboard: Callable[..., Dashboard]
) -> None:
    server = new_server()
    dashboard = new_dashboard(server.url, auth="proxy")

    def probed() -> tuple[int, int]:
        return ask(f"{dashboard.url}/healthz").status, ask(f"{dashboard.url}/readyz").status

    assert probed() == (200, 200)
    server.stop()
    assert probed() == (200, 503)
    assert ask(f"{dashboard.url}/readyz").headers["Retry-After"] == "5"
    server.start()
    assert probed() == (200, 200)
