"""The gate of a ledger: an operator closes it, and no lease is given or extended until it is opened."""

import json

from joobq_admin.joobq.audit import Actor
from joobq_admin.joobq.delivery import asked, steps
from joobq_admin.joobq.delivery.reading import Reading
from joobq_admin.joobq.delivery.shapes import Gate, GateChange, GateOutcome


class Gating(Reading):
    """See delivery.ledger.Ledger. `by` is who acts: an action of an operator always has a name to record."""

    def close_gate(self, by: Actor, reason: str) -> GateChange:
        """No lease is given or extended from now on; work in flight may be settled. CLOSED.

        CLOSED_BEFORE: it stays with the one who closed it. After a lost answer: that one is you.
        """
        who = asked.actor(by)
        note = {"by": who.id, "name": who.name, "reason": asked.reason(reason)}
        closed, value = self._run(steps.CLOSE_GATE, json.dumps(note))
        return GateChange(GateOutcome.CLOSED if closed else GateOutcome.CLOSED_BEFORE, steps.gate(value))

    def open_gate(self, by: Actor, meant: Gate | None = None) -> GateChange:
        """Leases are given again. OPENED with the gate that stood, or OPEN_BEFORE, also after a lost answer.

        `meant`: only this gate, None = whichever; another one that was closed since stays, CHANGED.
        """
        asked.actor(by)
        asked.gate(meant)
        (value,) = self._read(("GET", self.gate_key))
        while True:
            gate = steps.gate(value)
            if gate and meant and gate != meant:
                return GateChange(GateOutcome.CHANGED, gate)
            opened, value = self._run(steps.OPEN_GATE, steps.seen(value))
            if opened:
                return GateChange(GateOutcome.OPENED, gate)
            if value is None:
                return GateChange(GateOutcome.OPEN_BEFORE, None)
