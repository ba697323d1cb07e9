"""What became of every record of a ledger, judged by what the server itself wrote down: its append-only file.

The file holds every write in the order in which it happened, those of one script together. So nothing is excused for
want of an answer: a claim that was given while an earlier one seemed to hold a lease shows here what ended that lease,
also when its worker was killed before it could tell. What clients were told is compared with this afterwards.
"""

import hashlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from joobq_admin.joobq.delivery import Ledger
from tests.support.ledgers import stored
from tests.support.replay import Command, steps


@dataclass(frozen=True)
class Header:
    """A record's header, read by the offsets of the contract and by nothing of the library's."""

    admitted: int
    size: int
    digest: str
    state: str
    due: int
    lease: int
    attempt: int
    updated: int
    trace: str
    owner: str

    @classmethod
    def read(cls, id_: str, raw: bytes) -> "Header | None":
        """None: its checksum is not that of these bytes under this id."""
        name, body = id_.encode(), raw[45:]
        total = hashlib.sha1(b"%d:%b%b" % (len(name), name, body)).hexdigest().encode()
        if raw[:45] != b"jl1 " + total + b" ":
            return None
        trace = raw[198:199] if raw[198:199] == b"-" else raw[198:253]
        return cls(
            admitted=int(raw[45:60]),
            size=int(raw[61:71]),
            digest=raw[72:136].decode(),
            state=raw[137:138].decode(),
            due=int(raw[139:154]),
            lease=int(raw[155:170]),
            attempt=int(raw[171:181]),
            updated=int(raw[182:197]),
            trace=trace.decode(),
            owner=raw[199 + len(trace) :].decode(),
        )

    @property
    def birth(self) -> tuple[int, int, str, str]:
        """What no transition may change."""
        return self.admitted, self.size, self.digest, self.trace


class Identity(NamedTuple):
    """Which claim it is."""

    request_id: str
    admitted_at: int
    attempt: int
    owner: str


def evidence(header: bytes | None, payload: bytes | None) -> bytes:
    """How a record is set aside: the lengths of its two values, and both."""
    head, size = header or b"", b"-" if payload is None else b"%d" % len(payload)
    return b"%d:%b:%b%b" % (len(head), size, head, payload or b"")


def reviewed(ledger: Ledger, id_: str) -> str:
    """The digest of what is stored now: what release and discard ask for."""
    return hashlib.sha256(evidence(*stored(ledger, id_))).hexdigest()


class Trace:
    """The life of every record, step by step. AssertionError at the first step that no ledger may take."""

    def __init__(self, ledger: Ledger) -> None:
        self.apply_to = {
            ledger.records_key.encode(): self._records,
            ledger.payloads_key.encode(): self._payloads,
            ledger.quarantine_key.encode(): self._quarantine,
            ledger.gate_key.encode(): self._gate,
        }
        self.indexes = {ledger.ready_key.encode(), ledger.leases_key.encode()}
        self.headers = dict[str, bytes]()
        self.payloads = dict[str, bytes]()
        self.aside = dict[str, bytes]()
        self.admitted = set[tuple[str, int]]()
        self.leases = dict[Identity, list[int]]()  # every end that the claim's lease ever had
        self.ends = dict[Identity, str]()  # how the claim ended: C, D or R: settled; expired; spoilt
        self.spoilt = set[str]()  # ids whose bytes somebody changed
        self.closed = False
        self.seen = Counter[str]()

    def replay(self, folder: Path) -> None:
        for step in steps(folder):
            for command in step:
                self._apply(command)
            assert len(self.payloads) == len(self.headers), f"a payload without a record, or the reverse, after {step}"

    def _apply(self, command: Command) -> None:
        verb, key, *args = command
        if key not in self.indexes:  # those say nothing that the records do not say
            self.apply_to[key](verb.upper(), args)

    def _records(self, verb: bytes, args: list[bytes]) -> None:
        if verb == b"HDEL":
            for name in args:
                self._leaves(name.decode())
            return
        assert verb == b"HSET", verb
        for name, raw in zip(args[::2], args[1::2], strict=True):
            self._moves(name.decode(), raw)
            self.headers[name.decode()] = raw

    def _payloads(self, verb: bytes, args: list[bytes]) -> None:
        if verb == b"HDEL":
            for name in args:
                del self.payloads[name.decode()]
            return
        assert verb == b"HSET", verb
        for name, payload in zip(args[::2], args[1::2], strict=True):
            id_ = name.decode()
            if id_ in self.headers:  # only somebody who is no ledger writes a second payload
                self._spoil(id_)
            self.payloads[id_] = payload

    def _quarantine(self, verb: bytes, args: list[bytes]) -> None:
        if verb == b"HDEL":
            for name in args:
                del self.aside[name.decode()]
            return
        assert verb == b"HSET", verb
        for name, copy in zip(args[::2], args[1::2], strict=True):
            id_ = name.decode()
            assert copy == evidence(self.headers[id_], self.payloads.get(id_)), "other bytes than are stored"
            assert not self.sound(id_), f"{id_} was set aside and nothing is wrong with it"
            self.aside[id_] = copy
            self.seen["quarantined"] += 1

    def _gate(self, verb: bytes, args: list[bytes]) -> None:
        self.closed = verb == b"SET"
        self.seen["gate closed" if self.closed else "gate opened"] += 1

    def sound(self, id_: str) -> bool:
        header, payload = Header.read(id_, self.headers[id_]), self.payloads.get(id_)
        return (
            header is not None
            and payload is not None
            and (header.size, header.digest) == (len(payload), hashlib.sha256(payload).hexdigest())
        )

    def _spoil(self, id_: str) -> None:
        self.spoilt.add(id_)
        self.seen["spoilt"] += 1

    def _leaves(self, id_: str) -> None:
        header = Header.read(id_, self.headers.pop(id_))
        if id_ in self.aside:
            self.seen["discarded"] += 1
            if header and header.state == "L":
                self._ends(id_, header, "spoilt")
        else:
            assert header is not None, f"{id_} was not set aside, and went"
            assert header.state in "CD", f"{id_} went while it was {header.state}"
            self.seen["pruned"] += 1

    def _ends(self, id_: str, was: Header, how: str) -> None:
        identity = Identity(id_, was.admitted, was.attempt, was.owner)
        assert identity not in self.ends, f"{identity} ended twice: {self.ends[identity]}, {how}"
        self.ends[identity] = how
        self.seen[f"claim ended: {how}"] += 1

    def _moves(self, id_: str, raw: bytes) -> None:
        old, now = self.headers.get(id_), Header.read(id_, raw)
        was = Header.read(id_, old) if old is not None else None
        if now is None:  # only somebody who is no ledger writes that
            self._spoil(id_)
            if was and was.state == "L":
                self._ends(id_, was, "spoilt")
        elif id_ in self.aside:
            raise AssertionError(f"{id_} is set aside, and was written: {was} became {now}")
        elif old is None:
            self._is_admitted(id_, now)
        else:
            assert was is not None, f"{id_} was spoilt, and is {now}"
            assert was.birth == now.birth, f"{id_}: {was} became {now}"
            assert was.updated <= now.updated, f"the server's clock went back: {was} became {now}"
            self._changes(id_, was, now)

    def _is_admitted(self, id_: str, now: Header) -> None:
        assert (now.state, now.attempt, now.owner, now.lease) == ("R", 0, "", 0), now
        assert now.admitted == now.updated <= now.due, now
        assert (id_, now.admitted) not in self.admitted, f"{id_} was admitted twice in one ms: its claims look the same"
        self.admitted.add((id_, now.admitted))
        self.seen["admitted"] += 1

    def _changes(self, id_: str, was: Header, now: Header) -> None:
        step, identity = was.state + now.state, Identity(id_, now.admitted, now.attempt, now.owner)
        wrong = f"{id_}: {was} became {now}, gate closed: {self.closed}"
        if now.state == "L":
            assert not self.closed, wrong
            assert now.lease > now.updated, wrong
        if step == "RL":
            assert was.due <= now.updated, wrong
            assert now.attempt == was.attempt + 1, wrong
            assert identity not in self.leases, wrong
            self.leases[identity] = [now.lease]
            self.seen["claimed"] += 1
            return
        assert was.state == "L", wrong
        assert was.attempt == now.attempt, wrong
        if now.owner == "" and step == "LR":
            assert was.lease <= now.updated == now.due, wrong
            self._ends(id_, was, "expired")
            return
        assert was.owner == now.owner, wrong
        assert now.updated < was.lease, f"after its lease: {wrong}"
        if step == "LL":
            assert now.lease >= was.lease, wrong
            self.leases[identity].append(now.lease)
            self.seen["renewed"] += 1
        else:
            assert now.lease == 0, wrong
            assert now.state != "R" or now.due >= now.updated, wrong
            self._ends(id_, was, now.state)
