"""The delivery ledger as plain Python: what every call must answer, and what is stored afterwards.

Times are what the server said; the model only says by which delay or lease they came about.
"""

from dataclasses import dataclass
from datetime import timedelta

from joobq_admin.joobq.delivery import Claim, State


@dataclass
class Stored:
    """A record; `delay` is the one with which its last claim gave it back."""

    payload: bytes
    traceparent: str | None
    admitted_at: int
    due_at: int
    state: State = State.READY
    owner: str = ""
    attempt: int = 0
    lease_until: int | None = None
    delay: timedelta | None = None

    def is_claimed(self, owner: str, lease_until: int) -> None:
        self.state, self.owner, self.lease_until, self.delay = State.LEASED, owner, lease_until, None
        self.attempt += 1

    def is_settled(self, state: State, delay: timedelta) -> None:
        self.state, self.lease_until, self.delay = state, None, delay

    def expires(self, due_at: int) -> None:
        self.state, self.owner, self.lease_until, self.delay, self.due_at = State.READY, "", None, None, due_at


class Model:
    def __init__(self, room: int) -> None:
        self.room = room
        self.records = dict[str, Stored]()
        self.spoilt = dict[str, Stored]()  # somebody changed their bytes: as they were before
        self.closed = False  # the gate

    def any_in(self, *states: State) -> list[str]:
        return [id_ for id_, record in self.records.items() if record.state in states]

    def indexes(self) -> tuple[dict[str, int], dict[str, int]]:
        """Ready and leases: id -> score."""
        leased = {id_: self.records[id_].lease_until or 0 for id_ in self.any_in(State.LEASED)}
        return {id_: self.records[id_].due_at for id_ in self.any_in(State.READY)}, leased

    def over(self, now: int) -> list[str]:
        """Whose lease is over, in the order in which they are due once it has ended."""
        leased = self.any_in(State.LEASED)
        return sorted((id_ for id_ in leased if (self.records[id_].lease_until or 0) <= now), key=str.encode)

    def due(self, now: int) -> list[str]:
        """What can be claimed, what is due longest first."""
        ready = [(self.records[id_].due_at, id_.encode()) for id_ in self.any_in(State.READY)]
        return [name.decode() for due_at, name in sorted(ready) if due_at <= now]

    def held(self, claim: Claim) -> Stored | None:
        """The record, when this is the claim that it names."""
        record = self.records.get(claim.request_id)
        if record and (record.admitted_at, record.attempt) == (claim.admitted_at, claim.attempt):
            return record if record.owner == claim.owner else None
        return None

    def runs(self, claim: Claim, now: int) -> bool:
        record = self.held(claim)
        return bool(record and record.lease_until and record.lease_until > now)

    # what a call must answer

    def admission(self, id_: str, payload: bytes) -> str:
        record = self.records.get(id_)
        if record:
            return "DUPLICATE" if record.payload == payload else "CONFLICT"
        if id_ in self.spoilt:
            return "CONFLICT"
        return "FULL" if len(self.records) + len(self.spoilt) >= self.room else "ACCEPTED"

    def renewal(self, claim: Claim, now: int) -> str:
        if not self.runs(claim, now):
            return "LOST"
        return "GATE_CLOSED" if self.closed else "APPLIED"

    def settlement(self, claim: Claim, state: State, delay: timedelta, now: int) -> str:
        if self.runs(claim, now):
            return "APPLIED"
        record = self.held(claim)
        done = record and record.state is state and (state is not State.READY or record.delay == delay)
        return "ALREADY" if done else "LOST"
