"""The real dashboard, run as README tells users to run it, on a free port of loopback."""

import http.client
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import closing, suppress
from pathlib import Path

from tests.support.eventually import eventually
from tests.support.guard import Guard
from tests.support.servers import free_port

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "gunicorn", "-c", "python:joobq_admin.gunicorn", "joobq_admin.wsgi:application"]

SECRET = "the proxy says so and only the proxy knows this"
BEHIND_A_PROXY = {
    "JOOBQ_ADMIN_AUTH": "proxy",
    "JOOBQ_ADMIN_SECRET_KEY": "a key that only tests use: at least fifty characters long",
    "JOOBQ_ADMIN_PROXY_SECRET": SECRET,
    "JOOBQ_ADMIN_PROXY_GROUPS_SEPARATOR": ",",
    "JOOBQ_ADMIN_ROLE_VIEWER": "viewers",
    "JOOBQ_ADMIN_ROLE_OPERATOR": "operators",
    "JOOBQ_ADMIN_ROLE_ADMIN": "admins",
}


def signed_in(user: str, role: str = "operator") -> dict[str, str]:
    """The headers of a proxy that vouches for this user: signed_in("tomas", "viewer"); the name shown is Tomas."""
    return {
        "X-JoobQ-Admin-Proxy-Secret": SECRET,
        "X-Forwarded-User": user,
        "X-Forwarded-Preferred-Username": user.capitalize(),
        "X-Forwarded-Groups": f"{role}s",
    }


class Dashboard:
    """A gunicorn before one Redis. In dev everyone is an admin; with auth="proxy" requests need `signed_in` headers."""

    def __init__(self, redis_url: str, auth: str = "dev", **environment: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("JOOBQ_ADMIN_", "REDIS_"))}
        own = {"JOOBQ_ADMIN_AUTH": "dev"} if auth == "dev" else {**BEHIND_A_PROXY, "JOOBQ_ADMIN_PUBLIC_URL": self.url}
        wiring = {"JOOBQ_ADMIN_REDIS_URL": redis_url, "PORT": str(self.port), "WEB_CONCURRENCY": "1"}
        self.environment = {**kept, **own, **wiring, **environment}
        self.folder = Path(tempfile.mkdtemp(prefix="joobq-admin-dashboard-"))
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                COMMAND,
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.guard = Guard(self.process)
        try:
            eventually(self.answers, timeout=30)
        except BaseException:  # raised again: no process is left behind
            self.close()
            raise

    @property
    def log(self) -> str:
        """All that it wrote so far: a JSON line an event."""
        return (self.folder / "log").read_text(errors="replace")

    def answers(self) -> bool:
        if self.process.poll() is not None:
            raise RuntimeError(f"the dashboard ended:\n{self.log}")
        with suppress(OSError), closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)) as connection:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        return False

    def close(self) -> None:
        """At once, with its workers: an orderly end takes half a second."""
        self.guard.lift()
        with suppress(ProcessLookupError):  # it ended by itself
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> "Dashboard":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
