"""A delivery ledger for tests, and what somebody may do to it behind its back."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
import redis as redis_py

from joobq_admin.joobq.audit import AuditLog
from joobq_admin.joobq.delivery import Claim, Ledger
from joobq_admin.joobq.delivery.record import encode
from tests.support.eventually import eventually
from tests.support.servers import Proxy

MS, SECOND, HOUR = timedelta(milliseconds=1), timedelta(seconds=1), timedelta(hours=1)
NOW = timedelta(0)
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def ledger_of(redis: redis_py.Redis, **options: Any) -> Ledger:
    return Ledger(redis, "shop", "emails", **options)


def clock(redis: redis_py.Redis) -> int:
    """Redis's, in unix ms."""
    seconds, micros = redis.time()
    return int(seconds) * 1000 + int(micros) // 1000


def until(redis: redis_py.Redis, ms: int) -> None:
    """Waits until this moment is past by Redis's clock."""
    eventually(lambda: clock(redis) > ms, every=0.001)


def run_out(ledger: Ledger, claim: Claim) -> None:
    """Waits for the end of a short lease."""
    until(ledger.redis, claim.lease_until)


def held(ledger: Ledger, request_id: str = "a", owner: str = "w", **lease: timedelta) -> Claim:
    """A request that was admitted and claimed; the only one that is due."""
    ledger.admit(request_id, f"payload of {request_id}")
    claim = ledger.claim(owner, **lease)
    assert claim
    assert claim.request_id == request_id
    return claim


def stored(ledger: Ledger, request_id: str) -> tuple[bytes | None, bytes | None]:
    """Header and payload."""
    return ledger.redis.hget(ledger.records_key, request_id), ledger.redis.hget(ledger.payloads_key, request_id)


def spoil_header(ledger: Ledger, request_id: str) -> bytes:
    """One byte of its header becomes another; what is stored now."""
    header, _ = stored(ledger, request_id)
    assert header
    spoilt = header[:150] + (b"1" if header[150:151] != b"1" else b"2") + header[151:]
    ledger.redis.hset(ledger.records_key, request_id, spoilt)
    return spoilt


def spoil_payload(ledger: Ledger, request_id: str) -> bytes:
    """Its payload becomes another one of the same length; what is stored now."""
    _, payload = stored(ledger, request_id)
    assert payload
    spoilt = payload[:-1] + (b"?" if payload[-1:] != b"?" else b"!")
    ledger.redis.hset(ledger.payloads_key, request_id, spoilt)
    return spoilt


def indexes(ledger: Ledger) -> tuple[dict[str, int], dict[str, int]]:
    """Ready and leases: request id -> score."""
    found = (ledger.redis.zrange(key, 0, -1, withscores=True) for key in (ledger.ready_key, ledger.leases_key))
    ready, leases = ({name.decode(): int(score) for name, score in rows} for rows in found)
    return ready, leases


def agrees(ledger: Ledger) -> bool:
    """Do the indexes say exactly what the records say, and are these bytes what their fields make?"""
    ids = [name.decode() for name in ledger.redis.hkeys(ledger.records_key)]
    aside = {name.decode() for name in ledger.redis.hkeys(ledger.quarantine_key)}
    records = {name: record for name, record in zip(ids, ledger.resolve_many(ids), strict=True) if name not in aside}
    ready = {name: record.due_at for name, record in records.items() if record.state == "READY"}
    leases = {name: record.lease_until for name, record in records.items() if record.state == "LEASED"}
    return indexes(ledger) == (ready, leases) and all(
        stored(ledger, name) == encode(record) for name, record in records.items()
    )


def mend(ledger: Ledger) -> tuple[int, int, int]:
    """One whole repair, from the records and from the indexes: expired, mended, quarantined."""
    pages = []
    for step, first in ((ledger.repair_page, "0"), (ledger.repair_indexes, "ready:0")):
        pages.append(step(first))
        while pages[-1].cursor != "0":
            pages.append(step(pages[-1].cursor))
    return (
        sum(page.expired for page in pages),
        sum(page.mended for page in pages),
        sum(page.quarantined for page in pages),
    )


def at(view: str = "ledger", **query: str) -> str:
    """The address of a page of the ledger that tests have, or of what is done there: at("request", id="a")."""
    return f"/deliveries/{view}?{urlencode({'namespace': 'shop', 'queue': 'emails', **query})}"


def set_aside(ledger: Ledger, request_id: str = "a", payload: bytes = b"payload") -> str:
    """A record of which a byte has changed, in quarantine; the digest of what is stored."""
    ledger.admit(request_id, payload)
    spoil_header(ledger, request_id)
    mend(ledger)
    found = ledger.look(request_id).quarantined
    assert found
    return found.digest


def answered_again(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a proxy swallows is one answer: before a press is recorded it passes all again."""
    note = AuditLog.note

    def passing(*args: Any, **fields: str) -> None:
        proxy.passes()
        note(*args, **fields)

    monkeypatch.setattr(AuditLog, "note", passing)
