"""Random writers between any two calls of a recount, then more of them: what the counts claim to be, they are."""

import random
from collections import Counter
from time import monotonic

import pytest

from joobq_admin.joobq import background, counting, keys, tally
from joobq_admin.joobq.counting import Counting, Counts
from tests.support.servers import Server
from tests.support.trials import trials
from tests.support.writers import QUEUES, Writers, in_hash, interrupted, text, truth

TRIALS = trials(10, 400)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"BLOCK": 20, "SURVEY": 5, "GRACE": 2000, "GRACE_TIME": 0.03}.items():
        monkeypatch.setattr(tally, name, value)
    monkeypatch.setattr(counting, "SMALL", 0)
    monkeypatch.setattr(background, "LINGER", 0)  # nothing is counted behind the back of these trials


@pytest.mark.parametrize("legacy", [0, 0.33], ids=["all writers count", "some never count"])
def test_recounts_among_random_writers(server: Server, legacy: float) -> None:
    seen = Counter[str]()
    for seed in range(TRIALS):
        one_trial(server, seed, legacy, seen)
    assert seen["recounts exact"]
    assert seen["recounts complete"] + seen["recounts partial"], "the trials must be hard enough"
    assert seen["later exact"]
    assert seen["later bounded"] or not legacy


def one_trial(server: Server, seed: int, legacy: float, seen: Counter[str]) -> None:
    server.client.flushall()
    dice, writers = random.Random(seed), Writers(server.client, seed, legacy)
    for _ in range(dice.choice((20, 200, 500))):
        writers.write()
    for _ in range(3):
        server.client.hincrby(keys.COUNTS, dice.choice(QUEUES), dice.choice((-1, 1, 2)))
    client = interrupted(server.port, writers)
    writers.busy = dice.choice((0.02, 0.2, 0.5))
    said = Counting(client).recount(monotonic() + dice.choice((0.03, 0.2)))
    client.close()
    seen["recounts " + grade(said)] += 1
    if writers.wrote_at < said.as_of:  # else it speaks of a moment that is gone
        holds(said, server, f"recount {seed}")
        assert not said.exact or in_hash(server.client) == truth(server.client), seed
    reader = Counting(server.client)
    for step in range(15):
        writers.write()
        said = reader.counts()
        seen["later " + grade(said)] += 1
        holds(said, server, f"{seed}, {step}")


def grade(said: Counts) -> str:
    return "exact" if said.exact else "bounded" if said.bounded else "complete" if said.complete else "partial"


def holds(said: Counts, server: Server, where: str) -> None:
    """Nothing has been written since `said`: is it true?"""
    want = text(truth(server.client))
    if said.exact:
        assert said == want, where
    if said.bounded:
        assert all(said.get(q, 0) <= want[q] <= said.get(q, 0) + said.uncounted for q in said.keys() | want), where
    if said.complete:
        assert sum(said.values()) == said.total == sum(want.values()), where
