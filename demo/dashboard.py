"""The dashboard as README runs it, but for one thing: it ends when whoever started it has ended, however that was."""

import os
import signal
import sys
from threading import Thread

from gunicorn.app.wsgiapp import run

COMMAND = ["gunicorn", "-c", "python:joobq_admin.gunicorn", "joobq_admin.wsgi:application"]


def end_with_parent() -> None:
    """Our stdin is a pipe into which the parent writes nothing: it ends with it."""
    os.read(0, 1)
    os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    Thread(target=end_with_parent, daemon=True).start()
    sys.argv = COMMAND
    run()
