"""A user without write rights, a replica, a full server: counts come from this process, and nothing is touched."""

from collections.abc import Callable, Iterator

import pytest
import redis as redis_py

from joobq_admin.joobq import background, keys
from joobq_admin.joobq.counting import Counting
from tests.support.background import nobody_counts
from tests.support.eventually import eventually
from tests.support.servers import KINDS, Server
from tests.support.users import COUNTING, reader, user
from tests.support.writers import Writers, in_hash, text, truth


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, new_server: object) -> Iterator[None]:
    monkeypatch.setattr(background, "PAUSE", 0.01)
    monkeypatch.setattr(background, "LINGER", 0.2)
    yield
    nobody_counts()


@pytest.fixture(params=[(kind, way) for kind in KINDS for way in ("a user", "a replica")], ids=" ".join)
def two(request: pytest.FixtureRequest, new_server: Callable[..., Server]) -> tuple[redis_py.Redis, redis_py.Redis]:
    """A client that may write, and one that sees the same and may not."""
    kind, way = request.param
    server = new_server(kind)
    if way == "a user":
        return server.client, reader(server)
    follower = new_server(kind, replica_of=server)
    eventually(lambda: follower.client.info("replication")["master_link_status"] == "up")
    return server.client, follower.client


def write(writer: redis_py.Redis, watcher: redis_py.Redis, writers: Writers, times: int) -> None:
    for _ in range(times):
        writers.write()
    eventually(lambda: truth(watcher) == truth(writer) and watcher.hgetall(keys.COUNTS) == writer.hgetall(keys.COUNTS))


def test_a_small_set_is_exact_at_once(two: tuple[redis_py.Redis, redis_py.Redis]) -> None:
    writer, watcher = two
    counting_, writers = Counting(watcher), Writers(writer, seed=1, legacy=0.5)
    for _ in range(10):
        write(writer, watcher, writers, 7)
        counts = counting_.counts()
        assert counts.exact
        assert counts == text(truth(writer))
        assert counting_.recount() == counts
    assert not writer.exists(keys.PROVED, keys.RECOUNTING)


def test_a_large_set_is_counted_in_the_background(two: tuple[redis_py.Redis, redis_py.Redis]) -> None:
    writer, watcher = two
    counting_, writers = Counting(watcher), Writers(writer, seed=2, legacy=1.0)
    writer.zadd(keys.DEAD, {writers.member(): score for score in range(1000)})
    for _ in range(3):
        write(writer, watcher, writers, 50)
        hash_before = writer.hgetall(keys.COUNTS)
        counts = eventually(lambda: (now := counting_.counts()).exact and now)
        assert counts == text(truth(writer))
        assert counts.total == writer.zcard(keys.DEAD)
        assert counting_.recount() == counts
        assert writer.hgetall(keys.COUNTS) == hash_before
    assert not writer.exists(keys.PROVED, keys.RECOUNTING)


def test_what_another_proved_is_exact_without_counting(two: tuple[redis_py.Redis, redis_py.Redis]) -> None:
    writer, watcher = two
    writers = Writers(writer, seed=3)
    writer.zadd(keys.DEAD, {writers.member(): score for score in range(1000)})
    assert Counting(writer).recount().exact
    write(writer, watcher, writers, 50)
    eventually(lambda: watcher.get(keys.PROVED))
    counting_ = Counting(watcher)
    assert counting_.counts().exact
    assert counting_.counts() == text(truth(writer))
    assert counting_._tally.entries_read == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_server_is_put_right_when_there_is_room(new_server: Callable[..., Server], kind: str) -> None:
    redis = new_server(kind).client
    redis.zadd(keys.DEAD, {b'{"n":%d,"queue":"emails"}' % n: n for n in range(1000)})
    redis.config_set("maxmemory", 1)
    counting_ = Counting(redis)
    assert eventually(lambda: (now := counting_.counts()).exact and now) == {"emails": 1000}
    assert not redis.exists(keys.COUNTS, keys.PROVED, keys.RECOUNTING)
    redis.config_set("maxmemory", 0)
    eventually(lambda: counting_.counts() and redis.exists(keys.PROVED))
    assert in_hash(redis) == {b"emails": 1000}


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_server_with_a_small_set(new_server: Callable[..., Server], kind: str) -> None:
    redis = new_server(kind).client
    redis.zadd(keys.DEAD, {b'{"queue":"emails"}': 1})
    redis.config_set("maxmemory", 1)
    assert Counting(redis).counts() == {"emails": 1}
    assert Counting(redis).counts().exact


@pytest.mark.parametrize("missing", ["eval", "del", "hset"])
@pytest.mark.parametrize("kind", KINDS)
def test_rights_that_do_not_suffice_for_a_swap(new_server: Callable[..., Server], kind: str, missing: str) -> None:
    """Noticed in the very EXEC that would have proved the counts; what it leaves behind is never taken for exact."""
    server = new_server(kind)
    rights = [right for right in ("set", "pexpire", "eval", "evalsha", "del", "hset") if right != missing]
    counting_ = Counting(user(server, "~joobq:*", f"{COUNTING} {' '.join(rights)}"))
    server.client.zadd(keys.DEAD, {b'{"n":%d,"queue":"emails"}' % n: n for n in range(1000)})
    server.client.hset(keys.COUNTS, "emails", 7)
    assert eventually(lambda: (now := counting_.counts()).exact and now) == {"emails": 1000}
    assert not server.client.exists(keys.PROVED)
    server.client.zadd(keys.DEAD, {b'{"queue":"emails"}': 1})
    assert eventually(lambda: (now := counting_.counts()).exact and now) == {"emails": 1001}
    assert not Counting(server.client).counts().exact


@pytest.mark.parametrize("kind", KINDS)
def test_a_user_who_may_not_even_look(new_server: Callable[..., Server], kind: str) -> None:
    counting_ = Counting(user(new_server(kind), "~joobq:admin:*", COUNTING))
    with pytest.raises(redis_py.ResponseError):
        counting_.counts()
