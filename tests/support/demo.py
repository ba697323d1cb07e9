"""`python -m demo`, which is what `make run` runs, as a process."""

import os
import signal
import subprocess
import sys
import urllib.request
from contextlib import suppress
from pathlib import Path

from tests.support.dashboard import ROOT
from tests.support.eventually import eventually


class Run:
    """One `make run` in a folder and on a port of its own."""

    def __init__(self, folder: Path, port: int, **environment: str) -> None:
        self.folder, self.url = folder, f"http://127.0.0.1:{port}"
        others = ("JOOBQ_ADMIN_", "DISPLAY", "WAYLAND_DISPLAY")  # of the tests; and no browser opens
        kept = {name: value for name, value in os.environ.items() if not name.startswith(others)}
        self.printed = folder.with_suffix(f".{port}")
        with self.printed.open("wb") as lines:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "demo", str(folder)],
                cwd=ROOT,
                env={**kept, "BROWSER": "true", "PORT": str(port), **environment},
                stdout=lines,
                stderr=lines,
            )

    def said(self) -> str:
        """All that it printed, once it has ended."""
        self.process.wait(20)
        return self.printed.read_text()

    def serves(self) -> bool:
        with suppress(OSError), urllib.request.urlopen(f"{self.url}/healthz", timeout=5) as answer:
            return answer.status == 200
        return False

    def wait_until_it_says_where(self) -> None:
        eventually(lambda: "JoobQ Admin is at" in self.printed.read_text() or self.process.poll() is not None, 20)
        assert self.process.poll() is None, self.said()
        assert self.serves()

    def redis_port(self) -> int:
        return int((self.folder / "port").read_text())

    def end(self, name: signal.Signals) -> str:
        self.process.send_signal(name)
        return self.said()
