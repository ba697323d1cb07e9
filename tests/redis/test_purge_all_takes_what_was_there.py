"""Everything at once, or every entry of a queue that was there at the beginning; recorded before the first one goes."""

from collections.abc import Callable
from typing import Any

import pytest
import redis as redis_py

from joobq_admin.joobq import keys
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.entry import Entry
from joobq_admin.joobq.outcome import AnswerLost, Unreachable
from joobq_admin.joobq.purging import Purging, Step
from tests.support.database import changed, contents
from tests.support.letters import DIED, NO_TIME, letter
from tests.support.operators import ANN, before_the_next, dead_letters
from tests.support.servers import Proxy, Server

QUEUES = ["emails", "réports", "", "a b"]


def fill(redis: redis_py.Redis, many: int = 130) -> dict[str, list[bytes]]:
    queue, letters = dead_letters(redis), dict[str, list[bytes]]()
    for name in QUEUES:
        letters[name] = [letter(n, name) for n in range(many)]
        queue.add(DIED, letters[name][: many // 2])
        queue.add(NO_TIME, letters[name][many // 2 :])
    redis.rpush("emails", "waiting")
    redis.set("other", "x")
    return letters


def records(redis: redis_py.Redis) -> list[tuple[bytes, bytes | None, bytes | None]]:
    return [(row[b"action"], row.get(b"entries"), row.get(b"queue")) for _, row in redis.xrange(keys.AUDIT)]


def test_everything_goes_in_one_step(redis: redis_py.Redis) -> None:
    fill(redis)
    before, queue = contents(redis), dead_letters(redis)
    assert queue.purge_all(by=ANN, reason="r", operation="op1") == 520
    after = contents(redis)
    assert changed(before, after) == {keys.DEAD, keys.COUNTS, keys.AUDIT, keys.AUDIT_INDEX}
    assert keys.DEAD not in after
    assert keys.COUNTS not in after
    assert records(redis) == [(b"purge_all", b"520", None)]
    assert dict(queue.counts()) == {}


def test_a_second_press_does_nothing_also_to_what_came_meanwhile(redis: redis_py.Redis) -> None:
    fill(redis)
    for name, gone in (("emails", 130), (None, 391)):
        queue = dead_letters(redis)
        assert queue.purge_all(name, by=ANN, operation=f"first-{gone}") == gone
        queue.add(DIED, [letter(9_000)])
        after = contents(redis)
        assert queue.purge_all(name, by=ANN, operation=f"first-{gone}") == gone
        assert contents(redis) == after
    assert queue.purge_all(by=ANN, operation="another") == 1


@pytest.mark.parametrize("name", QUEUES)
def test_of_one_queue_only_its_own_entries_go(redis: redis_py.Redis, name: str) -> None:
    letters = fill(redis)
    before, queue = contents(redis), dead_letters(redis)
    assert queue.purge_all(name, by=ANN, operation="op1") == 130
    assert changed(before, contents(redis)) == {keys.DEAD, keys.COUNTS, keys.AUDIT, keys.AUDIT_INDEX}
    left = {raw for other, members in letters.items() if other != name for raw in members}
    assert set(redis.zrange(keys.DEAD, 0, -1)) == left
    assert {k: v for k, v in redis.hgetall(keys.COUNTS).items() if v != b"0"} == {
        other.encode(): b"130" for other in QUEUES if other != name
    }
    assert records(redis) == [(b"purge_all", b"130", name.encode())]
    assert not redis.exists(keys.BIN)


def test_a_queue_without_entries(redis: redis_py.Redis) -> None:
    fill(redis)
    before = contents(redis)
    assert dead_letters(redis).purge_all("no such queue", operation="op1") == 0
    assert changed(before, contents(redis)) == {keys.AUDIT, keys.AUDIT_INDEX}
    assert DeadLetterQueue(redis).purge_all("no such queue") == 0


def test_what_comes_in_or_is_taken_between_the_passes(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """New ones stay, those that another took are not counted; it is recorded before the first one goes."""
    letters, queue = fill(redis)["emails"], dead_letters(redis)
    newcomers = [letter(n, death=7) for n in range(40)]

    def meanwhile() -> None:
        assert records(redis) == [(b"purge_all", b"130", b"emails")]
        assert set(letters) <= set(redis.zrange(keys.DEAD, 0, -1))
        queue.add(DIED, newcomers[:20])
        queue.add(NO_TIME, newcomers[20:])
        assert queue.purge_entries([Entry(raw, DIED).ref for raw in letters[:10]], operation="another").done

    before_the_first_goes(monkeypatch, meanwhile)
    assert queue.purge_all("emails", by=ANN, operation="op1") == 120
    left = [raw for raw in redis.zrange(keys.DEAD, 0, -1) if b'"emails"' in raw]
    assert sorted(left) == sorted(newcomers)
    assert redis.hget(keys.COUNTS, "emails") == b"40"


def test_without_a_log_it_works_as_well(redis: redis_py.Redis) -> None:
    fill(redis)
    queue = DeadLetterQueue(redis)
    assert queue.purge_all("emails", operation="op1") == 130
    assert queue.purge_all(operation="op1") == 390
    assert queue.purge_all(operation="op1") == 0
    assert set(redis.keys()) == {b"emails", b"other"}


@pytest.mark.parametrize("name", ["emails", "no such queue"])
def test_a_cut_in_the_middle_of_a_queue_is_told_and_the_same_operation_goes_on(
    server: Server, new_proxy: Callable[[Server], Proxy], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    redis, proxy = server.client, new_proxy(server)
    fill(redis)
    dead_letters(redis).purge_all("a b", operation="op0")  # the server knows the scripts
    before_the_first_goes(monkeypatch, proxy.cut)
    with pytest.raises(AnswerLost, match="entries went, or none"):
        dead_letters(proxy.connect(socket_timeout=10)).purge_all(name, by=ANN, operation="op1")
    dead_letters(redis).add(DIED, [letter(9_000)])
    gone = 130 if name == "emails" else 0
    for _ in range(2):
        assert dead_letters(redis).purge_all(name, by=ANN, operation="op1") == gone
        assert redis.zcard(keys.DEAD) == 391 - gone
    assert redis.keys("joobq:admin:plan:*") == []
    assert records(redis)[1:] == [(b"purge_all", b"%d" % gone, name.encode())]


def test_a_server_that_goes_away_before_it_is_recorded_has_purged_nothing(
    server: Server, new_proxy: Callable[[Server], Proxy], monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = new_proxy(server)
    fill(server.client)
    plan = Purging.plan

    def planned(*args: Any) -> Step:
        step = plan(*args)
        proxy.close()
        return step

    monkeypatch.setattr(Purging, "plan", planned)
    with pytest.raises(Unreachable):
        dead_letters(proxy.connect(socket_timeout=10)).purge_all("emails", operation="op1")
    assert server.client.zcard(keys.DEAD) == 520
    assert not server.client.exists(keys.AUDIT)


@pytest.mark.parametrize("recorded", [True, False])
def test_a_refusal_on_the_way(
    new_server: Callable[..., Server], monkeypatch: pytest.MonkeyPatch, recorded: bool
) -> None:
    """Rights were taken away meanwhile."""
    redis = new_server("valkey").client
    fill(redis)
    queue = dead_letters(redis) if recorded else DeadLetterQueue(redis)
    before_the_first_goes(monkeypatch, lambda: redis.acl_setuser("default", commands=["-hincrby"]))
    with pytest.raises(AnswerLost, match="NOT_ALLOWED"):
        queue.purge_all("emails", operation="op1")
    assert redis.zcard(keys.DEAD) == 520
    redis.acl_setuser("default", commands=["+hincrby"])
    assert queue.purge_all("emails", operation="op1") == 130


def test_the_same_press_at_the_same_moment_is_one(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(redis)
    queue, answers = dead_letters(redis), []
    before_the_first_goes(monkeypatch, lambda: answers.append(queue.purge_all("emails", operation="op1")))
    answers.append(queue.purge_all("emails", operation="op1"))
    assert answers == [130, 130]
    assert redis.zcard(keys.DEAD) == 390
    assert len(records(redis)) == 1


def before_the_first_goes(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """All is planned and recorded, then `act` comes, then the first entry of the queue goes."""
    before_the_next(monkeypatch, Purging, "purge_planned", act)
