"""The one production command: with a setting missing, or one that opens a door, it says so and ends."""

import socket
import subprocess

import pytest

from tests.support.dashboard import BEHIND_A_PROXY, COMMAND, ROOT
from tests.support.servers import free_port

COMPLETE = {
    **BEHIND_A_PROXY,
    "JOOBQ_ADMIN_PUBLIC_URL": "https://ops.example.com",
    "JOOBQ_ADMIN_REDIS_URL": "redis://:hunter2@127.0.0.1:1/0",
}


def refused(*arguments: str, **environment: str) -> str:
    """What it says when it does not start."""
    port = free_port()
    ended = subprocess.run(
        [*COMMAND, *arguments],
        cwd=ROOT,
        env={**COMPLETE, "PORT": str(port), **environment},
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert ended.returncode == 1
    assert "Listening" not in ended.stdout + ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr
    assert "hunter2" not in ended.stdout + ended.stderr
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=1)
    return ended.stderr


@pytest.mark.parametrize("name", [name for name in COMPLETE if "_ROLE_" not in name])
def test_without_one_of_what_it_needs_it_ends(name: str) -> None:
    assert f"\n{name}: " in refused(**{name: ""})


def test_it_tells_all_that_is_missing_at_once() -> None:
    assert refused(JOOBQ_ADMIN_AUTH="", JOOBQ_ADMIN_SECRET_KEY="", JOOBQ_ADMIN_REDIS_URL="").count("JOOBQ_ADMIN_") >= 3


def test_headers_with_underscores_can_not_be_let_in() -> None:
    assert "header_map must not be dangerous" in refused("--header-map", "dangerous")
    assert "header_map must not be dangerous" in refused(GUNICORN_CMD_ARGS="--header-map dangerous")
