"""What was settled long ago is forgotten; nothing else ever is."""

import redis as redis_py

from joobq_admin.joobq.delivery import PrunePage, State
from tests.support.database import contents
from tests.support.eventually import eventually
from tests.support.ledgers import (
    HOUR,
    MS,
    NOW,
    agrees,
    held,
    ledger_of,
    mend,
    run_out,
    spoil_header,
    spoil_payload,
    until,
)


def test_only_receipts_go_and_only_old_ones(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    over = held(ledger, "over", lease=MS)
    for state in (State.COMPLETED, State.DEAD):
        ledger.settle(held(ledger, state.value), state)
    ledger.settle(held(ledger, "again"), State.READY, HOUR)
    held(ledger, "leased")
    ledger.admit("ready", b"1")
    run_out(ledger, over)
    until(redis, ledger.resolve("again").updated_at)
    before = contents(redis)
    assert ledger.prune(HOUR) == PrunePage("0", 6, 0)
    assert contents(redis) == before
    assert ledger.prune(NOW) == PrunePage("0", 6, 2)
    assert ledger.resolve_many(["COMPLETED", "DEAD"]) == [None, None]
    left = {b"over", b"again", b"leased", b"ready"}
    assert set(redis.hkeys(ledger.records_key)) == set(redis.hkeys(ledger.payloads_key)) == left
    assert agrees(ledger)


def test_what_changed_just_now_stays(redis: redis_py.Redis) -> None:
    """However fast one is: a request that is admitted again in its place has another moment of admission."""
    ledger = ledger_of(redis)
    last = 0
    for _ in range(50):
        claim = held(ledger)
        assert claim.admitted_at > last
        ledger.settle(claim)
        last = ledger.resolve("a").updated_at
        eventually(lambda: ledger.prune(NOW).pruned, every=0)


def test_corrupt_ones_are_no_receipts(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    for name, spoil in (("a", spoil_header), ("b", spoil_payload), ("c", spoil_payload)):
        ledger.settle(held(ledger, name))
        if name != "c":
            spoil(ledger, name)
    until(redis, ledger.resolve("c").updated_at)
    mend(ledger)
    assert ledger.prune(NOW).pruned == 1
    assert set(redis.hkeys(ledger.records_key)) == {b"a", b"b"} == set(redis.hkeys(ledger.quarantine_key))


def test_a_full_ledger_has_room_again(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis, max_records=300)
    ledger.admit_many([(str(n), b"") for n in range(300)])
    for _ in range(3):
        ledger.settle_many((claim, State.COMPLETED) for claim in ledger.claim_many("w"))
    assert ledger.admit("new", b"1").outcome.name == "FULL"
    until(redis, ledger.stats().at)
    page = ledger.prune(NOW, "0", 50)
    pruned = page.pruned
    assert 0 < pruned < 300
    while page.cursor != "0":
        page = ledger.prune(NOW, page.cursor, 50)
        pruned += page.pruned
    assert pruned == 300
    assert ledger.admit("new", b"1").outcome.name == "ACCEPTED"
