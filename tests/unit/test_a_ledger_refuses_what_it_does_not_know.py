"""What no caller should ask for is a ValueError that says what to do, before Redis is asked: nobody listens here."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from redis import Redis

from joobq_admin.joobq.delivery import Claim, Ledger, State
from tests.support.operators import ANN

LEDGER = Ledger(Redis(port=1), "shop", "emails")
CLAIM = Claim("a", b"", "w", 1, 1, 1, None)
LONG, BELOW, HUGE = "é" * 257, timedelta(microseconds=-1), timedelta(days=120_000)
DIGEST = "0" * 64

Ask = Callable[[], Any]
ASKED: dict[str, Ask] = {
    "admit, no id": lambda: LEDGER.admit("", b"1"),
    "admit, an id of 514 bytes": lambda: LEDGER.admit(LONG, b"1"),
    "admit, an id of bytes": lambda: LEDGER.admit(b"a", b"1"),
    "admit, a payload of another type": lambda: LEDGER.admit("a", {"x": 1}),
    "admit, no payload": lambda: LEDGER.admit("a", None),
    "admit, a delay below 0": lambda: LEDGER.admit("a", b"1", BELOW),
    "admit, a delay of 300 years": lambda: LEDGER.admit("a", b"1", HUGE),
    "admit, a delay in seconds": lambda: LEDGER.admit("a", b"1", 5),
    "admit, a traceparent in upper case": lambda: LEDGER.admit("a", b"1", traceparent=f"00-{'AB' * 16}-{'cd' * 8}-01"),
    "admit, a trace of zeros": lambda: LEDGER.admit("a", b"1", traceparent=f"00-{'00' * 16}-{'cd' * 8}-01"),
    "admit, a parent of zeros": lambda: LEDGER.admit("a", b"1", traceparent=f"00-{'ab' * 16}-{'00' * 8}-01"),
    "admit, version ff": lambda: LEDGER.admit("a", b"1", traceparent=f"ff-{'ab' * 16}-{'cd' * 8}-01"),
    "admit, a traceparent and more": lambda: LEDGER.admit("a", b"1", traceparent=f"00-{'ab' * 16}-{'cd' * 8}-01\n"),
    "admit_many, the last one bad": lambda: LEDGER.admit_many([("a", b"1"), ("", b"1")]),
    "admit_many, text": lambda: LEDGER.admit_many("ab"),
    "admit_many, nothing": lambda: LEDGER.admit_many(None),
    "claim, no owner": lambda: LEDGER.claim(""),
    "claim, an owner of 514 bytes": lambda: LEDGER.claim(LONG),
    "claim, a lease of 0": lambda: LEDGER.claim("w", timedelta(0)),
    "claim, a lease below 1 ms": lambda: LEDGER.claim("w", timedelta(microseconds=999)),
    "claim, a lease below 0": lambda: LEDGER.claim("w", BELOW),
    "claim, a lease of 300 years": lambda: LEDGER.claim("w", HUGE),
    "claim_many, 0": lambda: LEDGER.claim_many("w", 0),
    "claim_many, 129": lambda: LEDGER.claim_many("w", 129),
    "claim_many, True": lambda: LEDGER.claim_many("w", True),
    "claim_many, text": lambda: LEDGER.claim_many("w", "1"),
    "renew, no claim": lambda: LEDGER.renew("a"),
    "renew, a lease of 0": lambda: LEDGER.renew(CLAIM, timedelta(0)),
    "settle, leased": lambda: LEDGER.settle(CLAIM, State.LEASED),
    "settle, a state as text": lambda: LEDGER.settle(CLAIM, "COMPLETED"),
    "settle, a delay below 0": lambda: LEDGER.settle(CLAIM, State.READY, BELOW),
    "settle, a claim of nobody": lambda: LEDGER.settle(Claim("a", b"", "", 1, 1, 1, None)),
    "settle, a claim with another number": lambda: LEDGER.settle(Claim("a", b"", "w", float("nan"), 1, 1, None)),
    "settle_many, one bad": lambda: LEDGER.settle_many([(CLAIM, State.DEAD), (CLAIM, State.LEASED)]),
    "resolve, no text": lambda: LEDGER.resolve(5),
    "resolve_many, one text": lambda: LEDGER.resolve_many("abc"),
    "import_record, due below 0": lambda: LEDGER.import_record("a", b"1", State.READY, -1),
    "import_record, due in 16 digits": lambda: LEDGER.import_record("a", b"1", State.READY, 10**15),
    "import_record, due as a fraction": lambda: LEDGER.import_record("a", b"1", State.READY, 1.5),
    "import_record, a state as text": lambda: LEDGER.import_record("a", b"1", "READY", 1),
    "import_record, an owner of 514 bytes": lambda: LEDGER.import_record("a", b"1", State.DEAD, 1, LONG),
    "expire, 0": lambda: LEDGER.expire(0),
    "expire, 129": lambda: LEDGER.expire(129),
    "repair, a cursor of words": lambda: LEDGER.repair("next"),
    "repair, a cursor as a number": lambda: LEDGER.repair(0),
    "repair, 0 records": lambda: LEDGER.repair("0", 0),
    "repair, 1001 records": lambda: LEDGER.repair_page("0", 1001),
    "repair_indexes, the other cursor": lambda: LEDGER.repair_indexes("0"),
    "repair_indexes, another index": lambda: LEDGER.repair_indexes("records:0"),
    "prune, below 0": lambda: LEDGER.prune(BELOW),
    "repair_for, a cursor of 65 bits": lambda: LEDGER.repair_for(0, f"records:{1 << 64}"),
    "records, a cursor of 65 bits": lambda: LEDGER.records(str(1 << 64)),
    "records, a cursor of words": lambda: LEDGER.records("x"),
    "upcoming, 0": lambda: LEDGER.upcoming(0),
    "in_flight, 129": lambda: LEDGER.in_flight(129),
    "quarantined, 0": lambda: LEDGER.quarantined("0", 0),
    "release, half a digest": lambda: LEDGER.release("a", DIGEST[:32], ANN),
    "release, nobody": lambda: LEDGER.release("a", DIGEST, None),
    "discard, a name": lambda: LEDGER.discard("a", DIGEST, "Ann"),
    "close_gate, nobody": lambda: LEDGER.close_gate("Ann", "because"),
    "close_gate, no reason": lambda: LEDGER.close_gate(ANN, None),
    "open_gate, nobody": lambda: LEDGER.open_gate(None),
    "a ledger without room": lambda: Ledger(LEDGER.redis, "shop", "emails", max_records=-1),
    "a ledger with half a byte": lambda: Ledger(LEDGER.redis, "shop", "emails", max_payload_bytes=0.5),
}


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
def test_it_is_a_value_error(ask: Ask) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        ask()
