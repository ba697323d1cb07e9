"""The thread that counts, and its guard, when processes fork, connections die and Redis goes away."""

import json
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from time import monotonic

import pytest
import redis as redis_py

from joobq_admin.joobq import background
from joobq_admin.joobq.counting import Counting, Counts
from joobq_admin.joobq.outcome import Unreachable
from tests.support.background import exact, fill, nobody_counts
from tests.support.eventually import eventually
from tests.support.servers import KINDS, Server
from tests.support.users import reader
from tests.support.writers import Writers, interrupted, text, truth


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, new_server: object) -> Iterator[None]:
    monkeypatch.setattr(background, "PAUSE", 0.01)
    monkeypatch.setattr(background, "LINGER", 0.2)
    yield
    nobody_counts()


FORKS = """
import json, os, sys, redis
from joobq_admin.joobq import keys
from joobq_admin.joobq.counting import Counting
from tests.support.background import exact
writer = redis.Redis(port=int(sys.argv[1]))
counting = Counting(redis.Redis(port=int(sys.argv[1]), username="somebody", password="any"))
if sys.argv[2] == "counted before":
    exact(counting, timeout=20)
else:
    counting.counts()
child = os.fork()
writer.zadd(keys.DEAD, {b'{"queue":"%s"}' % (b"parent" if child else b"child"): 1})
if child:
    os.waitpid(child, 0)
print(json.dumps(dict(exact(counting, timeout=20))), flush=True)
"""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("when", ["counted before", "counting at the time"])
def test_a_forked_child_counts_for_itself(new_server: Callable[..., Server], kind: str, when: str) -> None:
    """Neither may write, so that neither can learn from the other."""
    server = new_server(kind)
    fill(server.client, 6_000)
    reader(server)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKS, str(server.port), when],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert not done.stderr
    child, parent = map(json.loads, done.stdout.splitlines())
    assert child["child"] == parent["child"] == parent["parent"] == 1
    assert parent == dict(text(truth(server.client)))


@pytest.mark.parametrize("kind", KINDS)
def test_redis_goes_away_while_it_counts(
    new_server: Callable[..., Server], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "LONG_PAUSE", 0.1)
    monkeypatch.setattr(background, "LINGER", 60)
    server, calls = new_server(kind, persist=True), [0]
    fill(server.client)

    def die_midway() -> None:
        if threading.current_thread().name == "counts":
            calls[0] += 1
            if calls[0] == 30:
                server.stop(hard=True)

    counting_ = Counting(interrupted(server.port, die_midway))
    counting_.counts()
    nobody_counts()
    assert calls[0] >= 30
    with pytest.raises(Unreachable):
        counting_.counts()
    server.start()
    assert exact(counting_) == text(truth(server.client))


def test_every_connection_is_killed_again_and_again(server: Server) -> None:
    writers = Writers(server.connect(client_name="writer"), seed=5, legacy=0.3)
    for _ in range(800):
        writers.write()
    dice, kills = random.Random(5), [0]

    def kill_others() -> None:
        if dice.random() < 0.02:
            for client in server.client.client_list():
                if client["name"] == "victim":
                    kills[0] += server.client.client_kill_filter(_id=client["id"])

    counting_ = Counting(interrupted(server.port, kill_others, client_name="victim"))
    for _ in range(8):
        for _ in range(20):
            writers.write()
        found = eventually(lambda: counted_whatever_happens(counting_))
        assert found == text(truth(server.client))
    assert kills[0] > 10


def counted_whatever_happens(counting_: Counting) -> Counts | None:
    """Exact counts, if the connections live long enough for them."""
    try:
        now = counting_.recount(monotonic() + 5)
    except (redis_py.ConnectionError, Unreachable):
        return None
    return now if now.exact else None
