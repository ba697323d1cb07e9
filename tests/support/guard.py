"""No server outlives the tests, also when those are killed."""

import subprocess


class Guard:
    """Kills a process when ours has ended without `lift`: its standard input is a pipe that ends with us."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.watcher = subprocess.Popen(
            ["sh", "-c", f"read -r _; kill -9 {process.pid}"], stdin=subprocess.PIPE, start_new_session=True
        )

    def lift(self) -> None:
        """Before the process ends by itself: its number may soon be another's."""
        self.watcher.kill()
        self.watcher.communicate()
