"""Six keys, one slot of a Redis Cluster: one script may change them together."""

import binascii

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis import Redis

from joobq_admin.joobq import keys
from joobq_admin.joobq.delivery import Ledger

NAMES = st.text(st.characters(exclude_characters="{}", exclude_categories=("Cc", "Cs")), min_size=1)
NOWHERE = Redis(port=1)  # nobody listens there: what is refused is refused before anybody is asked


def slot(key: bytes) -> int:
    """As the cluster specification has it: CRC16 of what stands in the first braces, modulo 16384."""
    start = key.index(b"{") + 1
    return binascii.crc_hqx(key[start : key.index(b"}", start)], 0) % 16384


@given(NAMES.filter(lambda name: ":" not in name), NAMES)
def test_of_any_namespace_and_queue(namespace: str, queue: str) -> None:
    ledger = Ledger(NOWHERE, namespace, queue)
    named = [getattr(ledger, f"{kind}_key") for kind in keys.DELIVERY_KINDS]
    assert named == [f"joobq:delivery:{{{namespace}:{queue}}}:{kind}" for kind in keys.DELIVERY_KINDS]
    assert len({slot(key.encode()) for key in named}) == 1


def test_ledgers_spread_over_the_slots() -> None:
    slots = [slot(Ledger(NOWHERE, "shop", f"queue-{n}").records_key.encode()) for n in range(100)]
    assert len(set(slots)) > 90


@pytest.mark.parametrize("name", ["", "a{b", "a}b", "a\nb", "a\x00", "\x7f", "\udc80", None, b"bytes", 5])
def test_other_names_are_refused(name: object) -> None:
    with pytest.raises(ValueError, match="a namespace is text"):
        Ledger(NOWHERE, name, "emails")
    with pytest.raises(ValueError, match="a queue is text"):
        Ledger(NOWHERE, "shop", name)


def test_no_two_ledgers_have_the_same_keys() -> None:
    """`shop:eu` + `mail` would be named as `shop` + `eu:mail` is."""
    assert Ledger(NOWHERE, "shop", "eu:mail").records_key == "joobq:delivery:{shop:eu:mail}:records"
    with pytest.raises(ValueError, match="a namespace holds no colon"):
        Ledger(NOWHERE, "shop:eu", "mail")


def test_a_client_that_decodes_is_refused() -> None:
    with pytest.raises(ValueError, match="must not decode"):
        Ledger(Redis(port=1, decode_responses=True), "shop", "emails")
