"""Page by page: corrupt records are set aside, leases end, and both indexes say again what the records say."""

import pytest
import redis as redis_py

from joobq_admin.joobq.delivery import MAX_BATCH_BYTES, Ledger, RepairPage, State, steps
from tests.support.database import changed, contents
from tests.support.ledgers import (
    HOUR,
    MS,
    agrees,
    held,
    indexes,
    ledger_of,
    mend,
    run_out,
    spoil_header,
    spoil_payload,
    stored,
)


def filled(redis: redis_py.Redis) -> Ledger:
    """One request in each state, and one that is due later."""
    ledger = ledger_of(redis)
    held(ledger, "leased", lease=HOUR)
    ledger.settle(held(ledger, "completed"))
    ledger.settle(held(ledger, "dead"), State.DEAD)
    ledger.admit("ready", b"1")
    ledger.admit("later", b"1", HOUR)
    return ledger


def test_a_sound_ledger_stays_as_it_is(redis: redis_py.Redis) -> None:
    ledger = filled(redis)
    before = contents(redis)
    assert ledger.repair_page() == RepairPage("0", 5, 0, 0, 0)
    assert ledger.repair() == "0"
    assert ledger.repair_indexes() == RepairPage("leases:0", 2, 0, 0, 0)
    assert ledger.repair_indexes("leases:0") == RepairPage("0", 1, 0, 0, 0)
    assert contents(redis) == before


@pytest.mark.parametrize("name", ["leased", "completed", "dead", "ready", "later", "ghost"])
@pytest.mark.parametrize("index", ["ready", "leases"])
@pytest.mark.parametrize("score", [None, 1, 10**14])
def test_an_index_that_lies_is_put_right(redis: redis_py.Redis, name: str, index: str, score: int | None) -> None:
    ledger = filled(redis)
    before = contents(redis)
    key = getattr(ledger, f"{index}_key")
    if score is None:
        redis.zrem(key, name)
    else:
        redis.zadd(key, {name: score})
    wrong = changed(before, contents(redis)) != set()
    page = ledger.repair_page()
    assert page == RepairPage("0", 5, 0, 1 if wrong and name != "ghost" else 0, 0)
    assert mend(ledger) == (0, 1 if wrong and name == "ghost" else 0, 0)
    assert contents(redis) == before


def test_indexes_that_are_gone_come_back(redis: redis_py.Redis) -> None:
    ledger = filled(redis)
    before = contents(redis)
    redis.delete(ledger.ready_key, ledger.leases_key)
    assert mend(ledger) == (0, 3, 0)
    assert contents(redis) == before


def test_from_an_index_goes_what_has_no_record_and_nothing_else(redis: redis_py.Redis) -> None:
    """Whether the others lie is told by their records, page by page: nothing is counted twice."""
    ledger = filled(redis)
    before = contents(redis)
    redis.zadd(ledger.ready_key, {"leased": 2, "later": 3, "completed": 4})
    redis.zadd(ledger.leases_key, {"leased": 2, "ready": 3, "dead": 4})
    lies = contents(redis)
    redis.zadd(ledger.ready_key, {"ghost": 1})
    redis.zadd(ledger.leases_key, {"ghost": 1})
    assert ledger.repair_indexes() == RepairPage("leases:0", 5, 0, 1, 0)
    assert ledger.repair_indexes("leases:0") == RepairPage("0", 4, 0, 1, 0)
    assert contents(redis) == lies
    assert ledger.repair_page().mended == 5
    assert contents(redis) == before


def test_a_lease_that_is_over_ends(redis: redis_py.Redis) -> None:
    ledger = filled(redis)
    run_out(ledger, ledger.claim("w", MS))
    assert ledger.repair_page() == RepairPage("0", 5, 1, 0, 0)
    record = ledger.resolve("ready")
    assert (record.state, record.owner, record.attempt) == (State.READY, "", 1)
    assert agrees(ledger)


def test_corrupt_ones_are_set_aside_once_and_left_as_evidence(redis: redis_py.Redis) -> None:
    ledger = filled(redis)
    spoil_header(ledger, "leased")
    spoil_header(ledger, "completed")
    spoil_payload(ledger, "ready")
    redis.hdel(ledger.payloads_key, "later")
    found = {name: stored(ledger, name) for name in ("leased", "completed", "ready", "later")}
    assert ledger.repair_page() == RepairPage("0", 5, 0, 0, 4)
    assert indexes(ledger) == ({}, {})
    for name, (header, payload) in found.items():
        size = b"-" if payload is None else b"%d" % len(payload)
        copy = redis.hget(ledger.quarantine_key, name)
        assert copy == b"%d:%b:%b%b" % (len(header), size, header, payload or b"")
        assert stored(ledger, name) == (header, payload)
    before = contents(redis)
    redis.zadd(ledger.ready_key, {"ready": 1, "later": 1})
    redis.zadd(ledger.leases_key, {"leased": 1})
    assert mend(ledger) == (0, 3, 0)  # they are known, and kept out of the indexes
    assert contents(redis) == before
    redis.zadd(ledger.ready_key, {"ready": int(found["ready"][0][139:154])})  # as its header has it
    assert mend(ledger) == (0, 1, 0)
    assert contents(redis) == before


def test_only_the_very_bytes_that_were_seen_are_set_aside(redis: redis_py.Redis) -> None:
    """Between a look and the script the record may be another one."""
    ledger = filled(redis)
    header, payload = stored(ledger, "ready")
    before = contents(redis)
    for seen in (
        (header[:-1], payload),
        (header, payload + b"1"),
        (header, None),
        (stored(ledger, "later")[0], payload),
    ):
        assert ledger._run(steps.QUARANTINE, "ready", seen[0], steps.seen(seen[1])) == 0
    assert contents(redis) == before


def test_payloads_are_read_2_mib_at_a_time(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large ones make a page smaller, as far as a scan can: it takes a whole bucket at least."""
    ledger = ledger_of(redis)
    ledger.admit_many([(f"large {n}", bytes(300_000)) for n in range(40)])
    read, sizes = ledger._read, []

    def weighed(*calls):
        replies = read(*calls)
        sizes.append(sum(map(len, replies[0])))
        return replies

    monkeypatch.setattr(ledger, "_read", weighed)
    pages = [ledger.repair_page("0", 40)]
    while pages[-1].cursor != "0":
        pages.append(ledger.repair_page(pages[-1].cursor, 40))
    assert sum(page.scanned for page in pages) >= 40
    assert max(page.scanned for page in pages) < 20
    assert max(sizes) <= MAX_BATCH_BYTES
    monkeypatch.undo()
    ledger.admit_many([(f"small {n}", b"1") for n in range(400)])
    spoil_payload(ledger, "large 7")
    assert mend(ledger) == (0, 0, 1)
