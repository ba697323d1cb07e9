"""All of one queue, planned, recorded, then purged in steps: exactly what was planned goes, whoever goes on with it."""

from collections.abc import Callable
from itertools import pairwise

import pytest
import redis as redis_py

from joobq_admin.joobq import keys
from joobq_admin.joobq.audit import AuditLog
from joobq_admin.joobq.entry import Entry
from joobq_admin.joobq.lookup import Cursor
from joobq_admin.joobq.outcome import AnswerLost, NotDone, Refusal
from joobq_admin.joobq.purging import ASKED, BLOCK, KEPT, Plan, Purging
from tests.support.database import changed, contents
from tests.support.eventually import eventually
from tests.support.letters import DIED, NO_TIME, letter
from tests.support.operators import ANN, at_once, dead_letters
from tests.support.servers import Proxy, Server

QUEUES = ("emails", "réports", "", "a b")
MANY = BLOCK // 2 + 1  # of each queue: two blocks and a bit of all
PLAN, *PARTS = keys.plan("op1")


@pytest.fixture(autouse=True)
def no_step_is_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy this machine is."""
    monkeypatch.setattr("joobq_admin.joobq.purging.LEAST", 60)


def fill(redis: redis_py.Redis) -> dict[str, list[bytes]]:
    letters = {name: [letter(n, name) for n in range(MANY)] for name in QUEUES}
    for members in letters.values():
        dead_letters(redis).add(DIED, members[::2])
        dead_letters(redis).add(NO_TIME, members[1::2])
    return letters


def purging(redis: redis_py.Redis) -> Purging:
    return Purging(redis, AuditLog(redis), None, by=ANN, reason="r", operation="op1")


def all_steps(step: Callable[[str, Cursor | None, float], object], queue: str = "emails") -> int:
    """How many it took, each as short as it can be."""
    start, steps = None, 0
    while steps == 0 or start:
        start, steps = step(queue, start, 0).older, steps + 1
    return steps


def planned(redis: redis_py.Redis, queue: str = "emails") -> Purging:
    """A plan that was recorded."""
    asked = purging(redis)
    assert all_steps(asked.plan, queue) == 3
    plan = asked.planned()
    assert plan == Plan(queue, MANY, over=False)
    assert asked.record(plan.left, queue)
    return asked


def of(queue: str, redis: redis_py.Redis) -> list[bytes]:
    return [raw for raw in redis.zrange(keys.DEAD, 0, -1) if Entry(raw, 0).queue == queue]


@pytest.mark.parametrize("name", QUEUES)
def test_its_entries_go_and_no_others(redis: redis_py.Redis, name: str) -> None:
    letters = fill(redis)
    asked = planned(redis, name)
    before = contents(redis)
    parts = before.keys() & set(PARTS)
    assert all_steps(asked.purge_planned, name) == 3
    after = contents(redis)
    assert changed(before, after) == {keys.DEAD, keys.COUNTS, PLAN, *parts}
    assert set(redis.zrange(keys.DEAD, 0, -1)) == {raw for n, each in letters.items() if n != name for raw in each}
    assert {q: n for q, n in redis.hgetall(keys.COUNTS).items() if n != b"0"} == {
        other.encode(): b"%d" % MANY for other in QUEUES if other != name
    }
    assert asked.planned() == Plan(name, 0, over=True)
    ((_, record),) = redis.xrange(keys.AUDIT)
    assert (record[b"action"], record[b"entries"], record[b"queue"]) == (b"purge_all", b"%d" % MANY, name.encode())


def test_to_plan_it_changes_nothing_but_the_plan_which_ends_by_itself(redis: redis_py.Redis) -> None:
    fill(redis)
    before = contents(redis)
    all_steps(purging(redis).plan)
    plan = changed(before, contents(redis))
    assert PLAN in plan <= {PLAN, *PARTS}
    asked = purging(redis)
    for act, time in ((lambda: None, ASKED), (lambda: asked.record(MANY, "emails"), KEPT),
                      (lambda: asked.purge_planned("emails", None, 0), KEPT)):  # fmt: skip
        act()
        assert time.total_seconds() - 60 < redis.pttl(PLAN) / 1000 <= time.total_seconds()
        ends = [redis.pexpiretime(key) / 1000 for key in (PLAN, *sorted(plan & set(PARTS))) if redis.exists(key)]
        assert all(later - end > 0.05 for end, later in pairwise(ends))  # each part by itself, after the plan


def test_what_comes_in_after_the_plan_stays(redis: redis_py.Redis) -> None:
    fill(redis)
    asked, queue = purging(redis), dead_letters(redis)
    all_steps(asked.plan)
    queue.add(DIED + 1, [letter(n, death=7) for n in range(20)])
    asked.record(MANY, "emails")
    queue.add(NO_TIME, [letter(n, death=8) for n in range(20)])
    here = asked.purge_planned("emails", None, 0).older
    queue.add(DIED - 1, [letter(n, death=9) for n in range(20)])
    while here:
        here = asked.purge_planned("emails", here, 0).older
    assert asked.planned() == Plan("emails", 0, over=True)
    assert sorted(of("emails", redis)) == sorted(letter(n, death=d) for n in range(20) for d in (7, 8, 9))
    assert redis.hget(keys.COUNTS, "emails") == b"60"


def test_it_is_recorded_only_as_it_was_planned(redis: redis_py.Redis) -> None:
    """What another request planned meanwhile was not counted by who pressed."""
    fill(redis)
    asked = purging(redis)
    all_steps(asked.plan)
    before = contents(redis)
    for n in (MANY - 1, MANY + 1, 0):
        assert not asked.record(n, "emails")
    assert changed(before, contents(redis)) == set()
    for _ in range(2):
        assert asked.record(MANY, "emails")
    assert redis.xlen(keys.AUDIT) == 1


def test_the_plan_of_another_queue_is_neither_added_to_nor_recorded_nor_purged(redis: redis_py.Redis) -> None:
    fill(redis)
    asked = purging(redis)
    all_steps(asked.plan)
    before = contents(redis)
    for step in (asked.plan, asked.purge_planned):
        all_steps(step, "a b")
    assert not asked.record(MANY, "a b")
    assert changed(before, contents(redis)) == set()


def test_a_plan_that_ended_leaves_nothing_to_the_next(redis: redis_py.Redis) -> None:
    """Its parts end after it."""
    fill(redis)
    asked = purging(redis)
    all_steps(asked.plan)
    redis.delete(PLAN)
    all_steps(asked.plan, "a b")
    assert asked.planned() == Plan("a b", MANY, over=False)


def test_where_time_is_over_amid_a_block_the_next_step_goes_on(
    redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it is among large entries."""
    monkeypatch.setattr("joobq_admin.joobq.purging.LEAST", 0)
    dead_letters(redis).add(DIED, [letter(n) for n in range(5)])
    asked = purging(redis)
    assert all_steps(asked.plan) == 5
    assert asked.record(5, "emails")
    assert all_steps(asked.purge_planned) == 5
    assert asked.planned() == Plan("emails", 0, over=True)
    assert not redis.exists(keys.DEAD)


def test_once_it_is_recorded_nothing_is_added_to_the_plan(redis: redis_py.Redis) -> None:
    fill(redis)
    asked = planned(redis)
    dead_letters(redis).add(DIED, [letter(1, death=7)])
    before = contents(redis)
    all_steps(asked.plan)
    assert changed(before, contents(redis)) == set()


def test_what_left_meanwhile_is_left_on_the_plan(redis: redis_py.Redis) -> None:
    letters = fill(redis)["emails"]
    asked = planned(redis)
    refs = [Entry(raw, NO_TIME).ref for raw in letters[1:11:2]]
    assert len(dead_letters(redis).purge_entries(refs, operation="another").done) == 5
    all_steps(asked.purge_planned)
    assert asked.planned() == Plan("emails", 5, over=True)
    assert of("emails", redis) == []
    assert redis.hget(keys.COUNTS, "emails") == b"0"


def test_two_who_go_on_at_once_and_again_from_the_top_are_one(redis: redis_py.Redis) -> None:
    fill(redis)
    asked = planned(redis)
    at_once(*(lambda: all_steps(asked.purge_planned) for _ in range(3)))
    all_steps(asked.purge_planned)
    assert asked.planned() == Plan("emails", 0, over=True)
    assert of("emails", redis) == []
    assert redis.hget(keys.COUNTS, "emails") == b"0"


def test_a_plan_that_is_not_kept_any_more_takes_nothing(redis: redis_py.Redis) -> None:
    fill(redis)
    asked = planned(redis)
    redis.delete(PLAN)
    before = contents(redis)
    all_steps(asked.purge_planned)
    assert changed(before, contents(redis)) == set()
    assert asked.planned() is None


@pytest.mark.parametrize("scripts", range(3))
def test_after_a_lost_answer_it_goes_on_and_the_numbers_are_true(
    server: Server, new_proxy: Callable[[Server], Proxy], scripts: int
) -> None:
    fill(server.client)
    planned(server.client)
    all_steps(purging(server.client).purge_planned, "no such queue")  # the server knows the script
    server.client.hdel(PLAN, "over")
    proxy, here = new_proxy(server), None
    asked = purging(proxy.connect(socket_timeout=10))
    for _ in range(scripts):
        here = asked.purge_planned("emails", here, 0).older
    proxy.cut()
    with pytest.raises(AnswerLost):
        asked.purge_planned("emails", here, 0)
    proxy.passes()
    eventually(lambda: asked.planned() == Plan("emails", len(of("emails", server.client)), over=scripts == 2))
    all_steps(asked.purge_planned)
    assert asked.planned() == Plan("emails", 0, over=True)
    assert of("emails", server.client) == []


def test_a_full_server_can_be_emptied(new_server: Callable[..., Server]) -> None:
    redis = new_server("valkey").client
    fill(redis)
    redis.config_set("maxmemory", "1mb")
    with pytest.raises(redis_py.exceptions.OutOfMemoryError):
        redis.set("x", "y" * 100)
    all_steps(planned(redis).purge_planned)
    assert of("emails", redis) == []


def test_rights_that_are_missing_and_a_replica_are_told_and_nothing_moves(new_server: Callable[..., Server]) -> None:
    primary = new_server("valkey")
    redis = primary.client
    fill(redis)
    planned(redis)
    before = contents(redis)
    redis.acl_setuser("few", enabled=True, nopass=True, keys=["*"], commands=["+@all", "-srem"])
    few = purging(primary.connect(username="few", password="any"))
    reader = purging(new_server("valkey", replica_of=primary).client)
    eventually(lambda: reader.redis.zcard(keys.DEAD) == redis.zcard(keys.DEAD))
    for asked, reason in ((few, Refusal.NOT_ALLOWED), (reader, Refusal.READONLY)):
        for step in (asked.plan, asked.purge_planned):
            with pytest.raises(NotDone, match=reason):
                all_steps(step)
    assert changed(before, contents(redis)) == set()
