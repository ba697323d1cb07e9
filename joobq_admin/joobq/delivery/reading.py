"""What a ledger holds, read. Nothing here changes anything."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, TypeVar

from redis import Redis, RedisCluster, exceptions

from joobq_admin.joobq import keys, refusals, scripts
from joobq_admin.joobq.asked import many, whole
from joobq_admin.joobq.delivery import asked, steps
from joobq_admin.joobq.delivery.batches import MAX_BATCH, MAX_BATCH_BYTES, batches
from joobq_admin.joobq.delivery.node import on_its_node
from joobq_admin.joobq.delivery.record import CorruptRecord, Header, Record, decode, read_header, size_of
from joobq_admin.joobq.delivery.shapes import Gate, LedgerStats, RecordPage
from joobq_admin.joobq.entry import to_text

MAX_RECORDS, MAX_PAYLOAD_BYTES = 100_000, 1 << 20  # where a producer says nothing else
MOST_A_PAGE = 1_000

R = TypeVar("R", bound="Reading")
T = TypeVar("T")


class Reading:
    """See delivery.ledger.Ledger. Reads raise Unreachable when Redis does not answer, else what Redis says."""

    def __init__(
        self,
        redis: Redis | RedisCluster,
        namespace: str,
        queue: str,
        max_payload_bytes: int = MAX_PAYLOAD_BYTES,
        max_records: int = MAX_RECORDS,
        optimized: bool = True,
    ) -> None:
        if redis.get_encoder().decode_responses:
            raise ValueError("payloads are bytes: the client must not decode responses")
        self.redis = redis
        self.namespace, self.queue = asked.namespace(namespace), asked.queue(queue)
        self.max_payload_bytes = whole("max_payload_bytes", max_payload_bytes, 0)
        self.max_records = whole("max_records", max_records, 0)
        self.optimized, self._batch = optimized, MAX_BATCH if optimized else 1
        self._keys = keys.delivery(namespace, queue)
        self.records_key, self.payloads_key, self.ready_key, self.leases_key, self.quarantine_key, self.gate_key = (
            key.decode() for key in self._keys
        )

    # -- records

    def resolve(self, request_id: str) -> Record | None:
        """What became of this request; None = never admitted, or pruned. Raises CorruptRecord."""
        (found,) = self.resolve_many([request_id])
        if isinstance(found, CorruptRecord):
            raise found
        return found

    def resolve_many(self, ids: Iterable[str]) -> list[Record | CorruptRecord | None]:
        """The same of many, in order; for a corrupt one the exception stands in its place."""
        found = list[Record | CorruptRecord | None]()
        for batch in batches(map(asked.request_id, many(ids)), self._batch):
            (headers,) = self._read(("HMGET", self.records_key, *batch))
            found += self._decoded(batch, headers)
        return found

    def in_quarantine(self, ids: Iterable[str]) -> set[str]:
        """Those of these requests that are set aside: whatever stands under their ids, nothing moves it."""
        names = list(many(ids))
        replies = self._read(*(("HEXISTS", self.quarantine_key, asked.request_id(name)) for name in names))
        return {name for name, there in zip(names, replies, strict=True) if there}

    def records(self, cursor: str = "0", count: int = 100) -> RecordPage:
        """About `count` records (1 to 1000; fewer when payloads are large) in no order. What is there throughout comes.

        A record may come twice, as with Redis's HSCAN.
        """
        asked.cursor(cursor)
        asked.limit(count, MOST_A_PAGE)
        while True:
            ((after, found),) = self._read(("HSCAN", self.records_key, cursor, "COUNT", count))
            ids, headers = found[::2], found[1::2]
            if sum(map(size_of, headers)) <= MAX_BATCH_BYTES or count == 1:
                break
            count //= 2
        return RecordPage(to_text(after), tuple(record for record in self._decoded(ids, headers) if record))

    def upcoming(self, limit: int) -> list[Record | CorruptRecord]:
        """The requests that are due first, by the ready index; 1 to 128."""
        return self._first(self.ready_key, limit)

    def in_flight(self, limit: int) -> list[Record | CorruptRecord]:
        """The requests whose leases end first, by the leases index; 1 to 128."""
        return self._first(self.leases_key, limit)

    def next_due(self, limit: int) -> list[Header | CorruptRecord]:
        """The same as upcoming, by headers alone; 1 to 1000."""
        return self._headers(self.ready_key, limit)

    def leased(self, limit: int, last: bool = False) -> list[Header | CorruptRecord]:
        """The same as in_flight, by headers alone; 1 to 1000. `last`: those that end last, the last one first."""
        return self._headers(self.leases_key, limit, *(["REV"] if last else []))

    # -- the ledger

    def stats(self) -> LedgerStats:
        """How much there is of everything, at one moment, in constant time."""
        (answer,) = self._read(steps.STATS.call(self._keys, read_only=True))
        return self._stats(answer)

    @staticmethod
    def stats_of(redis: Redis, ledgers: Sequence["Reading"]) -> list[LedgerStats | exceptions.RedisError]:
        """The same of several ledgers of this server, which is no cluster, in few round trips.

        Of one of which a key holds another type, or may not be read, what Redis says stands in its place.
        """
        answers = _of_each(redis, [[steps.STATS.call(ledger._keys, read_only=True)] for ledger in ledgers])
        return [
            answer if isinstance(answer, exceptions.RedisError) else ledger._stats(*answer)
            for ledger, answer in zip(ledgers, answers, strict=True)
        ]

    @staticmethod
    def holding(redis: Redis, request_id: str, ledgers: Sequence[R]) -> tuple[list[R], list[R]]:
        """Those of several ledgers of this server, which is no cluster, where something is kept under this id; and
        those of which a key holds another type, or may not be read: nobody knows.
        """
        name, found, unread = asked.request_id(request_id), list[R](), list[R]()
        kinds = [[("HEXISTS", key, name) for key in (each.records_key, each.quarantine_key)] for each in ledgers]
        for ledger, answer in zip(ledgers, _of_each(redis, kinds), strict=True):
            if isinstance(answer, exceptions.RedisError):
                unread.append(ledger)
            elif any(answer):
                found.append(ledger)
        return found, unread

    def _stats(self, answer: list[Any]) -> LedgerStats:
        now, records, due, later, leased, expired, quarantined, first, gate, last = answer
        return LedgerStats(
            at=now,
            records=records,
            max_records=self.max_records,
            due=due,
            later=later,
            leased=leased,
            expired=expired,
            quarantined=quarantined,
            oldest_due=moment(first) if due else None,
            gate=steps.gate(gate),
            last_lease=moment(last) if leased else None,
        )

    def gate(self) -> Gate | None:
        """Who closed the gate; None = it is open."""
        (value,) = self._read(("GET", self.gate_key))
        return steps.gate(value)

    # -- for the rooms above

    def _run(self, script: scripts.Script, *args: Any) -> Any:
        """One writing script, sent once. Raises what Redis says, Unreachable, AnswerLost."""
        return self._send(script.call(self._keys, args))

    def _send(self, call: scripts.Call) -> Any:
        return self._there(lambda redis: scripts.run(redis, call))

    def _read(self, *calls: scripts.Call) -> list[Any]:
        return self._there(lambda redis: scripts.read(redis, calls))

    def _there(self, act: Callable[[Redis], T]) -> T:
        """On the node of its keys. Of an error about a type Redis does not say which key it means."""
        try:
            return on_its_node(self.redis, self.records_key, act)
        except exceptions.ResponseError as error:
            wrong = scripts.or_else("", self._of_another_type) if refusals.wrong_type(error) else ""
            if not wrong:
                raise
            raise exceptions.ResponseError(f"{refusals.said(error)}: {wrong}") from error

    def _of_another_type(self) -> str:
        """The first key that is, and of which one; '' where none is."""
        look = [("TYPE", key) for key in self._keys]
        found = on_its_node(self.redis, self.records_key, lambda redis: scripts.read(redis, look))
        for key, one, own in zip(self._keys, map(to_text, found), keys.DELIVERY_KINDS.values(), strict=True):
            if one not in ("none", own):
                return f"{to_text(key)} is a {one}, not a {own}"
        return ""

    def _first(self, index: str, limit: int) -> list[Record | CorruptRecord]:
        asked.limit(limit, MAX_BATCH)
        (ids,) = self._read(("ZRANGE", index, 0, limit - 1))
        return [record for record in self.resolve_many(map(to_text, ids)) if record]

    def _headers(self, index: str, limit: int, *order: str) -> list[Header | CorruptRecord]:
        (ids,) = self._read(("ZRANGE", index, 0, asked.limit(limit, MOST_A_PAGE) - 1, *order))
        found = list[Header | CorruptRecord]()
        for batch in batches(ids, MAX_BATCH):
            (headers,) = self._read(("HMGET", self.records_key, *batch))
            found += [_header(*pair) for pair in zip(map(to_text, batch), headers, strict=True) if pair[1] is not None]
        return found

    def _decoded(self, ids: Sequence[bytes], headers: Sequence[bytes | None]) -> list[Record | CorruptRecord | None]:
        payloads = self._payloads(list(zip(ids, headers, strict=True)))
        return [
            self._record(request_id, header, payload) if header is not None else None
            for request_id, header, payload in zip(ids, headers, payloads, strict=True)
        ]

    def _record(self, request_id: bytes, header: bytes, payload: bytes | None) -> Record | CorruptRecord | None:
        """Header and payload were read one after the other: only what does not fit when read together is corrupt."""
        try:
            return decode(to_text(request_id), header, payload)
        except CorruptRecord:
            now, payload = self._stored(request_id)
        if now is None:
            return None
        try:
            return decode(to_text(request_id), now, payload)
        except CorruptRecord as corrupt:
            return corrupt

    def _payloads(self, wanted: Sequence[tuple[bytes, bytes | None]]) -> list[bytes | None]:
        """The payloads of these ids, whose headers tell their sizes: no reply is over 2 MiB."""
        found = list[bytes | None]()
        for batch in batches(wanted, MAX_BATCH, lambda pair: size_of(pair[1] or b"")):
            (payloads,) = self._read(("HMGET", self.payloads_key, *(request_id for request_id, _ in batch)))
            found += payloads
        return found

    def _stored(self, request_id: bytes) -> tuple[bytes | None, bytes | None]:
        """Header and payload of one moment. A full Redis would refuse MULTI."""
        ((header, payload),) = self._read(steps.STORED.call(self._keys, (request_id,), read_only=True))
        return header, payload


def _of_each(
    redis: Redis, groups: Sequence[Sequence[scripts.Call]], most: int = scripts.PIPELINE
) -> list[list[Any] | exceptions.RedisError]:
    """What each group of calls answers, so many groups a round trip; of one that is locked the error in its place."""
    found = list[list[Any] | exceptions.RedisError]()
    for block in (groups[at : at + most] for at in range(0, len(groups), most)):
        try:
            replies = iter(scripts.read(redis, list(chain(*block))))
            found += [[next(replies) for _ in group] for group in block]
        except exceptions.RedisError as error:
            if not refusals.locked(error):
                raise
            found += [error] if len(block) == 1 else _of_each(redis, block, (len(block) + 1) // 2)
    return found


def moment(score: bytes | None) -> int | None:
    """When, in ms, by an index; None for a score that is no time too: whatever writes such an entry is no ledger."""
    found = float(score or "nan")
    return int(found) if 0 <= found <= asked.LAST_MS else None


def _header(request_id: str, header: bytes) -> Header | CorruptRecord:
    try:
        return read_header(request_id, header)
    except CorruptRecord as corrupt:
        return corrupt
