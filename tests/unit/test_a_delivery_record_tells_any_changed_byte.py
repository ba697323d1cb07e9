"""No byte of a delivery record can be changed, added or removed, nor the record moved, without being told."""

from itertools import pairwise

import pytest

from joobq_admin.joobq.delivery import CorruptRecord
from joobq_admin.joobq.delivery.record import decode, encode
from tests.support.spoiling import MOST, example, spoilt

HUNDRED = [example(n) for n in range(100)]


def test_what_was_not_changed_is_the_record() -> None:
    assert [decode(record.request_id, *encode(record)) for record in HUNDRED] == HUNDRED


@pytest.mark.parametrize("half", [0, 1])
def test_every_place_of_a_hundred(half: int) -> None:
    for record in HUNDRED[half::2]:
        for which in range(MOST):
            if pair := spoilt(encode(record), which):
                with pytest.raises(CorruptRecord):
                    decode(record.request_id, *pair)


def test_under_another_id_or_without_its_payload() -> None:
    for record, other in pairwise(HUNDRED):
        for header, payload in ((encode(other)[0], encode(record)[1]), (encode(record)[0], None), (b"", None)):
            with pytest.raises(CorruptRecord):
                decode(record.request_id, header, payload)
