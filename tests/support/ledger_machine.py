"""Any sequence of calls of a delivery ledger, compared with a model of it; told by hypothesis, shortened by it too.

Time is real. It is tamed by leases that are over at once, or not before an hour has passed, and delays likewise.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import redis as redis_py
from hypothesis import HealthCheck, settings, stateful
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from joobq_admin.joobq.delivery import Claim, Ledger, Record, State
from tests.support.ledger_model import Model, Stored
from tests.support.ledger_trace import reviewed
from tests.support.ledgers import HOUR, MS, NOW, TRACE, clock, indexes, mend, until
from tests.support.operators import ANN

ROOM = 5
LARGE = b"large" * 1_000
IDS = st.sampled_from(["a", "b", "c", "é\n\0", "d", "e"])
PAYLOADS = st.sampled_from([b"", b"\0\n 2", LARGE])
TRACES = st.sampled_from([None, TRACE])
LEASES, DELAYS = st.sampled_from([MS, HOUR]), st.sampled_from([NOW, NOW, HOUR])
ENDS = st.sampled_from([State.READY] * 4 + [State.COMPLETED, State.DEAD])
CLAIMS = st.sampled_from([0, 0, 0, 1, 1, 2, 3, 7])  # those that are held, then the others; the latest first
SOME = st.integers(0, ROOM)

Call = tuple[str, dict[str, Any]]


def call(name: str, **args: st.SearchStrategy[Any]) -> st.SearchStrategy[Call]:
    return st.tuples(st.just(name), st.fixed_dictionaries(args))


ADMIT = call("admit", items=st.lists(st.tuples(IDS, PAYLOADS), min_size=1, max_size=4), delay=DELAYS, trace=TRACES)
CLAIM = call("claim", owner=st.sampled_from(["w", "v \0"]), limit=st.integers(1, 3), lease=LEASES)
RENEW = call("renew", which=CLAIMS, lease=LEASES)
SETTLE = call("settle", asked=st.lists(st.tuples(CLAIMS, ENDS, DELAYS), min_size=1, max_size=3))
GATE = call("gate", closed=st.booleans())
REVIEW = call("review", which=SOME, what=st.sampled_from(["release", "mend", "mend", "discard"]), noticed=st.booleans())
LIES = st.sampled_from(["due", "due", "over", "neither", "late"])
DAMAGE = call("damage_an_index", id_=IDS, lie=LIES)
SPOIL = call("spoil", which=SOME, place=st.integers(0, 300), payload=st.booleans())
UPKEEP = [call(name) for name in ("expire", "repair", "prune", "forget_scripts")]
# of one rule, and not a rule each: hypothesis leaves some rules out of many a sequence
CALLS = st.sampled_from(
    [ADMIT] * 2 + [CLAIM] * 6 + [RENEW] * 3 + [SETTLE] * 6 + [GATE, REVIEW, DAMAGE, DAMAGE, SPOIL] + UPKEEP
).flatmap(lambda chosen: chosen)


class Machine(stateful.RuleBasedStateMachine):
    """Of an empty ledger, which `new` makes."""

    new: Callable[[], Ledger]

    def __init__(self) -> None:
        super().__init__()
        self.ledger, self.model = type(self).new(), Model(ROOM)
        self.redis: redis_py.Redis = self.ledger.redis
        self.claims = list[Claim]()
        self.changed = dict[str, tuple[str, bytes]]()  # of a spoilt record: a key, and the value that was there
        self.damaged = False  # the indexes

    def now(self) -> int:
        return clock(self.redis)

    def resolved(self, id_: str) -> Record:
        record = self.ledger.resolve(id_)
        assert record
        return record

    def expired(self, ids: list[str], since: int) -> None:
        for id_ in ids:
            due_at = self.resolved(id_).due_at
            assert since <= due_at <= self.now()
            self.model.records[id_].expires(due_at)

    def chosen(self, which: int) -> Claim:
        latest = self.claims[::-1]
        claims = sorted(latest, key=lambda claim: not self.model.held(claim))
        return claims[which % len(claims)]

    @rule(call=CALLS)
    def step(self, call: Call) -> None:
        name, args = call
        getattr(self, name)(**args)

    # producers and workers

    @initialize()
    def begin(self) -> None:
        self.admit([("a", b""), ("b", b""), ("c", LARGE)], NOW, None)
        self.claim("w", 2, HOUR)

    def admit(self, items: list[tuple[str, bytes]], delay: timedelta, trace: str | None) -> None:
        since = self.now()
        for (id_, payload), said in zip(items, self.ledger.admit_many(items, delay, trace), strict=True):
            assert said.outcome.name == self.model.admission(id_, payload)
            assert bool(said.record) == (said.outcome.name in ("ACCEPTED", "DUPLICATE"))
            if said.record and said.outcome.name == "ACCEPTED":
                admitted_at, due_at = said.record.admitted_at, said.record.due_at
                assert since <= admitted_at == due_at - delay // MS <= self.now()
                self.model.records[id_] = Stored(payload, trace, admitted_at, due_at)

    def claim(self, owner: str, limit: int, lease: timedelta) -> None:
        since = self.now()
        due, over = self.model.due(since), self.model.over(since)
        claims = self.ledger.claim_many(owner, limit, lease)
        ids = [claim.request_id for claim in claims]
        if self.model.closed:
            assert ids == []
        elif self.damaged:
            assert set(ids) <= {*due, *over}
            self.expired([id_ for id_ in over if id_ in ids or self.resolved(id_).state is State.READY], 0)
        else:
            assert ids == (due or over)[:limit]
            self.expired([] if due else over, since)
        for claim in claims:
            record = self.model.records[claim.request_id]
            record.is_claimed(owner, claim.lease_until)
            told = (claim.payload, claim.owner, claim.attempt, claim.admitted_at, claim.traceparent)
            assert told == (record.payload, owner, record.attempt, record.admitted_at, record.traceparent)
            assert since <= claim.lease_until - lease // MS <= self.now()
            if lease is MS:
                until(self.redis, claim.lease_until)
        self.claims += claims

    def renew(self, which: int, lease: timedelta) -> None:
        if not self.claims:
            return
        claim, since = self.chosen(which), self.now()
        said = self.ledger.renew(claim, lease)
        assert said.outcome.name == self.model.renewal(claim, since)
        if said.outcome.name == "APPLIED":
            record, until = self.model.records[claim.request_id], said.claim.lease_until
            assert until == record.lease_until or since <= until - lease // MS <= self.now()
            assert until >= (record.lease_until or 0)
            record.lease_until = until

    def settle(self, asked: list[tuple[int, State, timedelta]]) -> None:
        if not self.claims:
            return
        items, since = [(self.chosen(which), state, delay) for which, state, delay in asked], self.now()
        given_back = dict[str, Stored]()
        for (claim, state, delay), said in zip(items, self.ledger.settle_many(items), strict=True):
            assert said.outcome.name == self.model.settlement(claim, state, delay, since)
            if said.outcome.name == "APPLIED":
                record = self.model.records[claim.request_id]
                record.is_settled(state, delay)
                if state is State.READY:
                    given_back[claim.request_id] = record
        for id_, record in given_back.items():
            record.due_at = self.resolved(id_).due_at
            assert since <= record.due_at - (record.delay or NOW) // MS <= self.now()

    # upkeep, and an operator

    def expire(self) -> None:
        since = self.now()
        over = self.model.over(since)
        many = self.ledger.expire()
        if self.damaged:
            over = [id_ for id_ in over if self.resolved(id_).state is State.READY]
        assert many == len(over)
        self.expired(over, since)

    def repair(self) -> None:
        since = self.now()
        mend(self.ledger)
        self.expired(self.model.over(since), since)
        self.damaged = False
        assert set(map(bytes.decode, self.redis.hkeys(self.ledger.quarantine_key))) == self.model.spoilt.keys()
        assert indexes(self.ledger) == self.model.indexes()

    def prune(self) -> None:
        settled = self.model.any_in(State.COMPLETED, State.DEAD)
        assert self.ledger.prune(HOUR).pruned == 0
        until(self.redis, self.now() + 1)
        assert self.ledger.prune(MS).pruned == len(settled)
        for id_ in settled:
            del self.model.records[id_]

    def forget_scripts(self) -> None:
        self.redis.script_flush()

    def gate(self, closed: bool) -> None:
        self.ledger.close_gate(ANN, "why") if closed else self.ledger.open_gate(ANN)
        self.model.closed = closed

    def review(self, which: int, what: str, noticed: bool) -> None:
        if noticed:
            self.repair()
        if not self.model.spoilt:
            return
        id_ = list(self.model.spoilt)[which % len(self.model.spoilt)]
        digest, aside = reviewed(self.ledger, id_), self.redis.hexists(self.ledger.quarantine_key, id_)
        if what == "discard":
            assert self.ledger.discard(id_, "0" * 64, ANN).name == ("CHANGED" if aside else "MISSING")
            assert self.ledger.discard(id_, digest, ANN).name == ("DISCARDED" if aside else "MISSING")
            if aside:
                del self.model.spoilt[id_]
            return
        assert self.ledger.release(id_, digest, ANN).name == ("CORRUPT" if aside else "MISSING")
        if what == "mend" and aside:
            self.put_back(id_, digest)

    def put_back(self, id_: str, digest: str) -> None:
        key, value = self.changed[id_]
        self.redis.hset(key, id_, value)
        assert self.ledger.release(id_, digest, ANN).name == "CHANGED"
        assert self.ledger.release(id_, reviewed(self.ledger, id_), ANN).name == "RELEASED"
        stored = self.model.records[id_] = self.model.spoilt.pop(id_)
        record = self.resolved(id_)
        if key == self.ledger.payloads_key and stored.attempt < record.attempt:  # it was leased, then its payload read
            stored.is_claimed(record.owner, record.lease_until or 0)
        elif key == self.ledger.payloads_key and (stored.state, record.state) == (State.LEASED, State.READY):
            stored.expires(record.due_at)

    # damage

    def damage_an_index(self, id_: str, lie: str) -> None:
        ready, leases = self.ledger.ready_key, self.ledger.leases_key
        if lie == "neither":
            self.redis.zrem(ready, id_)
            self.redis.zrem(leases, id_)
        else:
            self.redis.zadd(leases if lie == "over" else ready, {id_: 10**14 if lie == "late" else 1})
        self.damaged = True

    def spoil(self, which: int, place: int, payload: bool) -> None:
        if not self.model.records:
            return
        id_ = list(self.model.records)[which % len(self.model.records)]
        key = self.ledger.payloads_key if payload else self.ledger.records_key
        value: Any = self.redis.hget(key, id_)
        at = place % (len(value) + 1)
        self.redis.hset(key, id_, value[:at] + bytes([value[at] ^ 1 if at < len(value) else 0]) + value[at + 1 :])
        self.changed[id_] = key, value
        self.model.spoilt[id_] = self.model.records.pop(id_)
        if payload:  # while nobody looks at the payload, its header is a sound one
            self.claims = [claim for claim in self.claims if claim.request_id != id_]
            if self.model.spoilt[id_].state is not State.READY:
                self.repair()

    # both hold the same

    @invariant()
    def same(self) -> None:
        records, ledger = self.model.records, self.ledger
        for (id_, stored), record in zip(records.items(), ledger.resolve_many(list(records)), strict=True):
            for name, value in vars(stored).items():
                assert name == "delay" or getattr(record, name) == value, (id_, name, record)
        pipe = self.redis.pipeline(transaction=True)
        pipe.hkeys(ledger.records_key).hkeys(ledger.payloads_key).hkeys(ledger.quarantine_key)
        pipe.zrange(ledger.ready_key, 0, -1, withscores=True).zrange(ledger.leases_key, 0, -1, withscores=True)
        headers, payloads, aside, ready, leases = pipe.execute()
        assert set(map(bytes.decode, headers)) == records.keys() | self.model.spoilt.keys()
        assert set(payloads) == set(headers)
        assert set(map(bytes.decode, aside)) <= self.model.spoilt.keys()
        if not self.damaged:
            assert (self.sound(ready), self.sound(leases)) == self.model.indexes()

    def sound(self, index: list[tuple[bytes, float]]) -> dict[str, float]:
        """Without what is spoilt and was not looked at yet."""
        return {name.decode(): score for name, score in index if name.decode() not in self.model.spoilt}


def play(redis: redis_py.Redis, queue: str, optimized: bool, examples: int, steps: int = 40) -> None:
    """So many sequences of calls. AssertionError, with the shortest one that shows it, when ledger and model differ."""

    def new() -> Ledger:
        ledger = Ledger(redis, "model", queue, max_records=ROOM, optimized=optimized)
        indexes = (ledger.ready_key, ledger.leases_key)
        redis.delete(ledger.records_key, ledger.payloads_key, *indexes, ledger.quarantine_key, ledger.gate_key)
        return ledger

    checks = list(HealthCheck)
    how = settings(max_examples=examples, stateful_step_count=steps, deadline=None, suppress_health_check=checks)
    stateful.run_state_machine_as_test(type("Machine", (Machine,), {"new": staticmethod(new)}), settings=how)
