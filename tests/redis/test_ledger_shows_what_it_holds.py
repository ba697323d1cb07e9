"""Records, indexes and numbers as they are; a corrupt record stands in its place and breaks no page."""

import pytest
import redis as redis_py

from joobq_admin.joobq.delivery import CorruptRecord, Ledger, LedgerStats, Seen, State, steps
from tests.support.database import contents
from tests.support.ledgers import (
    HOUR,
    MS,
    SECOND,
    clock,
    held,
    ledger_of,
    mend,
    run_out,
    spoil_header,
    spoil_payload,
    stored,
    until,
)
from tests.support.operators import ANN

BOTH = pytest.mark.parametrize("optimized", [True, False], ids=["batches", "one by one"])


@BOTH
def test_each_request_is_resolved_in_its_place(redis: redis_py.Redis, optimized: bool) -> None:
    ledger = ledger_of(redis, optimized=optimized)
    ledger.admit_many([(name, b"1") for name in ("a", "header", "payload", "none")])
    spoil_header(ledger, "header")
    spoil_payload(ledger, "payload")
    redis.hdel(ledger.payloads_key, "none")
    before = contents(redis)
    found = ledger.resolve_many(["header", "a", "unknown", "payload", "none", "a"])
    assert [type(each) for each in (found[0], *found[3:5])] == [CorruptRecord] * 3
    reasons = ["the header's checksum does not fit", "the payload does not fit its digest", "there is no payload"]
    assert [found[0].reason, found[3].reason, found[4].reason] == reasons
    assert found[1] == found[5] == ledger.resolve("a")
    assert found[2] is ledger.resolve("unknown") is None
    with pytest.raises(CorruptRecord, match="'header': the header's checksum") as told:
        ledger.resolve("header")
    assert told.value.request_id == "header"
    assert contents(redis) == before


def test_a_record_under_another_id_is_corrupt(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    ledger.admit_many([("a", b"1"), ("b", b"1")])
    headers = redis.hgetall(ledger.records_key)
    redis.hset(ledger.records_key, mapping={"a": headers[b"b"], "b": headers[b"a"]})
    assert [type(each) for each in ledger.resolve_many(["a", "b"])] == [CorruptRecord] * 2
    assert ledger.claim_many("w") == []


def test_what_changed_between_two_reads_is_not_taken_for_corrupt(
    redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The header was read, then the request was pruned, or pruned and admitted again with another payload."""
    ledger = ledger_of(redis)
    held(ledger)
    read, replaced = ledger._read, []

    def late(*calls):
        if calls[0][:2] == ("HMGET", ledger.payloads_key) and not replaced:
            replaced.append(1)
            redis.delete(ledger.records_key, ledger.payloads_key)
            if again:
                ledger.admit("a", b"another")
        return read(*calls)

    monkeypatch.setattr(ledger, "_read", late)
    again = False
    assert ledger.resolve("a") is None
    replaced.clear()
    held(ledger)
    again = True
    assert ledger.resolve("a").payload == b"another"


def test_all_records_come_page_by_page(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    ledger.admit_many([(str(n), b"1") for n in range(300)] + [(f"large {n}", bytes(1_000_000)) for n in range(6)])
    spoil_header(ledger, "7")
    page = ledger.records("0", 1_000)
    assert page.cursor != "0"  # large ones make a page smaller
    records = list(page.records)
    while page.cursor != "0":
        page = ledger.records(page.cursor, 50)
        records += page.records
    assert {record.request_id for record in records} == {str(n) for n in range(300)} | {f"large {n}" for n in range(6)}
    assert {record.request_id for record in records if isinstance(record, CorruptRecord)} == {"7"}


def test_the_first_of_each_index_is_shown(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    assert ledger.upcoming(5) == ledger.in_flight(5) == []
    held(ledger, "long", lease=HOUR)
    held(ledger, "short", lease=SECOND)
    for name, delay in (("c", HOUR), ("b", 2 * SECOND), ("a", HOUR * 2)):
        ledger.admit(name, b"1", delay)
    redis.zadd(ledger.ready_key, {"ghost": 1})
    assert [record.request_id for record in ledger.in_flight(5)] == ["short", "long"]
    assert [record.request_id for record in ledger.upcoming(3)] == ["b", "c"]  # an entry without a record is not shown
    spoil_header(ledger, "b")
    assert isinstance(ledger.upcoming(5)[0], CorruptRecord)


def test_the_numbers_of_one_moment(redis: redis_py.Redis) -> None:
    ledger, before = ledger_of(redis, max_records=9), clock(redis)
    empty = ledger.stats()
    assert empty == LedgerStats(empty.at, 0, 9, 0, 0, 0, 0, 0, None, None, None)
    assert empty.at in range(before, clock(redis) + 1)
    run_out(ledger, held(ledger, "over", lease=MS))
    held(ledger, "live")
    ledger.settle(held(ledger, "done"))
    ledger.admit("spoilt", b"1")
    spoil_header(ledger, "spoilt")
    last = ledger.claim("w")
    assert last.request_id == "over"
    run_out(ledger, ledger.renew(held(ledger, "again", lease=MS), MS).claim)
    due = ledger.admit("due", b"1").record.due_at
    ledger.admit("due too", b"1")
    ledger.admit("later", b"1", HOUR)
    gate = ledger.close_gate(ANN, "because").gate
    until(redis, due)
    stats = ledger.stats()
    assert stats == LedgerStats(stats.at, 8, 9, 2, 1, 2, 1, 1, due, gate, last.lease_until)


@pytest.mark.parametrize("score", ["-inf", "-1", "1e15"])
def test_a_score_that_is_no_time_is_none(redis: redis_py.Redis, score: str) -> None:
    ledger = ledger_of(redis)
    held(ledger)
    redis.zadd(ledger.leases_key, {"a": score.replace("-inf", "inf")})
    redis.zadd(ledger.ready_key, {"a": score})
    stats, seen = ledger.stats(), ledger.look("a")
    assert (stats.oldest_due, stats.last_lease, seen.ready, seen.leases) == (None, None, None, None)
    assert stats.due + stats.later == 1


def test_the_first_of_each_index_by_headers_alone(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    assert ledger.next_due(1_000) == ledger.leased(1) == []
    claim = held(ledger, "leased")
    ledger.admit_many((f"{n:03d}", b"1") for n in range(200))
    spoil_payload(ledger, "leased")
    spoil_header(ledger, "001")
    redis.zadd(ledger.ready_key, {"ghost": 1})
    (leased,) = ledger.leased(5)
    assert (leased.request_id, leased.state, leased.lease_until) == ("leased", State.LEASED, claim.lease_until)
    assert (leased.owner, leased.attempt, leased.due_at) == ("w", 1, claim.admitted_at)
    assert leased.updated_at in range(claim.admitted_at, clock(redis) + 1)
    due = ledger.next_due(150)
    assert [each.request_id for each in due] == [f"{n:03d}" for n in range(149)]
    assert isinstance(due[1], CorruptRecord)
    assert ledger.claim("v", HOUR).request_id == "000"
    assert [each.request_id for each in ledger.leased(5)] == ["leased", "000"]
    assert [each.request_id for each in ledger.leased(1, last=True)] == ["000"]


def test_all_that_is_kept_of_a_request(redis: redis_py.Redis) -> None:
    ledger, before = ledger_of(redis), clock(redis)
    nothing = ledger.look("a")
    assert nothing == Seen("a", nothing.at, None, None, None, None, None, None, None)
    assert nothing.at in range(before, clock(redis) + 1)
    claim, gate = held(ledger), ledger.close_gate(ANN, "because").gate
    seen = ledger.look("a")
    assert (seen.header, seen.payload) == stored(ledger, "a")
    assert seen.record == ledger.resolve("a")
    assert (seen.ready, seen.leases, seen.quarantined, seen.gate) == (None, claim.lease_until, None, gate)
    redis.zadd(ledger.ready_key, {"a": 5})
    redis.zadd(ledger.leases_key, {"a": "inf"})
    assert (ledger.look("a").ready, ledger.look("a").leases) == (5, None)
    spoil_header(ledger, "a")
    mend(ledger)
    seen = ledger.look("a")
    assert isinstance(seen.record, CorruptRecord)
    (kept,) = ledger.quarantined().records
    assert (seen.quarantined.digest, seen.quarantined.evidence) == (kept.digest, kept.evidence)
    redis.delete(ledger.records_key, ledger.payloads_key)
    seen = ledger.look("a")
    assert seen.record.reason == "the header has another form"
    assert (seen.header, seen.quarantined.payload) == (None, None)


def test_several_are_read_together(redis: redis_py.Redis) -> None:
    ledgers = [Ledger(redis, "shop", f"queue {n}") for n in range(120)]
    assert (Ledger.stats_of(redis, []), Ledger.holding(redis, "a", [])) == ([], ([], []))
    ledgers[7].admit("a", b"1")
    ledgers[70].admit_many([("a", b"1"), ("b", b"2")])
    redis.hset(ledgers[90].quarantine_key, "a", "0:-:")
    assert [stats.records for stats in Ledger.stats_of(redis, ledgers)] == [
        {7: 1, 70: 2}.get(n, 0) for n in range(120)]  # fmt: skip
    assert Ledger.holding(redis, "a", ledgers) == ([ledgers[7], ledgers[70], ledgers[90]], [])
    assert Ledger.holding(redis, "b", ledgers) == ([ledgers[70]], [])
    for n in (3, 70):
        redis.set(ledgers[n].quarantine_key, "no hash")
    assert Ledger.holding(redis, "a", ledgers) == ([ledgers[7], ledgers[90]], [ledgers[3], ledgers[70]])
    told = Ledger.stats_of(redis, ledgers)
    assert [n for n, stats in enumerate(told) if isinstance(stats, redis_py.RedisError)] == [3, 70]


def test_every_ledger_that_holds_something_is_discovered(redis: redis_py.Redis) -> None:
    assert Ledger.discover(redis) == []
    for namespace, queue in (("shop", "mail"), ("shop", "eu:mail"), ("kiosk é", "*?[a]\\ b"), ("shop", "gate")):
        Ledger(redis, namespace, queue).admit("a", b"1")
    Ledger(redis, "closed", "only").close_gate(ANN, "")
    Ledger(redis, "never", "used").claim("w")
    for other in ("joobq:delivery:{a:b}:other", "joobq:delivery:{ab}:records", "joobq:delivery:x", "shop:mail"):
        redis.set(other, "1")
    redis.set(b"joobq:delivery:{\xff:b}:records", "1")
    assert Ledger.discover(redis) == [
        ("closed", "only"),
        ("kiosk é", "*?[a]\\ b"),
        ("shop", "eu:mail"),
        ("shop", "gate"),
        ("shop", "mail"),
    ]


def test_two_ledgers_know_nothing_of_each_other(redis: redis_py.Redis) -> None:
    one, other = Ledger(redis, "shop", "mail"), Ledger(redis, "shop", "text")
    one.admit("a", b"1")
    other.admit("a", b"2")
    one.close_gate(ANN, "")
    assert other.claim("w").payload == b"2"
    assert one.resolve("a").state is State.READY
    mend(other)
    assert one.stats().due == 1


def test_numbers_need_no_right_to_write(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    assert ledger._read(steps.STATS.call(ledger._keys, read_only=True))[0][1] == 0
