"""Who runs a command, and the record in the audit log of what it did."""

import os
import pwd
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from uuid import uuid4

from joobq_admin import connection
from joobq_admin.joobq import refusals
from joobq_admin.joobq.audit import Actor
from joobq_admin.joobq.delivery import Ledger
from joobq_admin.joobq.outcome import AnswerLost, NotDone
from joobq_admin.management.terminal import Terminal


def actor() -> Actor:
    """The user of the operating system: whoever may run a command needs no other sign-in."""
    uid = os.getuid()
    try:
        user = pwd.getpwuid(uid).pw_name
    except KeyError:  # as in a container
        user = f"user {uid}"
    name = f"{user}@{socket.gethostname()}, manage.py"
    return Actor(name, name)


@contextmanager
def recorded(terminal: Terminal, ledger: Ledger, action: str, reason: str) -> Iterator[dict[str, object]]:
    """Fill what this gives with what was done: it is recorded at the end, however that comes; nothing when nothing was.

    The record follows the deed, it is not one with it. That there is none is told, and makes Exit.UNRECORDED.
    """
    did = dict[str, object]()
    try:
        yield did
    except AnswerLost:
        did["answer"] = "lost"
        raise
    finally:
        if did:
            note(terminal, ledger, action, actor(), reason, str(uuid4()), did)


def note(
    terminal: Terminal,
    ledger: Ledger,
    action: str,
    by: Actor,
    reason: str,
    operation: str,
    did: Mapping[str, object],
) -> None:
    """Records it, once an operation; where that fails, it is told."""
    facts = {"namespace": ledger.namespace, "queue": ledger.queue} | {name: str(value) for name, value in did.items()}

    def record() -> None:
        connection.audit_log().note(action, by, reason, operation, **facts)

    try:
        try:
            record()
        except AnswerLost:
            record()
    except (NotDone, *connection.TROUBLE) as trouble:
        terminal.unrecorded = True
        terminal.say(f"The audit log has no record of this: {refusals.said(trouble) or refusals.silence(trouble)}.")
