"""All 76 dead letters of real workers. Every expected redrive in tests/data was taken, and run, by a real worker."""

from hashlib import sha256

import pytest

from joobq_admin.joobq import cjson
from joobq_admin.joobq.redriven import HOUR, CannotRedrive, redriven
from tests.support.real_entries import EXPECTED, REAL, RealEntry

NOW = 1_796_300_000_000  # when all of them had expired
LIFETIME = 72 * HOUR


@pytest.mark.parametrize("entry", REAL, ids=lambda entry: sha256(entry.raw).hexdigest()[:16])
def test_each_is_redriven_or_refused_as_expected(entry: RealEntry) -> None:
    expected = EXPECTED[sha256(entry.raw).hexdigest()]
    if isinstance(expected, str):
        with pytest.raises(CannotRedrive) as refused:
            redriven(entry.raw, NOW, LIFETIME)
        assert refused.value.reason.value == expected
        return
    queue, raw = expected
    push = redriven(entry.raw, NOW, LIFETIME)
    assert push.raw == raw.replace(b"@EXPIRES@", b"%d" % (NOW + LIFETIME))
    assert push.queue == queue == cjson.queue_of(entry.raw)


def test_none_is_missing() -> None:
    assert len(REAL) == len(EXPECTED) == 76
    assert {sha256(entry.raw).hexdigest() for entry in REAL} == set(EXPECTED)
    assert sum(isinstance(expected, str) for expected in EXPECTED.values()) == 9
