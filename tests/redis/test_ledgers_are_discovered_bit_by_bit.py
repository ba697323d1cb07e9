"""Among any number of keys one look takes no longer than it may; what it has not seen yet is not said to be missing."""

import pytest
import redis as redis_py

from joobq_admin.joobq.delivery import Discovery, Ledger, discovery
from tests.support.operators import ANN

SHOP, KIOSK = ("shop", "emails"), ("kiosk é", "eu:mail")


@pytest.fixture
def many(redis: redis_py.Redis) -> redis_py.Redis:
    """Two ledgers among 10,000 other keys."""
    redis.mset({f"other {n}": "" for n in range(10_000)})
    for name in (SHOP, KIOSK):
        Ledger(redis, *name).admit("a", b"1")
    return redis


def test_it_goes_on_where_it_ended_until_all_was_seen(many: redis_py.Redis) -> None:
    known, looks = Discovery(many), 0
    while not known.look(0).whole:
        looks += 1
    assert 3 <= looks <= 30
    assert known.look(0).names == [KIOSK, SHOP] == Ledger.discover(many)
    assert Discovery(many).look(60) == ([KIOSK, SHOP], True)


def test_what_is_gone_is_forgotten_by_the_next_whole_look(
    many: redis_py.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "REST", 1_000)
    known = Discovery(many)
    known.look(60)
    ledger = Ledger(many, *SHOP)
    many.delete(*ledger._keys)
    Ledger(many, "closed", "only").close_gate(ANN, "")
    assert known.look(60).names == [KIOSK, SHOP]  # it rests
    monkeypatch.setattr(discovery, "REST", 0)
    known = Discovery(many)
    assert known.look(60).names == [("closed", "only"), KIOSK]
    many.delete(Ledger(many, "closed", "only").gate_key)
    while ("closed", "only") in (found := known.look(0)).names:
        assert found.whole
    assert found.names == [KIOSK]


def test_beside_another_thread_it_says_what_is_known(many: redis_py.Redis) -> None:
    known = Discovery(many)
    with known._lock:
        assert known.look(60) == ([], False)
