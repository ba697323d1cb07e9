"""Dead letters by error are counted by a thread while somebody looks: pages tell what is known so far."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
import redis as redis_py

from joobq_admin.joobq import background, keys
from joobq_admin.joobq.outcome import Unreachable
from joobq_admin.triage import error_tally, groups
from joobq_admin.triage.groups import Grouping, Groups
from joobq_admin.triage.redact import Redaction
from tests.support.background import holding, nobody_counts
from tests.support.eventually import eventually
from tests.support.letters import DIED, ERROR, letter
from tests.support.operators import dead_letters
from tests.support.servers import Server


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, new_server: object) -> Iterator[None]:
    monkeypatch.setattr(background, "PAUSE", 0.01)
    monkeypatch.setattr(background, "LINGER", 0.3)
    monkeypatch.setattr(groups, "FRESH", 0.02)
    yield
    nobody_counts()


def died(n: int, of: str) -> bytes:
    return letter(n, error=ERROR | {"message": of})


def fill(redis: redis_py.Redis, entries: int, errors: int = 3) -> None:
    redis.zadd(keys.DEAD, {died(n, "error " + "abcdefghij"[n % errors]): DIED + n for n in range(entries)})


def grouping(redis: redis_py.Redis) -> Grouping:
    return Grouping(dead_letters(redis), Redaction())


def counts(found: Groups) -> list[int]:
    return [group.count for group in found.groups]


def test_a_question_waits_a_moment_for_the_answer(redis: redis_py.Redis) -> None:
    fill(redis, 30)
    found = grouping(redis).groups(wait=10)
    assert counts(found) == [10, 10, 10]
    assert (found.total, found.counted, found.others) == (30, 30, 0)
    assert found.complete
    assert found.of(found.groups[0].error.id) is found.groups[0]
    assert found.of("1-0123456789abcdef") is None
    assert set(redis.scan_iter()) == {keys.DEAD}, "nothing is written"


def test_an_empty_set_has_no_errors(redis: redis_py.Redis) -> None:
    found = grouping(redis).groups(wait=10)
    assert (found.groups, found.total, found.complete) == ((), 0, True)


def test_progress_is_told_while_it_counts(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "PAUSE", 0)
    monkeypatch.setattr(background, "LINGER", 60)
    fill(server.client, 2_000)
    client, waits, goes_on = holding(server.port, after=20, name="errors")
    errors = grouping(client)
    assert errors.groups(wait=0).counted == 0
    assert errors.groups(wait=0).total == 2_000
    assert waits.wait(10)
    found = errors.groups()  # it does not wait for the end
    assert 0 < found.counted < found.total == 2_000
    assert sum(counts(found)) == found.counted
    assert not found.complete
    monkeypatch.setattr(background, "LINGER", 0.3)
    goes_on.set()
    assert eventually(lambda: complete(errors)).counted == 2_000


def complete(errors: Grouping) -> Groups | None:
    found = errors.groups()
    return found if found.complete else None


def test_what_changes_is_followed_and_proved_again(redis: redis_py.Redis) -> None:
    fill(redis, 900)
    errors = grouping(redis)
    assert eventually(lambda: errors.groups().exact)
    redis.zremrangebyrank(keys.DEAD, 0, 99)
    redis.zadd(keys.DEAD, {died(1, "another"): DIED})
    eventually(lambda: sorted(counts(errors.groups())) == [1, 266, 267, 267])
    assert eventually(lambda: errors.groups().exact)
    before = errors.groups()
    after = eventually(lambda: later(errors, before))
    assert after.groups is before.groups, "nothing has changed: nothing is summed up again"
    assert after.exact


def later(errors: Grouping, before: Groups) -> Groups | None:
    found = errors.groups()
    return found if found.as_of > before.as_of else None


def test_more_errors_than_are_told_apart(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that came too late is counted among others, wholly, until there is room again."""
    monkeypatch.setattr(error_tally, "MOST_ERRORS", 4)
    monkeypatch.setattr(groups, "MOST_ERRORS", 4)
    fill(redis, 100, errors=10)
    errors = grouping(redis)
    found = eventually(lambda: complete(errors))
    assert counts(found) == [10, 10, 10, 10]
    assert (found.others, found.counted) == (60, 100)
    redis.zremrangebyscore(keys.DEAD, 0, DIED + 89)
    redis.zremrangebyrank(keys.DEAD, 0, 5)
    found = eventually(lambda: nothing_left(errors))
    assert counts(found) == [1, 1, 1, 1]


def nothing_left(errors: Grouping) -> Groups | None:
    found = errors.groups()
    return found if found.complete and found.total == 4 and not found.others else None


def test_more_queues_than_are_told_apart(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(error_tally, "MOST_QUEUES", 2)
    names = ["a", "b", "c", "d", "x" * 513]
    redis.zadd(keys.DEAD, {letter(n, queue): DIED + n for n, queue in enumerate(names)})
    (group,) = grouping(redis).groups(wait=10).groups
    assert dict(group.queues) == {"a": 1, "b": 1, None: 3}


def test_redis_goes_away_and_comes_back(new_server: Callable[..., Server], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "LONG_PAUSE", 0.05)
    server = new_server("valkey", persist=True)
    fill(server.client, 30)
    errors = grouping(server.client)
    assert errors.groups(wait=10).complete
    server.stop()
    with pytest.raises(Unreachable):
        errors.groups()
    server.start()
    server.client.zadd(keys.DEAD, {died(1, "another"): DIED})
    eventually(lambda: counts(errors.groups()) == [10, 10, 10, 1])


def test_what_was_counted_long_ago_is_not_told(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(redis, 30)
    errors = grouping(redis)
    assert errors.groups(wait=10).complete
    nobody_counts()
    fill(redis, 60)
    with monkeypatch.context() as patched:
        patched.setattr(background.Background, "wake", lambda _: None)
        assert errors.groups(wait=0).counted == 30
        patched.setattr(groups, "MINUTE", timedelta())
        later = errors.groups(wait=0)
        assert (later.groups, later.counted, later.total, later.complete) == ((), 0, 60, False)
    assert counts(errors.groups(wait=10)) == [20, 20, 20]


def test_it_ends_when_nobody_looks(redis: redis_py.Redis) -> None:
    grouping(redis).groups(wait=10)
    nobody_counts()
