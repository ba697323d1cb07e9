"""The marker of proved counts goes as soon as something is seen that workers, old and new, cannot have done."""

import random
from collections.abc import Callable
from functools import partial
from itertools import count
from math import inf

import pytest
import redis as redis_py

from joobq_admin.joobq import background, counting, keys, scripts, tally
from joobq_admin.joobq.counting import Counting
from tests.support.operators import dead_letters
from tests.support.servers import KINDS, Server
from tests.support.users import reader
from tests.support.writers import Writers, in_hash, interrupted, text, truth

KEYS = (keys.DEAD, keys.COUNTS, keys.PROVED)
DAMAGES: dict[str, Callable[[redis_py.Redis], object]] = {
    "a sum above the size": lambda redis: redis.hincrby(keys.COUNTS, "emails", 1),
    "entries taken by hand": lambda redis: redis.zremrangebyrank(keys.DEAD, 0, 0),
    "a negative field": lambda redis: redis.hset(keys.COUNTS, "other", -1),
    "a field that is no number": lambda redis: redis.hset(keys.COUNTS, "other", "x"),
    "a fraction": lambda redis: redis.hset(keys.COUNTS, "other", "1.0"),
    "a leading zero": lambda redis: redis.hset(keys.COUNTS, "other", "00"),
    "a field beyond all counting": lambda redis: redis.hset(keys.COUNTS, "other", "9" * 40),
    "a string in place of the hash": lambda redis: redis.set(keys.COUNTS, "counts"),
    "a set in place of the hash": lambda redis: redis.delete(keys.COUNTS) and redis.sadd(keys.COUNTS, "counts"),
}


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every set is too large for one script, and no thread puts anything right."""
    monkeypatch.setattr(counting, "SMALL", -1)
    monkeypatch.setattr(background, "LINGER", 0)


def proved(redis: redis_py.Redis, entries: int = 5) -> Counting:
    redis.zadd(keys.DEAD, {b'{"n":%d,"queue":"emails"}' % n: n for n in range(entries)})
    counting_ = Counting(redis)
    assert counting_.recount().exact
    return counting_


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_the_marker_goes(redis: redis_py.Redis, damage: Callable[[redis_py.Redis], object]) -> None:
    counting_ = proved(redis)
    damage(redis)
    hash_before = redis.dump(keys.COUNTS)
    counts = Counting(redis).counts()
    assert not counts.bounded
    assert not counts.exact
    assert counts.total == redis.zcard(keys.DEAD)
    assert not redis.exists(keys.PROVED)
    assert redis.dump(keys.COUNTS) == hash_before
    assert counting_.recount().exact
    assert in_hash(redis) == truth(redis)


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_small_set_is_exact_again_at_once(redis: redis_py.Redis, damage: Callable[[redis_py.Redis], object]) -> None:
    counting_ = proved(redis)
    proof = redis.get(keys.PROVED)
    damage(redis)
    counts = counting_.counts()
    assert counts.exact
    assert counts == text(truth(redis))
    assert redis.get(keys.PROVED) not in (None, proof)


@pytest.mark.usefixtures("large")
def test_late_workers_cannot_cover_what_was_seen(redis: redis_py.Redis) -> None:
    """A sum that was above the size once: entries that nobody counts would make it fit again."""
    counting_ = proved(redis)
    redis.hincrby(keys.COUNTS, "emails", 1)
    counting_.counts()
    redis.zadd(keys.DEAD, {b'{"queue":"reports"}': 1})
    counts = Counting(redis).counts()
    assert counts.complete, "five and one are six"
    assert not counts.exact


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("broken", ["the key", "the field"])
def test_a_purge_that_could_not_be_counted(redis: redis_py.Redis, broken: str) -> None:
    counting_, writers = proved(redis), Writers(redis, seed=1)
    if broken == "the key":
        redis.set(keys.COUNTS, "counts")
    else:
        redis.hset(keys.COUNTS, "emails", "many")
    writers.remove(b'{"n":2,"queue":"emails"}')
    assert not Counting(redis).counts().bounded
    assert not redis.exists(keys.PROVED)
    assert counting_.recount() == {"emails": 4}
    assert in_hash(redis) == {b"emails": 4}


def test_an_entry_that_could_not_be_counted_is_added(redis: redis_py.Redis) -> None:
    redis.set(keys.COUNTS, "counts")
    queue = dead_letters(redis)
    assert queue.add(1, [b'{"queue":"emails"}', b"no object"]) == 2
    assert queue.counts() == {"emails": 1, "": 1}


@pytest.mark.usefixtures("large")
def test_a_hash_that_was_deleted_only_fell_behind(redis: redis_py.Redis) -> None:
    proved(redis)
    redis.delete(keys.COUNTS)
    Writers(redis, seed=1).add(9, b'{"queue":"emails"}')
    counts = Counting(redis).counts()
    assert counts.bounded
    assert counts == {"emails": 1}
    assert counts.uncounted == 5


def test_a_newer_proof_is_not_removed_with_an_old_one(redis: redis_py.Redis) -> None:
    proved(redis)
    redis.set(keys.PROVED, "newer")
    assert scripts.send(redis, [scripts.READ.call(KEYS, [b"older"])])[0][2] == b"newer"
    assert redis.get(keys.PROVED) == b"newer"
    assert scripts.send(redis, [scripts.READ.call(KEYS, [b"newer"])])[0][2] == b""
    assert not redis.exists(keys.PROVED)


def swap(redis: redis_py.Redis, token: str, **counts: int) -> object:
    pairs = [text for pair in counts.items() for text in pair]
    (reply,) = scripts.send(redis, [scripts.SWAP.call((keys.COUNTS, keys.PROVED), [token, *pairs])])
    return reply


def test_a_swap_says_what_it_knows(redis: redis_py.Redis) -> None:
    redis.hset(keys.COUNTS, mapping={"emails": 1, "gone": 0})
    redis.set(keys.PROVED, "old")
    assert swap(redis, "", emails=1) == 1
    assert redis.get(keys.PROVED) == b"old", "nothing was swapped"
    assert swap(redis, "", emails=2) == 0
    assert not redis.exists(keys.PROVED)
    assert redis.hgetall(keys.COUNTS) == {b"emails": b"2"}
    assert swap(redis, "new", emails=2) == 1
    assert redis.get(keys.PROVED) == b"new"
    assert swap(redis, "newer", reports=3) == 0
    assert redis.hgetall(keys.COUNTS) == {b"reports": b"3"}
    assert redis.get(keys.PROVED) == b"newer"
    assert swap(redis, "newest") == 0
    assert not redis.exists(keys.COUNTS)


@pytest.mark.usefixtures("large")
def test_bounds_are_not_given_up_for_less(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries get new scores all the time: the set can be surveyed between two of them, but not read as a whole."""
    for name, value in {"BLOCK": 10, "GRACE": 4000, "GRACE_TIME": inf}.items():
        monkeypatch.setattr(tally, name, value)
    clock = partial(next, count(step=0.01))  # it goes on when it is read: time is steps
    for module in (counting, tally):
        monkeypatch.setattr(module, "monotonic", clock)
    redis, dice = server.client, random.Random(1)
    proved(redis, 500)
    proof = redis.get(keys.PROVED)
    redis.zadd(keys.DEAD, {b'{"queue":"reports"}': 1})

    def dies_again() -> None:
        if dice.random() < 0.1:
            redis.zincrby(keys.DEAD, 0.001, b'{"n":0,"queue":"emails"}')

    def recount() -> None:
        said = Counting(interrupted(server.port, dies_again)).recount(clock() + 10)
        assert said.complete
        assert not said.exact
        assert said == {"emails": 500, "reports": 1}

    recount()
    assert in_hash(redis) == {b"emails": 500}
    assert redis.get(keys.PROVED) == proof
    redis.delete(keys.PROVED)
    recount()
    assert in_hash(redis) == {b"emails": 500, b"reports": 1}, "with nothing to lose, the best that is known"
    assert not redis.exists(keys.PROVED)


def test_a_swap_of_more_queues_than_a_script_may_unpack(redis: redis_py.Redis) -> None:
    redis.set(keys.COUNTS, "another type")
    assert swap(redis, "new", **{f"q{n}": n + 1 for n in range(1001)}) == 0
    assert redis.hlen(keys.COUNTS) == 1001


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("kind", KINDS)
def test_who_may_not_remove_the_marker_remembers(new_server: Callable[..., Server], kind: str) -> None:
    server = new_server(kind)
    proved(server.client)
    reader_ = Counting(reader(server))
    assert reader_.counts().exact
    server.client.hincrby(keys.COUNTS, "emails", 1)
    assert not reader_.counts().bounded
    server.client.zadd(keys.DEAD, {b'{"queue":"reports"}': 1})
    assert server.client.exists(keys.PROVED)
    assert not reader_.counts().exact
    assert Counting(server.client).recount().exact
    assert reader_.counts().exact, "another marker, another proof"
