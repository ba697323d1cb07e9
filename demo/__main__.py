"""make run: the dashboard, and behind it made-up dead letters in an embedded server, or the Redis that you name."""

import fcntl
import http.client
import os
import signal
import socket
import subprocess
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from random import Random

from demo import deliveries
from demo.deliveries import Couriers
from demo.server import Server
from demo.worker import Workers, fill

ROOT = Path(__file__).parents[1]
URL = "JOOBQ_ADMIN_REDIS_URL"
ENDS_WITHIN = 5  # seconds; gunicorn waits 30 for a worker that was told to end while it was being made


@contextmanager
def samples(folder: Path) -> Iterator[str]:
    """The URL of a server with sample data and workers on them. `folder` is where the data stay."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SystemExit("The demo runs already. To see another Redis: JOOBQ_ADMIN_REDIS_URL=… make run") from error
        server = Server(folder)
        try:
            fill(server.client)
            deliveries.fill(server.client)
            busy = [Workers(server.client, Random()), Couriers(server.client, Random())]
            for each in busy:
                each.start()
            try:
                yield server.url
            finally:
                for each in busy:
                    each.stop()
        finally:
            server.stop()


@contextmanager
def dashboard(port: int, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("127.0.0.1", port))
        except OSError as error:
            raise SystemExit(f"Port {port} is taken. PORT={port + 1} make run takes another.") from error
    process = subprocess.Popen(
        [sys.executable, "-m", "demo.dashboard"],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,  # held open while we live
        start_new_session=True,  # the Ctrl-C is for us
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            process.kill()  # its workers see that and end
            process.wait()


def answers(port: int) -> bool:
    with suppress(OSError), closing(http.client.HTTPConnection("127.0.0.1", port, timeout=2)) as connection:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    return False


def chosen_port() -> int:
    text = os.environ.get("PORT") or "8000"
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise SystemExit("PORT must be a whole number from 1 to 65535.")
    return int(text)


def stop(*_: object) -> None:
    """Once is enough: what follows ends in good order."""
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
    sys.exit(0)


def main(folder: Path) -> None:
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, stop)
    port = chosen_port()
    environment = {"JOOBQ_ADMIN_AUTH": "dev", "JOOBQ_ADMIN_LOG_LEVEL": "warning", **os.environ, "PORT": str(port)}
    with ExitStack() as stack:
        if not (environment.get(URL) or environment.get(f"{URL}_FILE")):
            environment = {"JOOBQ_ADMIN_ENVIRONMENT": "demo", **environment, URL: stack.enter_context(samples(folder))}
        process = stack.enter_context(dashboard(port, environment))
        while not answers(port):
            with suppress(subprocess.TimeoutExpired):
                sys.exit(process.wait(0.02))
        address = f"http://127.0.0.1:{port}/"
        print(f"JoobQ Admin is at {address} (Ctrl-C stops it)", flush=True)
        if sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
            webbrowser.open(address)
        sys.exit(process.wait())


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else ROOT / ".demo")
