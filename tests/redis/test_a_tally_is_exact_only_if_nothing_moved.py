"""Random writers between any two calls of a tally: whenever it says exact, every queue's number is right."""

import random
from collections import Counter
from math import inf

import pytest

from joobq_admin.joobq import keys, tally
from joobq_admin.joobq.cjson import queue_of
from joobq_admin.joobq.tally import Tally
from tests.support.servers import Server
from tests.support.trials import trials
from tests.support.writers import Writers, interrupted, truth

TRIALS = trials(16, 800)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing that depends on time: these trials are the same each time."""
    for name, value in {"BLOCK": 20, "SURVEY": 5, "GRACE": 300, "GRACE_TIME": inf, "BYTES": 1 << 11}.items():
        monkeypatch.setattr(tally, name, value)


def in_order(counted: Tally[bytes], seed: object) -> None:
    """What a tally keeps agrees with itself, whatever it has just been through."""
    names = Counter(name for block in counted.blocks for name in block.names)
    assert names == counted.counts, seed
    assert sum(names.values()) == counted.total, seed
    assert set(counted._names) == set(names), seed
    assert all(len(block.names) == len(block.hashes) for block in counted.blocks), seed
    assert all(len(block.names) <= 2 * tally.BLOCK for block in counted.blocks if block.read), seed


@pytest.mark.parametrize("batch", range(2))
def test_random_writers_between_any_two_calls(server: Server, batch: int) -> None:
    seen = Counter[str]()
    for seed in range(batch * TRIALS // 2, (batch + 1) * TRIALS // 2):
        one_trial(server, seed, seen)
    assert min(seen["exact"], seen["complete"], seen["partial"]) > TRIALS / 10
    assert seen["complete, other names"], "the trials must be hard enough to tell complete from exact"


def one_trial(server: Server, seed: int, seen: Counter[str]) -> None:
    server.client.flushall()
    dice = random.Random(seed)
    writers = Writers(server.client, seed, legacy=dice.choice((0, 0.33)))
    for _ in range(dice.choice((0, 5, 100, 600))):
        writers.write()
    client = interrupted(server.port, writers)
    counted = Tally(client, keys.DEAD, queue_of)
    for step in range(7):
        writers.busy = dice.choice((0, 0.02, 0.1, 0.3, 0.6))
        complete = counted.refresh(budget=dice.choice((100, 400, 1500, 1500)), prove=dice.random() < 0.7)
        writers.busy = 0
        in_order(counted, (seed, step))
        want = truth(server.client)
        assert complete == counted.complete >= counted.exact
        if counted.exact:
            seen["exact"] += 1
            assert counted.counts == want, (seed, step)
        elif complete:
            seen["complete"] += 1
            seen["complete, other names"] += counted.counts != want
            assert counted.total == sum(want.values()), (seed, step)
        else:
            seen["partial"] += 1
        for _ in range(dice.choice((0, 0, 1, 5, 100))):
            writers.write()
        if dice.random() < 0.04:
            server.client.unlink(keys.DEAD, keys.COUNTS)
    assert counted.refresh()
    assert counted.exact, seed
    assert counted.counts == truth(server.client), seed
    in_order(counted, seed)
    client.close()
