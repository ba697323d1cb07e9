"""Commands that change a ledger as a whole: its gate, and time and damage."""

import time
from argparse import Namespace
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from uuid import uuid4

from joobq_admin import connection
from joobq_admin.joobq import refusals
from joobq_admin.joobq.delivery import Cycle, Gate, GateOutcome, Ledger
from joobq_admin.management.looking import pages
from joobq_admin.management.recording import actor, note, recorded
from joobq_admin.management.terminal import Exit, Terminal

STEP = 1.0  # seconds of one step of a cycle
TURN = 0.2  # seconds until it asks again, while another takes a step
REST = 10.0  # seconds between two cycles of a repair that goes on; at least four times as long as a cycle took


def gate(terminal: Terminal, asked: Namespace) -> Exit:
    """Says how it stands, or closes or opens it. Closing twice keeps the first owner, and says so."""
    ledger: Ledger = asked.ledger
    if asked.change is None:
        found = ledger.gate()
        terminal.line(ledger=asked.name, gate=found and asdict(found))
        terminal.say(closed(asked.name, found) if found else f"The gate of {asked.name} is open.")
        return Exit.DONE
    if asked.change == "close" and not asked.reason:
        terminal.say("Say why, for those who find it closed: --reason '…'")
        return Exit.WRONG
    with recorded(terminal, ledger, f"{asked.change} gate", asked.reason) as did:
        by = actor()
        change = ledger.close_gate(by, asked.reason) if asked.change == "close" else ledger.open_gate(by)
        if change.outcome in (GateOutcome.CLOSED, GateOutcome.OPENED):
            did["outcome"] = change.outcome
    terminal.line(ledger=asked.name, outcome=change.outcome, gate=change.gate and asdict(change.gate))
    match change.outcome:
        case GateOutcome.CLOSED:
            terminal.say(f"Closed: no request of {asked.name} is claimed from now on, no lease renewed.")
        case GateOutcome.CLOSED_BEFORE if change.gate:
            terminal.say(f"It stays as it was. {closed(asked.name, change.gate)}")
        case GateOutcome.OPENED:
            terminal.say(f"Opened: requests of {asked.name} are claimed again.")
        case _:
            terminal.say(f"The gate of {asked.name} was open.")
    return Exit.DONE


def closed(name: str, gate: Gate) -> str:
    """Who closed it, when and why, as far as that is known."""
    since = (
        f" since {datetime.fromtimestamp(gate.closed_at / 1000, UTC):%-d %b %Y, %H:%M:%S} UTC" if gate.closed_at else ""
    )
    by, why = f" by {gate.name}" if gate.name else "", f": {gate.reason}" if gate.reason else ""
    return f"The gate of {name} is closed{since}{by}{why}."


def repair(terminal: Terminal, asked: Namespace) -> Exit:
    """One cycle: all records, then all entries of the indexes. Watching, one cycle after the other, until Ctrl-C."""
    while True:
        began = time.monotonic()
        try:
            ended = _cycle(terminal, asked)
        except connection.TROUBLE as trouble:
            if not asked.watch:
                raise
            terminal.say(f"It goes on in {REST:g} s. {refusals.said(trouble) or refusals.silence(trouble)}")
        else:
            if not asked.watch:
                return ended
        time.sleep(max(REST, 4 * (time.monotonic() - began)))  # a watch leaves Redis to others mostly


def _cycle(terminal: Terminal, asked: Namespace) -> Exit:
    """To the end of the cycle that goes on, whoever began it, or of a new one; it is recorded in the name of who did.

    A watch is recorded only where it found something: what time did is no news.
    """
    ledger, operation = asked.ledger, str(uuid4())
    cycle: Cycle | None = ledger.begin_cycle(operation, actor(), STEP)
    reason = asked.reason if cycle and cycle.operation == operation else ""
    if cycle and cycle.operation != operation:
        terminal.say(f"It goes on with what {cycle.by.name} began.")
    elif cycle and not cycle.ended_at and not asked.watch:
        note(terminal, ledger, "begin repair", cycle.by, reason, operation, {})
    with terminal.progress("repair", cycle.total if cycle else 0) as advance:
        looked_at = 0
        while cycle and not cycle.ended_at:
            advance(cycle.done.records + cycle.done.entries - looked_at)
            looked_at = cycle.done.records + cycle.done.entries
            if not cycle.stepped:
                time.sleep(TURN)  # another takes its step, and nothing tells us of its end
            cycle = ledger.go_on(STEP)
    if not cycle:
        terminal.say("How far it came is not known any more: somebody deleted it. The same command begins anew.")
        return Exit.STOPPED
    done = cycle.done
    found = {"expired": done.expired, "mended": done.mended, "quarantined": done.quarantined}
    facts = {"scanned": done.records + done.entries, **found}
    lost = {"answer": "lost"} if cycle.lost else {}
    if cycle.stepped and not (asked.watch and not (done.mended or done.quarantined)):
        note(terminal, ledger, "repair", cycle.by, reason, cycle.operation, facts | lost)
    terminal.line(ledger=asked.name, **facts)
    return Exit.LOOK if done.quarantined else Exit.DONE


def expire(terminal: Terminal, asked: Namespace) -> Exit:
    """Ends every lease that is over."""
    ledger: Ledger = asked.ledger
    total, expired, more = ledger.stats().expired, 0, True
    with recorded(terminal, ledger, "expire", asked.reason) as did, terminal.progress("expire", total) as advance:
        while more:
            ended = ledger.expire()
            did["expired"] = expired = expired + ended
            advance(ended)
            more = ledger.stats().expired > 0  # a step among entries that lie ends none of those behind them
    terminal.line(ledger=asked.name, **did)
    return Exit.DONE


def prune(terminal: Terminal, asked: Namespace) -> Exit:
    """Deletes receipts whose last change is older than asked."""
    ledger: Ledger = asked.ledger
    total, pruned = ledger.stats().records, 0
    with recorded(terminal, ledger, "prune", asked.reason) as did, terminal.progress("prune", total) as advance:
        for page in pages(partial(ledger.prune, asked.older_than)):
            pruned += page.pruned
            did |= {"older_than": str(asked.older_than), "pruned": pruned}
            advance(page.scanned)
    terminal.line(ledger=asked.name, **did)
    return Exit.DONE
