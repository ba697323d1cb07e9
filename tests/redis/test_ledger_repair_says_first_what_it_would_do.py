"""A dry run says, number by number, what a repair or a prune would do. It changes nothing and needs no right to."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import redis as redis_py

from joobq_admin.joobq.delivery import Ledger, Mended, State, steps
from tests.support.database import contents
from tests.support.ledgers import HOUR, MS, NOW, held, ledger_of, run_out, spoil_header, spoil_payload, until


def broken(redis: redis_py.Redis) -> Ledger:
    """One sound record of each kind, and of each kind of damage one."""
    ledger = ledger_of(redis)
    held(ledger, "leased", lease=HOUR)
    ledger.settle(held(ledger, "completed"))
    ledger.settle(held(ledger, "dead"), State.DEAD)
    run_out(ledger, held(ledger, "over", lease=MS))
    ledger.admit_many([(name, b"1") for name in ("ready", "spoilt", "half", "lost", "moved", "aside")])
    spoil_header(ledger, "spoilt")
    spoil_payload(ledger, "half")
    redis.zrem(ledger.ready_key, "lost")
    redis.zadd(ledger.ready_key, {"ghost": 1, "moved": 1})
    redis.hset(ledger.quarantine_key, "aside", "1:-:x")
    return ledger


def whole(step: Callable[..., Mended], **how: bool) -> Mended:
    found, pages = step(0, **how), 1
    while found.cursor:
        more = step(0, found.cursor, **how)
        numbers = (getattr(found, n) + getattr(more, n) for n in ("records", "entries", "expired", "mended"))
        found = Mended(more.cursor, *numbers, found.quarantined + more.quarantined)
        pages += 1
    assert pages == 3
    return found


def test_it_says_what_the_repair_then_does(redis: redis_py.Redis) -> None:
    ledger = broken(redis)
    before = contents(redis)
    records = ledger.repair_page(dry_run=True)
    assert (records.scanned, records.expired, records.mended, records.quarantined) == (10, 1, 3, 2)
    ready = ledger.repair_indexes(dry_run=True)
    assert (ready.scanned, ready.mended) == (6, 1)  # the ghost
    assert contents(redis) == before
    assert ledger.repair_page() == records
    assert ledger.repair_page(dry_run=True).mended == ledger.repair_page(dry_run=True).expired == 0
    assert ledger.repair_indexes(dry_run=True).mended == 1
    assert ledger.repair_indexes().mended == 1


def test_a_whole_cycle_goes_from_the_records_to_both_indexes(redis: redis_py.Redis) -> None:
    ledger = broken(redis)
    before = contents(redis)
    would = whole(ledger.repair_for, dry_run=True)
    assert would == Mended("", 10, 8, 1, 4, 2)
    assert contents(redis) == before
    assert whole(ledger.repair_for) == replace(would, entries=6)  # those that its records took out are gone by then
    assert whole(ledger.repair_for, dry_run=True) == Mended("", 10, 5, 0, 0, 0)
    assert ledger.repair_for(60) == Mended("", 10, 5, 0, 0, 0)


def test_a_prune_is_counted_before_it_is_done(redis: redis_py.Redis) -> None:
    ledger = broken(redis)
    until(redis, ledger.resolve("dead").updated_at)
    before = contents(redis)
    counted = ledger.prune(NOW, dry_run=True)
    assert (counted.scanned, counted.pruned) == (10, 2)
    assert contents(redis) == before
    assert ledger.prune(NOW) == counted
    assert ledger.prune(NOW, dry_run=True).pruned == 0


@pytest.mark.parametrize("script", [steps.INSPECT, steps.INSPECT_INDEXES, steps.RECEIPTS], ids=lambda s: s.name)
def test_it_needs_no_right_to_write(redis: redis_py.Redis, script) -> None:
    ledger = broken(redis)
    args = ("ready", "0", 100) if script is steps.INSPECT_INDEXES else ("0", 100, 1_000_000)
    redis.script_load(script.text)
    assert redis.execute_command(*script.call(ledger._keys, args, read_only=True))
