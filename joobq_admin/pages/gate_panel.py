"""The gate of a ledger, as its pages show it: whose it is, why it is closed, and what proves that it holds."""

from dataclasses import dataclass, replace
from hashlib import sha256

from joobq_admin import connection
from joobq_admin.joobq.delivery import Gate, Ledger, LedgerStats
from joobq_admin.pages import ledger_names, times, words
from joobq_admin.pages.ledger_answers import Told
from joobq_admin.pages.ledger_panel import Panel
from joobq_admin.pages.sends import why
from joobq_admin.sso.roles import Action, User
from joobq_admin.triage import gates
from joobq_admin.triage.gates import Proof

ANEW = "To have it proved, open the gate and close it here."
NOT_KEPT = (
    "So it was not closed all the time, or Redis's clock went back. What must not run, stop where it runs. "
    "To prove it anew, open the gate and close it again."
)
OPEN = "Workers may claim and renew. Close it to stop new work; what is in flight may still settle."


@dataclass(frozen=True, slots=True, kw_only=True)
class GatePanel(Panel):
    """`mark`: which gate is closed, for who opens it; `holds`: so says its proof."""

    closed: bool
    reason: str = ""
    proof: str = ""
    holds: bool = True
    meanwhile: str = ""
    mark: str = ""


def panel(ledger: Ledger, stats: LedgerStats, user: User) -> GatePanel:
    """As it stands. Raises TROUBLE."""
    gate = stats.gate
    button = ledger_names.button(ledger, Action.OPEN_GATE if gate else Action.CLOSE_GATE, user)
    if gate is None:
        return GatePanel(heading="Gate open", text=OPEN, closed=False, **button)
    proof = gates.prove(ledger, stats)
    return GatePanel(
        heading=f"Gate closed{whose(gate, user)}",
        text="",
        closed=True,
        reason=why(gate.reason),
        proof=_proof(proof, stats) if proof else "",
        holds=bool(proof and proof.holds),
        meanwhile=_meanwhile(gate, stats),
        mark=mark(gate),
        **button,
    )


def after(told: Told, shown: GatePanel) -> GatePanel:
    """The same with what a press did, and how the gate stands: a conflict's heading says that itself."""
    heading = told.heading or shown.heading
    state = f"{shown.heading}. " if told.heading and told.status != 409 and shown.closed else ""
    text = f"{told.text} {state}".strip() if told.text else shown.text
    return replace(shown, heading=heading, text=text, unrecorded=told.unrecorded)


def mark(gate: Gate) -> str:
    """By all that it says: two that are alike are one to whoever saw it."""
    return sha256(repr(gate).encode()).hexdigest()


def whose(gate: Gate, user: User) -> str:
    """' since 02:21:40 by Tomás Rivera', as far as it is known."""
    at, who = times.at(gate.closed_at), ledger_names.who(gate.by, gate.name, user)
    since = f" since {times.clock(at, times.now())}" if at else ""
    return f"{since} by {who}" if who else since


def warning(gate: Gate | None, user: User) -> str:
    """In one line, for other pages of the ledger."""
    if gate is None:
        return ""
    reason = f": “{why(gate.reason, 200)}”" if gate.reason else ""
    return f"The gate of this ledger is closed{whose(gate, user)}{reason}."


def warning_of(ledger: Ledger, user: User) -> str:
    """The same of a ledger, as far as it can be read: beside an answer that is given in any case."""
    try:
        return warning(ledger.gate(), user)
    except connection.TROUBLE:
        return ""


def _proof(proof: Proof, stats: LedgerStats) -> str:
    if proof.corrupt:
        corrupt = words.counted(proof.corrupt, "corrupt record")
        return f"Nothing is proved: {corrupt} in the leases index cannot tell. A repair sets what is corrupt aside."
    if not proof.ids:
        at = _clock(stats.at)
        none = f"0 ids in the leases index, read {at}, and none can be added while the gate is closed"
        return f"Nothing is in flight: {none}."
    if not proof.looked:
        ids = f"{words.counted(proof.ids, 'id')} in the leases index"
        them = f"the last {gates.MOST:,} of them" if proof.ids > gates.MOST else "them"
        return f"No lease was given or renewed since: {ids}, and no record of {them} is leased"
    records = words.counted(proof.looked, "leased record")
    which = f"the last {records} of {proof.ids:,} ids" if proof.ids > gates.MOST else f"the {records}"
    newest = f"of {which} the newest change is from {_clock(proof.newest)}"
    if proof.since is None:
        return f"When it was closed is not known, so nothing is proved: {newest}. {ANEW}"
    if proof.since:
        given = f"{proof.since:,} of {which}, the last at {_clock(proof.newest)}"
        return f"Leases were given or renewed since: {given}. {NOT_KEPT}"
    return f"No lease was given or renewed since: {newest}"


def _meanwhile(gate: Gate, stats: LedgerStats) -> str:
    closed = times.at(gate.closed_at)
    if stats.last_lease:
        ends = f"at {_clock(stats.last_lease)}, in {times.ahead(stats.last_lease - stats.at)}"
        flight = f"Work in flight may finish: the last lease ends {ends}."
    elif stats.expired:
        n = words.counted(stats.expired, "lease is", "leases are")
        flight = f"{n} over: nobody can settle there any more."
    else:
        then = f"at {times.clock(closed, times.now())}" if closed else "then"
        flight = f"What was in flight {then} has settled, or its lease ran out and it is due again."
    return f"Admissions go on and wait. {flight}"


def _clock(ms: int | None) -> str:
    at = times.at(ms)
    return times.clock(at, times.now()) if at else f"{ms} ms"
