"""A Redis that the scripts cannot run on: with it nothing starts, and when it comes later /readyz says so."""

import subprocess
from collections.abc import Callable

from tests.support.dashboard import COMMAND, ROOT, Dashboard
from tests.support.servers import Server, as_cluster, free_port
from tests.support.wire import ask

A_CLUSTER = "This is a Redis Cluster. JoobQ's keys lie in several slots of it, and one step must change them together."


def test_before_a_cluster_nothing_starts(new_server: Callable[..., Server]) -> None:
    cluster = new_server("valkey", *as_cluster())
    environment = {"JOOBQ_ADMIN_AUTH": "dev", "JOOBQ_ADMIN_REDIS_URL": cluster.url, "PORT": str(free_port())}
    ended = subprocess.run(COMMAND, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=20)
    assert ended.returncode == 1
    assert ended.stderr == f"JoobQ Admin does not start. JOOBQ_ADMIN_REDIS_URL: {A_CLUSTER}\n"
    assert "Listening" not in ended.stdout


def test_one_that_comes_later_makes_the_process_not_ready(
    new_server: Callable[..., Server], new_dashboard: Callable[..., Dashboard]
) -> None:
    server = new_server("valkey")
    server.stop()
    dashboard = new_dashboard(server.url)
    assert "Redis does not let us in yet: it does not answer" in dashboard.log
    assert readiness(dashboard) == (503, "Redis does not answer\n")
    server.command += as_cluster()
    server.start()
    assert readiness(dashboard) == (503, f"{A_CLUSTER}\n")


def test_who_may_not_ask_for_the_version_is_ready(
    new_server: Callable[..., Server], new_dashboard: Callable[..., Dashboard]
) -> None:
    server = new_server("valkey")
    server.client.execute_command(
        "ACL", "SETUSER", "reader", "on", "nopass", "~*", "+@read", "+evalsha_ro", "+eval_ro", "+time"
    )
    dashboard = new_dashboard(server.url.replace("//", "//reader:x@"))
    assert readiness(dashboard) == (200, "ok\n")


def test_who_may_not_read_as_pages_do_is_not_ready(
    new_server: Callable[..., Server], new_dashboard: Callable[..., Dashboard]
) -> None:
    server = new_server("valkey")
    server.client.execute_command("ACL", "SETUSER", "nobody", "on", "nopass", "~*", "+ping", "+info")
    dashboard = new_dashboard(server.url.replace("//", "//nobody:x@"))
    status, words = readiness(dashboard)
    assert status == 503
    assert "no permissions" in words


def readiness(dashboard: Dashboard) -> tuple[int, str]:
    answer = ask(f"{dashboard.url}/readyz")
    return answer.status, answer.text
