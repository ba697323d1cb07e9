"""The delivery ledger: what happened to request X? One record a request, leases for workers, a gate for operators."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

from redis import Redis, RedisCluster

from joobq_admin.joobq import scripts
from joobq_admin.joobq.asked import many
from joobq_admin.joobq.delivery import asked, discovery, steps
from joobq_admin.joobq.delivery.batches import MAX_BATCH, MAX_BATCH_BYTES, batches
from joobq_admin.joobq.delivery.cycles import Cycles
from joobq_admin.joobq.delivery.gate import Gating
from joobq_admin.joobq.delivery.quarantine import Reviewing
from joobq_admin.joobq.delivery.record import CorruptRecord, State, decode, digest
from joobq_admin.joobq.delivery.shapes import Admission, AdmissionOutcome, Claim, Settlement, SettlementOutcome
from joobq_admin.joobq.entry import to_text

INLINE = 4_096  # bytes; a longer payload does not pass through Lua
NOW, HALF_A_MINUTE = timedelta(0), timedelta(seconds=30)

Ending = tuple[Claim, State] | tuple[Claim, State, timedelta]  # of a claim: what became of it, READY after which delay


class Ledger(Cycles, Gating, Reviewing):
    """The ledger of one queue in one namespace, on `redis`, a client that returns bytes; threads may share it.

    Neither name may be empty or hold braces or control characters, a namespace no colon either. `max_records` counts
    all records, settled ones too. `optimized=False` sends one call per item; its answers are the same.

    The record is the truth, the ready and leases indexes follow from it. Times are Redis's, in unix ms: no client's
    clock takes part. Every change is one script, sent once, that does nothing unless the record is the one that is
    meant. Request ids and owners are text of 1 to 512 bytes, payloads bytes, or text taken as UTF-8.

    Bad input is a ValueError before Redis is asked. Unreachable (a redis.ConnectionError): nothing was sent. AnswerLost
    (another one): it may be done or not, and each method says what asking again does. What the server refuses is raised
    as redis-py raises it. A full Redis (OutOfMemoryError) takes no new requests; leases, settling and the gate go on.
    """

    @staticmethod
    def discover(redis: Redis | RedisCluster) -> list[tuple[str, str]]:
        """(namespace, queue) of every ledger that holds something, in order; scans the names of all keys."""
        return sorted(set(discovery.names_of(redis.scan_iter(match=discovery.PATTERN, count=1_000))))

    # -- producers

    def admit(
        self, request_id: str, payload: bytes | str, delay: timedelta = NOW, traceparent: str | None = None
    ) -> Admission:
        """Accepts a request once; it is due after `delay` (at least 0).

        ACCEPTED with its record. DUPLICATE: the same payload is here under this id, with its record as it stands; delay
        and traceparent are not compared. CONFLICT: another payload, or a record that is corrupt or in quarantine;
        nothing is told of it. FULL, TOO_LARGE. Asked again after a lost answer: DUPLICATE when the first was stored,
        ACCEPTED when not.
        """
        return self.admit_many([(request_id, payload)], delay, traceparent)[0]

    def admit_many(
        self, requests: Iterable[tuple[str, bytes | str]], delay: timedelta = NOW, traceparent: str | None = None
    ) -> list[Admission]:
        """The same of many, in order, in batches of at most 128 requests and 2 MiB, each batch at once; not all of it.

        When a connection is lost midway any prefix may be stored; ask again with the same ids. Of the same id twice the
        second is DUPLICATE or CONFLICT.
        """
        wait, trace = asked.delay(delay), asked.traceparent(traceparent)
        wanted = [(asked.request_id(name), asked.payload(payload)) for name, payload in many(requests)]
        fitting = (item for item in wanted if len(item[1]) <= self.max_payload_bytes)
        found = list[Admission]()
        for batch in batches(fitting, self._batch, lambda item: len(item[1])):
            found += self._admit(batch, wait, trace)
        answers = iter(found)
        too_large = Admission(AdmissionOutcome.TOO_LARGE, None)
        return [next(answers) if len(payload) <= self.max_payload_bytes else too_large for _, payload in wanted]

    def import_record(
        self, request_id: str, payload: bytes | str, state: State, due_at: int, owner: str = ""
    ) -> Admission:
        """Takes a record over from elsewhere, while the gate is closed: else GATE_OPEN. `due_at` in unix ms.

        LEASED becomes READY without owner: a lease cannot be carried over. What is here under the id must agree in
        every field, DUPLICATE, else CONFLICT: asked again it changes nothing. FULL, TOO_LARGE.
        """
        if asked.state(state) is State.LEASED:
            state, owner = State.READY, ""
        name, body = asked.request_id(request_id), asked.payload(payload)
        due, who = asked.at("due_at", due_at), asked.owner(owner) if owner else b""
        if len(body) > self.max_payload_bytes:
            return Admission(AdmissionOutcome.TOO_LARGE, None)
        sha = digest(body)
        answer = self._run(steps.IMPORT_RECORD, self.max_records, name, state.letter, f"{due:015d}", who, sha, body)
        return _admission(name, body, sha, *answer)

    def _admit(self, batch: Sequence[tuple[bytes, bytes]], wait: int, trace: str) -> list[Admission]:
        digests = [digest(payload) for _, payload in batch]
        args = list[object]()
        for (name, payload), sha in zip(batch, digests, strict=True):
            args += (name, wait, sha, trace, payload)
        answer = self._run(steps.ADMIT, self.max_records, *args)
        rows = zip(batch, digests, answer[::2], answer[1::2], strict=True)
        return [_admission(*item, *row) for item, *row in rows]

    # -- workers

    def claim(self, owner: str, lease: timedelta = HALF_A_MINUTE) -> Claim | None:
        """The request that is due longest, leased to `owner`; None: nothing is due, or the gate is closed.

        The lease (above 0) begins at Redis's now. When nothing is due, leases that are over end first. A corrupt record
        is quarantined and passed over, and an index entry that lies is mended: one bad record never blocks a queue.
        After a lost answer the request may be leased to `owner` all the same: it comes back when that lease is over.
        """
        claims = self.claim_many(owner, 1, lease)
        return claims[0] if claims else None

    def claim_many(self, owner: str, limit: int = MAX_BATCH, lease: timedelta = HALF_A_MINUTE) -> list[Claim]:
        """The same of up to `limit` requests (1 to 128), what is due longest first; large payloads in steps of 2 MiB.

        When a later step fails, what the steps before it have claimed is returned.
        """
        name, ms, nothing = asked.owner(owner), asked.lease(lease), (list[Claim](), False)
        asked.limit(limit, MAX_BATCH)
        claims, goes_on = list[Claim](), True
        while goes_on and len(claims) < limit:
            step = partial(self._claim, name, ms, min(self._batch, limit - len(claims)), may_expire=not claims)
            got, goes_on = scripts.or_else(nothing, step) if claims else step()
            claims += got
        return claims

    def renew(self, claim: Claim, lease: timedelta = HALF_A_MINUTE) -> Settlement:
        """A lease that ends `lease` from now, if that is later: APPLIED with the new claim, for the one who holds it.

        LOST: the lease is over, or it was settled; somebody else may do the work by now. GATE_CLOSED: the lease ends
        when it ends, until then it can be settled. Asked again after a lost answer it renews again.
        """
        outcome, ends = self._run(steps.RENEW, *asked.claim(claim), asked.lease(lease))
        renewed = replace(claim, lease_until=int(ends)) if ends else claim
        return Settlement(steps.outcome(SettlementOutcome, outcome), renewed)

    def settle(self, claim: Claim, state: State = State.COMPLETED, delay: timedelta = NOW) -> Settlement:
        """Ends a claim: COMPLETED, DEAD, or READY again after `delay`. Works while the gate is closed.

        APPLIED, or LOST: the lease is over, it was settled otherwise, or the record is in quarantine. Asked again after
        a lost answer: ALREADY when exactly this is stored; LOST when it was not done and the lease is over by now, or
        READY was, and claimed since.
        """
        return self.settle_many([(claim, state, delay)])[0]

    def settle_many(self, items: Iterable[Ending]) -> list[Settlement]:
        """The same of (claim, state) or (claim, state, delay), in order, in batches of 128, each batch at once."""
        wanted = [
            (claim, (*asked.claim(claim), asked.end(state).letter, asked.delay(delay[0] if delay else NOW)))
            for claim, state, *delay in many(items)
        ]
        found = list[Settlement]()
        for batch in batches(wanted, self._batch):
            answer = self._run(steps.SETTLE, *(arg for _, args in batch for arg in args))
            for (claim, _), reply in zip(batch, answer, strict=True):
                found.append(Settlement(steps.outcome(SettlementOutcome, reply), claim))
        return found

    def _claim(self, owner: bytes, lease: int, limit: int, may_expire: bool) -> tuple[list[Claim], bool]:
        """One step; is it worth asking on?"""
        answer = self._run(steps.CLAIM, owner, lease, limit, MAX_BATCH_BYTES, INLINE, int(may_expire))
        passed, more, *flat = answer
        got = self._checked(flat[::3], flat[1::3], flat[2::3])
        goes_on = bool(passed or more) or None in got or len(got) == limit
        return [claim for claim in got if claim], goes_on

    def _checked(
        self, ids: Sequence[bytes], headers: Sequence[bytes], payloads: Sequence[bytes | None]
    ) -> list[Claim | None]:
        """Claims of what was leased; None for one whose payload is not the one that was admitted: quarantined."""
        long = [pair for *pair, payload in zip(ids, headers, payloads, strict=True) if payload is None]
        late = iter(self._payloads([(name, header) for name, header in long]))
        found = list[Claim | None]()
        for name, header, short in zip(ids, headers, payloads, strict=True):
            payload = next(late) if short is None else short
            try:
                record = decode(to_text(name), header, payload)
            except CorruptRecord:
                self._set_aside(name, header, payload)
                found.append(None)
                continue
            found.append(
                Claim(
                    request_id=record.request_id,
                    payload=record.payload,
                    owner=record.owner,
                    attempt=record.attempt,
                    admitted_at=record.admitted_at,
                    lease_until=record.lease_until or 0,
                    traceparent=record.traceparent,
                )
            )
        return found


def _admission(name: bytes, payload: bytes, sha: str, outcome: bytes, header: bytes) -> Admission:
    """The payload that stands is the one that was sent: its digest is known."""
    record = decode(to_text(name), header, payload, known=sha) if header else None
    return Admission(steps.outcome(AdmissionOutcome, outcome), record)
