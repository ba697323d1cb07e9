"""manage.py ledger: a delivery ledger from a terminal. stdout has lines of JSON, stderr has words."""

import os
import re
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from joobq_admin import connection
from joobq_admin.joobq import refusals, server
from joobq_admin.joobq.delivery import MAX_PAYLOAD_BYTES, MAX_RECORDS
from joobq_admin.joobq.delivery import asked as asked_of_ledgers
from joobq_admin.joobq.outcome import AnswerLost
from joobq_admin.management.importing import import_
from joobq_admin.management.looking import export, list_, resolve, show
from joobq_admin.management.terminal import Exit, Terminal
from joobq_admin.management.upkeep import expire, gate, prune, repair

LIMITS = ("max_records", "max_payload_bytes")
UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
ENDS = (
    "It ends with 0 = done; 1 = it could not, or not to the end; 2 = it was not asked in a way that makes sense; "
    "3 = done, and something needs a look; 4 = done, and the audit log has no record of it; 130 = Ctrl-C."
)
DJANGOS = frozenset({  # options that mean nothing here
    "--version", "--verbosity", "--settings", "--pythonpath", "--traceback", "--no-color", "--force-color",
    "--skip-checks",
})  # fmt: skip

Act = Callable[[Terminal, Namespace], Exit]


class Command(BaseCommand):
    help = "Delivery ledgers: stdout has lines of JSON, stderr has words. " + ENDS
    requires_system_checks = ()
    suppressed_base_arguments = DJANGOS

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(required=True, metavar="what")

        def action(name: str, act: Act, says: str, changes: bool = False) -> CommandParser:
            added: CommandParser = actions.add_parser(name, help=says, description=says)
            added.set_defaults(act=act, changes=changes)
            if name != "list":
                added.add_argument("name", metavar="LEDGER", help="namespace:queue")
            if changes:
                added.add_argument("--reason", default="", help="for the audit log")
            return added

        action("list", list_, "Every ledger that holds something; on a terminal as a table.")
        action("show", show, "How much one ledger holds, its gate, what is in quarantine.")
        ids = action("resolve", resolve, "What became of these requests. Nothing is redacted.")
        ids.add_argument("ids", metavar="ID", nargs="+", type=request_id)
        turned = action("gate", gate, "Whether workers may claim; close it, or open it.", changes=True)
        turned.add_argument("change", nargs="?", choices=("close", "open"))
        watched = action("repair", repair, "Mend what is wrong with records and indexes.", changes=True)
        watched.add_argument("--watch", action="store_true", help="again and again, until Ctrl-C")
        action("expire", expire, "End the leases that are over.", changes=True)
        old = action("prune", prune, "Delete old receipts: their request ids can be admitted again.", changes=True)
        old.add_argument("--older-than", type=age, required=True, help="since their last change, such as 30d or 12h")
        takes = "Take over the records of a file, while the gate is closed: attempts, times and traces begin anew."
        taken = action("import", import_, takes, changes=True)
        taken.add_argument("file", metavar="FILE.ndjson", type=file)
        taken.add_argument("--dry-run", action="store_true", help="say what would happen, and touch nothing")
        taken.add_argument(
            "--max-records", type=limit, default=MAX_RECORDS, help="as its producers give it (%(default)s)"
        )
        taken.add_argument("--max-payload-bytes", type=limit, default=MAX_PAYLOAD_BYTES, help="the same (%(default)s)")
        action("export", export, "All records as lines of JSON; corrupt ones are left out. Nothing is redacted.")

    def handle(self, *_: Any, act: Act, **options: Any) -> None:
        terminal, asked = Terminal(self.stdout, self.stderr), Namespace(**options)
        try:
            ended = run(terminal, asked, act)
            self.stdout.flush()
        except KeyboardInterrupt:
            ended = Exit.INTERRUPTED
        except BrokenPipeError:  # who read it has seen enough
            write_no_more()
            ended = Exit.STOPPED
        except AnswerLost:
            terminal.say(
                "Redis took it, and the answer was lost: it may be done or not. The same command again is safe."
            )
            ended = Exit.STOPPED
        except connection.TROUBLE as trouble:
            said = refusals.said(trouble)
            silent = f"Redis at {connection.address()} does not answer: {refusals.silence(trouble)}."
            terminal.say(f"Redis said: {said}" if said else silent)
            ended = Exit.STOPPED
        except OSError as error:
            if error.filename is None:  # it was open
                write_no_more()
            terminal.say(f"{error.filename or 'It could not be written'}: {error.strerror}.")
            ended = Exit.STOPPED
        if ended is Exit.DONE and terminal.unrecorded:
            ended = Exit.UNRECORDED
        if ended:
            sys.exit(ended)


def run(terminal: Terminal, asked: Namespace, act: Act) -> Exit:
    if amiss := server.shortcoming(connection.client()):
        terminal.say(amiss)
        return Exit.STOPPED
    if settings.READ_ONLY and not _only_looks(asked):
        terminal.say("JOOBQ_ADMIN_READ_ONLY is set: nobody changes anything.")
        return Exit.STOPPED
    if hasattr(asked, "name"):
        limits = {name: getattr(asked, name) for name in LIMITS if hasattr(asked, name)}
        namespace, _, queue = asked.name.partition(":")
        try:
            asked.ledger = connection.ledger(namespace, queue, **limits)
        except ValueError as wrong:
            terminal.say(f"A ledger is named namespace:queue, as `ledger list` says it; {wrong}.")
            return Exit.WRONG
    return act(terminal, asked)


def _only_looks(asked: Namespace) -> bool:
    """A gate that is neither closed nor opened, and a dry run, change nothing either."""
    return not asked.changes or getattr(asked, "change", "") is None or getattr(asked, "dry_run", False)


def write_no_more() -> None:
    """To stdout: what is still to be written there would fail again at the end of the process."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def limit(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,15}", text):
        raise ArgumentTypeError("a limit is a whole number from 0")
    return int(text)


def request_id(text: str) -> str:
    try:
        asked_of_ledgers.request_id(text)
    except ValueError as wrong:
        raise ArgumentTypeError(str(wrong)) from None
    return text


def age(text: str) -> timedelta:
    found = re.fullmatch(r"([0-9]{1,5})([smhd])", text)
    if not found:
        raise ArgumentTypeError("an age is such as 30d, 12h, 90m or 45s")
    return timedelta(**{UNITS[found[2]]: int(found[1])})


def file(text: str) -> Path:
    if not Path(text).is_file():
        raise ArgumentTypeError(f"there is no file {text}")
    return Path(text)
