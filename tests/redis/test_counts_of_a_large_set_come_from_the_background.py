"""More than 400 entries are counted by one thread of one process, while pages show what is known so far."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from time import monotonic

import pytest
import redis as redis_py

from joobq_admin.joobq import background, keys
from joobq_admin.joobq.counting import LOCK, Counting
from tests.support.background import exact, fill, holding, nobody_counts
from tests.support.eventually import pause
from tests.support.servers import Server
from tests.support.writers import Writers, in_hash, interrupted, text, truth


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, new_server: object) -> Iterator[None]:
    monkeypatch.setattr(background, "PAUSE", 0.01)
    monkeypatch.setattr(background, "LINGER", 0.2)
    yield
    nobody_counts()


def test_the_first_look_does_not_wait_and_the_thread_ends_with_the_proof(redis: redis_py.Redis) -> None:
    fill(redis)
    counting_ = Counting(redis)
    counts = counting_.counts()
    assert counts == {}
    assert (counts.total, counts.uncounted) == (2000, 2000)
    assert not counts.complete
    assert not counts.bounded
    assert exact(counting_) == text(truth(redis))
    nobody_counts()
    assert in_hash(redis) == truth(redis)
    assert set(redis.scan_iter()) == {keys.DEAD, keys.COUNTS, keys.PROVED}, "and no lock"
    read = counting_._tally.entries_read
    assert exact(counting_).total == 2000
    assert counting_._tally.entries_read == read, "what is proved is not counted again"


def test_progress_is_shown_while_it_counts(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "PAUSE", 0)
    monkeypatch.setattr(background, "LINGER", 60)
    fill(server.client)
    client, waits, goes_on = holding(server.port, after=40)
    counting_ = Counting(client)
    counting_.counts()
    assert waits.wait(10)
    counts = counting_.counts()
    assert counts.total == 2000
    assert 0 < sum(counts.values()) < 2000
    assert counts.uncounted == 2000 - sum(counts.values())
    assert not counts.complete
    assert not counts.bounded
    goes_on.set()
    assert exact(counting_) == text(truth(server.client))


def test_entries_that_nobody_counts_are_known_as_bounds_and_then_exactly(redis: redis_py.Redis) -> None:
    fill(redis)
    counting_ = Counting(redis)
    assert counting_.recount().exact
    redis.zadd(keys.DEAD, {b'{"queue":"q1"}': 1, b'{"queue":"new"}': 2})
    counts = counting_.counts()
    assert counts == {"q0": 667, "q1": 667, "q2": 666}
    assert counts.bounded
    assert not counts.exact
    assert not counts.complete
    assert (counts.total, counts.uncounted) == (2002, 2)
    assert exact(counting_) == {"q0": 667, "q1": 668, "q2": 666, "new": 1}
    assert in_hash(redis) == truth(redis)


def test_a_sum_that_fits_is_complete_until_it_is_proved(redis: redis_py.Redis) -> None:
    """A hash that adds up without having been proved, and is wrong."""
    fill(redis, 1000)
    redis.hset(keys.COUNTS, mapping={"q0": 1000})
    counting_ = Counting(redis)
    counts = counting_.counts()
    assert counts.complete
    assert not counts.exact
    assert not counts.bounded
    assert exact(counting_) == {"q0": 334, "q1": 333, "q2": 333}


def test_a_worker_that_never_counts_and_never_stops(redis: redis_py.Redis, server: Server) -> None:
    fill(redis, 1000)
    stop, writer, added = threading.Event(), server.connect(), [0]

    def dies() -> None:
        while not stop.wait(0.002):
            writer.zadd(keys.DEAD, {b'{"new":%d,"queue":"q9"}' % added[0]: 604800})
            added[0] += 1

    thread = threading.Thread(target=dies)
    thread.start()
    counting_, kinds = Counting(redis), set()
    deadline = monotonic() + 0.7
    while monotonic() < deadline:
        before = added[0]
        counts = counting_.counts()
        assert counts.total <= 1000 + added[0] + 1
        kinds.add((counts.complete, counts.bounded))
        if counts.bounded:
            assert all(counts.get(q, 0) <= n for q, n in (("q0", 334), ("q1", 333), ("q2", 333), ("q9", added[0] + 1)))
            assert counts.get("q0", 0) + counts.uncounted >= 334
            assert counts.get("q9", 0) + counts.uncounted >= before or counts.exact
        if counts.complete:
            assert counts.uncounted == 0
        pause(0.005)
    stop.set()
    thread.join()
    assert (True, False) in kinds or (False, True) in kinds
    assert exact(counting_, 5.0) == text(truth(redis))


def test_numbers_that_were_complete_a_moment_ago_are_shown_with_their_time(redis: redis_py.Redis) -> None:
    counting_ = Counting(redis)
    fill(redis, 1000)
    assert counting_.recount().exact
    redis.delete(keys.COUNTS, keys.PROVED)
    redis.set(keys.RECOUNTING, "another process", px=10_000)
    redis.zadd(keys.DEAD, {b"{}": 1})
    counts = counting_.counts()
    assert counts.complete
    assert not counts.exact, "an entry came since"
    assert (counts.total, counts.uncounted) == (1000, 0)
    redis.zrem(keys.DEAD, b"{}")
    assert counting_.counts().exact


def test_one_process_at_a_time_counts(redis: redis_py.Redis, server: Server) -> None:
    fill(redis)
    redis.set(keys.RECOUNTING, "a process that died", px=200)
    counting_ = Counting(redis)
    while redis.exists(keys.RECOUNTING):
        assert not counting_.counts().complete
        assert redis.get(keys.RECOUNTING) in (b"a process that died", None)
        assert counting_._tally.entries_read == 0
        pause(0.02)
    assert exact(counting_) == text(truth(redis))


def test_others_wait_for_a_process_that_died_some_seconds_only(redis: redis_py.Redis) -> None:
    counting_ = Counting(redis)
    for _ in ("it takes the lock", "it keeps it"):
        assert counting_._hold()
        assert 0 < redis.pttl(keys.RECOUNTING) <= LOCK
        redis.persist(keys.RECOUNTING)


def test_while_another_counts_it_looks_less_and_less_often(redis: redis_py.Redis) -> None:
    fill(redis, 401)
    redis.set(keys.RECOUNTING, "another process")
    looks = Counting(redis)._work()
    assert [next(looks) for _ in range(10)] == [0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.0, 2.0, 2.0]


def test_a_set_that_was_emptied_meanwhile_is_left_alone(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "LINGER", 60)
    fill(redis)
    redis.set(keys.RECOUNTING, "another process", px=60_000)
    Counting(redis).counts()
    pause(0.3)  # by now it looks only now and then
    redis.flushall()
    nobody_counts()
    assert not list(redis.scan_iter())


LOOKS = """
import json, sys, redis
from joobq_admin.joobq.counting import Counting
from tests.support.background import exact
counting = Counting(redis.Redis(port=int(sys.argv[1])))
print("ready", flush=True)
sys.stdin.readline()
counts = exact(counting, timeout=20)
print(json.dumps([counts.exact, dict(counts), counting._tally.entries_read]))
"""


def test_two_processes_and_one_swap(server: Server) -> None:
    fill(server.client, 6_000)
    server.client.config_resetstat()
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", LOOKS, str(server.port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    for process in processes:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    said = [json.loads(process.communicate("go\n", timeout=30)[0]) for process in processes]
    want = dict(text(truth(server.client)))
    assert [answer[:2] for answer in said] == [[True, want]] * 2
    assert sorted(answer[2] for answer in said) == [0, 6_000], "one read the entries, the other waited"
    assert server.client.info("commandstats")["cmdstat_eval"]["calls"] == 1, "the swap is the only script sent whole"


def test_a_recount_gives_up_at_its_deadline(server: Server) -> None:
    fill(server.client, 3000)
    writers = Writers(server.client, seed=6)
    writers.busy = 1.0
    counting_ = Counting(interrupted(server.port, writers))
    assert not counting_.recount(monotonic() + 0.3).exact
    writers.busy = 0.0
    assert counting_.recount().exact
    assert abs(counting_.recount().as_of - counting_.counts().as_of) < timedelta(seconds=5)


def test_a_recount_waits_for_the_thread_but_not_for_ever(server: Server) -> None:
    fill(server.client)
    client, waits, goes_on = holding(server.port)
    counting_ = Counting(client)
    counting_.counts()
    assert waits.wait(10)
    assert not counting_.recount(monotonic() + 0.1).complete
    goes_on.set()
    assert counting_.recount().exact
