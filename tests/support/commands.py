"""`manage.py ledger`, in this process, or as users run it."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from django.core.management import call_command

from joobq_admin.joobq.audit import AuditLog, Record
from tests.support.guard import Guard
from tests.support.servers import Server
from tests.support.sources import ROOT


@dataclass(frozen=True)
class Ran:
    """How it ended, the lines of JSON on its stdout, the words on its stderr."""

    ended: int
    lines: list[dict[str, Any]]
    words: str


def ledger(*arguments: object) -> Ran:
    """Runs here, on the Redis that the settings of this session name."""
    out, err, ended = io.StringIO(), io.StringIO(), 0
    try:
        call_command("ledger", *map(str, arguments), stdout=out, stderr=err)
    except SystemExit as end:
        ended = int(end.code or 0)
    return Ran(ended, list(map(json.loads, out.getvalue().splitlines())), err.getvalue())


@contextmanager
def process(
    server: Server, *arguments: object, stdout: IO[str] | int = subprocess.PIPE
) -> Iterator[subprocess.Popen[str]]:
    """The same as a process, with no more settings than it needs."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JOOBQ_ADMIN_", "REDIS_"))}
    needed = {"JOOBQ_ADMIN_AUTH": "dev", "JOOBQ_ADMIN_REDIS_URL": server.url}
    running = subprocess.Popen(
        [sys.executable, "-W", "error", "manage.py", "ledger", *map(str, arguments)],
        cwd=ROOT,
        env=kept | needed,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
    )
    guard = Guard(running)
    try:
        yield running
    finally:
        guard.lift()
        running.kill()
        running.communicate()


def noted(server: Server) -> list[Record]:
    """The audit log, newest first."""
    return list(AuditLog(server.client).page().records)
