"""Exactly the bytes that were reviewed are released or discarded; anything newer stays, and the loser is told."""

import hashlib
from dataclasses import replace

import pytest
import redis as redis_py

from joobq_admin.joobq.delivery import Claim, CorruptRecord, Ledger, Quarantined, Record, ReviewOutcome, State
from tests.support.database import contents
from tests.support.ledgers import (
    MS,
    SECOND,
    agrees,
    held,
    indexes,
    ledger_of,
    mend,
    spoil_header,
    spoil_payload,
    stored,
)
from tests.support.operators import ANN

ACTS = pytest.mark.parametrize("act", ["release", "discard"])


def aside(ledger: Ledger) -> Quarantined:
    """A record of which a byte had changed, set aside; the byte is right again."""
    ledger.admit("a", b"payload")
    header, _ = stored(ledger, "a")
    spoil_header(ledger, "a")
    mend(ledger)
    ledger.redis.hset(ledger.records_key, "a", header)
    (found,) = ledger.quarantined().records
    return found


def test_it_is_shown_as_it_was_found_and_as_it_is_now(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    ledger.admit("a", b"payload")
    spoilt = spoil_header(ledger, "a")
    mend(ledger)
    (found,) = ledger.quarantined().records
    evidence = b"%d:7:%bpayload" % (len(spoilt), spoilt)
    assert (found.request_id, found.header, found.payload, found.evidence) == ("a", spoilt, b"payload", evidence)
    assert found.digest == hashlib.sha256(evidence).hexdigest()
    assert isinstance(found.record, CorruptRecord)
    assert found.record.reason == "the header's checksum does not fit"
    redis.hdel(ledger.records_key, "a")
    redis.hdel(ledger.payloads_key, "a")
    (gone,) = ledger.quarantined().records
    assert (gone.header, gone.payload, gone.evidence) == (None, None, evidence)
    assert gone.digest == hashlib.sha256(b"0:-:").hexdigest()


def test_what_decodes_now_is_released(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    found = aside(ledger)
    assert isinstance(found.record, Record)
    assert ledger.claim("w") is None
    assert ledger.release("a", found.digest, ANN) is ReviewOutcome.RELEASED
    assert redis.exists(ledger.quarantine_key) == 0
    assert agrees(ledger)
    assert ledger.claim("w").payload == b"payload"
    assert ledger.release("a", found.digest, ANN) is ReviewOutcome.MISSING


def test_a_released_lease_is_in_its_index_again(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    claim = held(ledger)
    payload = stored(ledger, "a")[1]
    spoil_payload(ledger, "a")
    mend(ledger)
    assert indexes(ledger) == ({}, {})
    redis.hset(ledger.payloads_key, "a", payload)
    (found,) = ledger.quarantined().records
    assert ledger.release("a", found.digest, ANN) is ReviewOutcome.RELEASED
    assert indexes(ledger) == ({}, {"a": claim.lease_until})
    assert ledger.settle(claim).outcome.name == "APPLIED"


@pytest.mark.parametrize("spoil", [spoil_header, spoil_payload])
def test_what_does_not_decode_is_not_released(redis: redis_py.Redis, spoil) -> None:
    ledger = ledger_of(redis)
    ledger.admit("a", b"payload")
    spoil(ledger, "a")
    mend(ledger)
    (found,) = ledger.quarantined().records
    before = contents(redis)
    assert ledger.release("a", found.digest, ANN) is ReviewOutcome.CORRUPT
    assert contents(redis) == before


def test_a_discarded_one_is_gone_and_its_id_can_be_admitted(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    held(ledger, "other")
    found = aside(ledger)
    redis.zadd(ledger.ready_key, {"a": 1})  # that lies
    assert ledger.discard("a", found.digest, ANN) is ReviewOutcome.DISCARDED
    assert ledger.resolve("a") is None
    assert indexes(ledger)[0] == {}
    assert stored(ledger, "a") == (None, None)
    assert redis.exists(ledger.quarantine_key) == 0
    assert ledger.discard("a", found.digest, ANN) is ReviewOutcome.MISSING
    ledger.admit("a", b"new")
    before = contents(redis)
    assert ledger.discard("a", found.digest, ANN) is ReviewOutcome.MISSING
    assert contents(redis) == before
    assert ledger.claim("w").payload == b"new"


@ACTS
def test_other_bytes_than_the_reviewed_ones_stay(redis: redis_py.Redis, act: str) -> None:
    ledger = ledger_of(redis)
    found = aside(ledger)
    spoil_payload(ledger, "a")
    before = contents(redis)
    assert getattr(ledger, act)("a", found.digest, ANN) is ReviewOutcome.CHANGED
    assert contents(redis) == before


@ACTS
@pytest.mark.parametrize("meanwhile", ["the payload", "the header", "discarded", "admitted again"])
def test_what_changes_between_the_look_and_the_script_stays(
    redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch, act: str, meanwhile: str
) -> None:
    ledger = ledger_of(redis)
    found, run = aside(ledger), ledger._run

    def late(*args):
        monkeypatch.undo()
        if meanwhile == "the payload":
            spoil_payload(ledger, "a")
        elif meanwhile == "the header":
            spoil_header(ledger, "a")
        else:
            assert ledger.discard("a", found.digest, ANN) is ReviewOutcome.DISCARDED
        if meanwhile == "admitted again":
            ledger.admit("a", b"payload")
        before.update(contents(redis))
        return run(*args)

    before = {}
    monkeypatch.setattr(ledger, "_run", late)
    gone = meanwhile in ("discarded", "admitted again")
    assert getattr(ledger, act)("a", found.digest, ANN).name == ("MISSING" if gone else "CHANGED")
    assert contents(redis) == before


@ACTS
def test_what_is_not_in_quarantine_is_missing(redis: redis_py.Redis, act: str) -> None:
    ledger = ledger_of(redis)
    held(ledger)
    header, payload = stored(ledger, "a")
    digest = hashlib.sha256(b"%d:%d:%b%b" % (len(header), len(payload), header, payload)).hexdigest()
    before = contents(redis)
    for name in ("a", "b"):
        assert getattr(ledger, act)(name, digest, ANN) is ReviewOutcome.MISSING
        assert getattr(ledger, act)(name, "0" * 64, ANN) is ReviewOutcome.MISSING
    assert contents(redis) == before


def test_a_claim_of_the_discarded_request_ends_nothing_of_the_new_one(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    old = held(ledger, lease=SECOND * 60)
    spoil_payload(ledger, "a")
    mend(ledger)
    (found,) = ledger.quarantined().records
    assert ledger.discard("a", found.digest, ANN) is ReviewOutcome.DISCARDED
    new = held(ledger)
    before = contents(redis)
    for state in (State.COMPLETED, State.READY, State.DEAD):
        assert ledger.settle(old, state).outcome.name == "LOST"
    assert ledger.renew(old, MS).outcome.name == "LOST"
    assert contents(redis) == before
    assert ledger.settle(new).outcome.name == "APPLIED"


def test_no_two_claims_are_the_same_though_an_id_comes_back_at_once(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    claims = set[Claim]()
    for _ in range(40):
        claims.add(replace(held(ledger), lease_until=0))
        spoil_payload(ledger, "a")
        ledger.repair()
        (found,) = ledger.quarantined().records
        assert ledger.discard("a", found.digest, ANN) is ReviewOutcome.DISCARDED
    assert len(claims) == 40


def test_many_are_shown_page_by_page(redis: redis_py.Redis) -> None:
    ledger = ledger_of(redis)
    ledger.admit_many([(str(n), b"1") for n in range(60)])
    for n in range(60):
        spoil_header(ledger, str(n))
    mend(ledger)
    page, seen = ledger.quarantined(), set()
    while page.cursor != "0":
        seen |= {found.request_id for found in page.records}
        page = ledger.quarantined(page.cursor, 5)
    seen |= {found.request_id for found in page.records}
    assert seen == {str(n) for n in range(60)}
