"""Up to 400 entries are counted by one script whenever hash and set disagree, whoever wrote."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import redis as redis_py

from joobq_admin.joobq import background, keys, scripts
from joobq_admin.joobq.cjson import queue_of
from joobq_admin.joobq.counting import Counting
from tests.support.background import holding
from tests.support.eventually import eventually
from tests.support.letters import real_letters
from tests.support.servers import Server
from tests.support.writers import QUEUES, Writers, in_hash, text, truth


def everything(client: redis_py.Redis) -> dict[bytes, Any]:
    """Every key, in whatever way it is stored."""
    return {key: client.dump(key) for key in client.scan_iter()}


def test_the_entries_that_real_workers_wrote(redis: redis_py.Redis) -> None:
    """Those workers never count: there is no hash at all."""
    for real in real_letters():
        redis.zadd(keys.DEAD, {real.raw: real.score})
    dead = redis.dump(keys.DEAD)
    counts = Counting(redis).counts()
    assert counts.exact
    assert counts.complete
    assert counts == text(truth(redis))
    assert counts.total == sum(counts.values()) == len(real_letters())
    assert counts.uncounted == 0
    assert abs(counts.as_of - datetime.now(UTC)) < timedelta(seconds=5)
    assert redis.dump(keys.DEAD) == dead
    assert in_hash(redis) == truth(redis)
    assert set(redis.scan_iter()) == {keys.DEAD, keys.COUNTS, keys.PROVED}


def test_what_was_proved_is_read_and_not_counted_again(redis: redis_py.Redis) -> None:
    counting = Counting(redis)
    writers = Writers(redis, seed=1)
    for _ in range(100):
        writers.write()
    assert counting.counts().exact
    proof = redis.get(keys.PROVED)
    for _ in range(100):
        writers.write()
        counts = counting.counts()
        assert counts.exact
        assert counts == text(truth(redis))
    assert redis.get(keys.PROVED) == proof


def test_workers_that_never_count(redis: redis_py.Redis) -> None:
    counting, writers = Counting(redis), Writers(redis, seed=2, legacy=1.0)
    for _ in range(150):
        writers.write()
        counts = counting.counts()
        assert counts.exact
        assert counts == text(truth(redis))


def test_an_empty_set(redis: redis_py.Redis) -> None:
    counts = Counting(redis).counts()
    assert counts == {}
    assert counts.exact
    assert counts.total == 0
    assert not redis.exists(keys.COUNTS)


def test_count_of_one_queue_and_of_all(redis: redis_py.Redis) -> None:
    members = [b'{"queue":"emails"}', b'{"queue":"emails","n":1}', b"no json", b'{"queue":"\xff"}']
    redis.zadd(keys.DEAD, dict.fromkeys(members, 1))
    counting = Counting(redis)
    assert counting.count() == 4
    assert [counting.count(queue) for queue in ("emails", "", "\udcff", "other")] == [2, 1, 1, 0]


@pytest.mark.parametrize(("entries", "size"), [(401, 1), (2, 600_000)], ids=["401 entries", "more than 1 MiB"])
def test_a_set_that_would_stop_redis_is_left_to_the_background(server: Server, entries: int, size: int) -> None:
    redis = server.client
    redis.zadd(keys.DEAD, {b'{"n":%d,"queue":"emails","text":"%s"}' % (n, b"x" * size): n for n in range(entries)})
    client, _, goes_on = holding(server.port)
    counts = Counting(client).counts()
    assert not counts.complete
    assert counts.total == entries
    assert counts.uncounted == entries
    goes_on.set()


def test_the_script_counts_names_as_python_reads_them(redis: redis_py.Redis) -> None:
    writers = Writers(redis, seed=3)
    members = {writers.member(): n for n in range(390)} | {b"": 1, b"[1]": 2, b'{"queue":7}': 3, b'{"queue":""}': 4}
    redis.zadd(keys.DEAD, members)
    assert Counting(redis).counts() == text(truth(redis))
    assert {queue_of(member) for member in members} > set(QUEUES[:2])


def test_many_queues(redis: redis_py.Redis) -> None:
    """More than a script may unpack at once."""
    redis.zadd(keys.DEAD, {b'{"queue":"q%d"}' % n: n for n in range(400)})
    assert Counting(redis).counts() == {f"q{n}": 1 for n in range(400)}
    assert len(in_hash(redis)) == 400


def test_without_a_marker_the_script_writes_nothing(redis: redis_py.Redis) -> None:
    redis.zadd(keys.DEAD, {b'{"queue":"emails"}': 1})
    before = everything(redis)
    call = scripts.RECOUNT.call((keys.DEAD, keys.COUNTS, keys.PROVED), (b"", 400, 1 << 20), read_only=True)
    ((_, _, *counts),) = scripts.read(redis, [call])
    assert counts == [b"emails", 1]
    assert everything(redis) == before


@pytest.mark.parametrize("limits", [(1, 1000), (2, 36)], ids=["entries", "bytes"])
def test_over_its_limits_the_script_writes_nothing(redis: redis_py.Redis, limits: tuple[int, int]) -> None:
    redis.zadd(keys.DEAD, {b'{"queue":"emails"}': 1, b'{"queue":"emails"} ': 1})
    before = everything(redis)
    call = scripts.RECOUNT.call((keys.DEAD, keys.COUNTS, keys.PROVED), (b"token", *limits))
    assert scripts.send(redis, [call]) == [[]]
    assert everything(redis) == before


def test_scripts_that_the_server_has_forgotten(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    redis.zadd(keys.DEAD, {b'{"queue":"emails"}': 1})
    counting_ = Counting(redis)
    redis.script_flush()
    assert counting_.counts().exact
    redis.zadd(keys.DEAD, {b'{"n":%d,"queue":"emails"}' % n: n for n in range(1000)})
    monkeypatch.setattr(background, "PAUSE", 0.01)
    redis.script_flush()
    eventually(lambda: counting_.counts().exact and redis.script_flush())
    assert in_hash(redis) == {b"emails": 1001}
