"""Whoever goes on with a repair goes on with the same cycle: one beginning, one step at a time, numbers that add up."""

from collections.abc import Callable

import pytest
import redis as redis_py

from joobq_admin.joobq import keys, scripts
from joobq_admin.joobq.delivery import Cycle, Ledger
from joobq_admin.joobq.outcome import AnswerLost
from tests.support.database import changed, contents
from tests.support.eventually import eventually
from tests.support.ledgers import agrees, clock, ledger_of, spoil_header
from tests.support.operators import ANN, BOB, at_once, before_the_next
from tests.support.servers import KINDS, Proxy, Server

MANY = 1_200
CYCLE = keys.repair("shop", "emails")


def damaged(redis: redis_py.Redis) -> Ledger:
    ledger = ledger_of(redis)
    ledger.admit_many((str(n), b"1") for n in range(MANY))
    redis.zremrangebyrank(ledger.ready_key, 0, 99)
    redis.zadd(ledger.ready_key, {f"ghost {n}": 1 for n in range(50)})
    for n in range(7):
        spoil_header(ledger, str(n))
    return ledger


def to_the_end(ledger: Ledger) -> Cycle:
    return eventually(lambda: cycle if (cycle := ledger.go_on(0)) and cycle.ended_at else None, every=0)


def test_it_is_kept_beside_the_ledger_and_ends(redis: redis_py.Redis) -> None:
    ledger = damaged(redis)
    assert ledger.cycle() is ledger.go_on(0) is None
    before = contents(redis)
    first = ledger.begin_cycle("op1", ANN, 0)
    assert (first.by, first.operation, first.ended_at, first.stepped) == (ANN, "op1", None, True)
    assert first.total == MANY * 2 - 50
    done = to_the_end(ledger)
    assert (done.done.records, done.done.mended, done.done.quarantined) == (MANY, 143, 7)
    assert done.done.cursor == ""
    assert first.began_at <= done.stepped_at == done.ended_at
    assert changed(before, contents(redis)) == {
        CYCLE, *(key.encode() for key in (ledger.ready_key, ledger.quarantine_key))}  # fmt: skip
    assert 0 < redis.pttl(CYCLE) <= 3_600_000
    assert agrees(ledger)


def test_two_who_begin_it_go_on_with_one(redis: redis_py.Redis, server: Server) -> None:
    damaged(redis)
    ledgers = [ledger_of(server.connect()) for _ in range(4)]
    began = at_once(
        *(lambda at=at: ledgers[at].begin_cycle(f"op{at}", (ANN, BOB)[at % 2], 0) for at in range(len(ledgers)))
    )
    assert len({(cycle.operation, cycle.by, cycle.began_at) for cycle in began}) == 1
    ended = at_once(*(lambda ledger=ledger: to_the_end(ledger) for ledger in ledgers))
    assert len({cycle.done for cycle in ended}) == 1
    done = ended[0].done
    assert (done.records, done.expired, done.mended, done.quarantined, ended[0].lost) == (MANY, 0, 143, 7, 0)


def test_while_one_takes_a_step_another_sees_how_far_it_is(
    redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, other = damaged(redis), ledger_of(redis)
    seen, page = [], ledger.repair_page

    def slowly(*args, **more):
        if not seen:
            seen.append(other.begin_cycle("op2", BOB, 0))
        return page(*args, **more)

    monkeypatch.setattr(ledger, "repair_page", slowly)
    assert ledger.begin_cycle("op1", ANN, 0).stepped
    assert (seen[0].stepped, seen[0].operation, seen[0].by, seen[0].done.records) == (False, "op1", ANN, 0)
    assert other.go_on(0).stepped


def test_a_step_that_never_ended_is_taken_again_by_another(
    redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its process was killed. What it had come back with late counts, and moves nothing back."""
    ledger, other = damaged(redis), ledger_of(redis)
    page, reached = ledger.repair_page, []

    def killed_meanwhile(*args, **more):
        found = page(*args, **more)
        redis.hset(CYCLE, "until", 1)  # its turn is over
        reached.extend(other.go_on(0) for _ in range(2))
        return found

    monkeypatch.setattr(ledger, "repair_page", killed_meanwhile)
    late = ledger.begin_cycle("op1", ANN, 0)
    assert late.done.cursor == reached[-1].done.cursor != reached[0].done.cursor
    monkeypatch.undo()
    ended = to_the_end(other)
    assert (ended.done.mended, ended.done.quarantined) == (143, 7)
    assert ended.lost == 1


def test_after_it_a_new_one_begins_by_a_new_press_only(redis: redis_py.Redis) -> None:
    ledger = damaged(redis)
    first = ledger.begin_cycle("op1", ANN, 60)
    assert first.ended_at
    assert ledger.go_on(0).operation == "op1"
    assert not ledger.go_on(0).stepped
    again = ledger.begin_cycle("op1", ANN, 60)
    assert (again.ended_at, again.stepped) == (first.ended_at, False)
    second = ledger.begin_cycle("op2", BOB, 60)
    assert (second.operation, second.by, second.done.mended, second.done.quarantined) == ("op2", BOB, 0, 0)


def test_a_late_step_of_a_cycle_before_counts_for_no_other(redis: redis_py.Redis) -> None:
    ledger = damaged(redis)
    ledger.begin_cycle("op1", ANN, 60)
    second = ledger.begin_cycle("op2", BOB, 60)
    redis.execute_command(*scripts.END_TURN.call((CYCLE,), ("op1", "x", "", 10**6, "mended", 5)))
    assert ledger.cycle().done == second.done


def test_a_lost_answer_leaves_the_cycle_where_it_can_go_on(
    server: Server, redis: redis_py.Redis, new_proxy: Callable[[Server], Proxy], monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged(redis)
    proxy = new_proxy(server)
    ledger = ledger_of(proxy.connect())
    ledger.begin_cycle("op1", ANN, 0)
    before_the_next(monkeypatch, ledger, "repair_page", proxy.swallow)
    with pytest.raises(AnswerLost):
        ledger.go_on(0)
    eventually(lambda: ledger_of(redis).cycle().lost)  # so it was told, though that is not answered either
    proxy.passes()
    ended = to_the_end(ledger)
    assert (ended.done.records, ended.lost) == (MANY, 1)
    assert agrees(ledger)


def test_a_step_whose_end_was_told_to_redis_counts_though_its_answer_was_lost(
    server: Server, redis: redis_py.Redis, new_proxy: Callable[[Server], Proxy], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else nobody would record what a cycle came to when that was its last step."""
    damaged(redis)
    proxy = new_proxy(server)
    ledger = ledger_of(proxy.connect())
    ledger.begin_cycle("op1", ANN, 0)
    before_the_next(monkeypatch, ledger, "_end", proxy.swallow)
    cycle = ledger.go_on(60)
    assert (cycle.stepped, cycle.done.records, cycle.done.quarantined, cycle.lost) == (True, MANY, 7, 0)
    assert cycle.ended_at
    assert agrees(ledger_of(redis))


RUBBISH: dict[str, dict[str, str | None] | None] = {
    "text": None,
    "other fields": {"operation": None, "by": None, "x": "y"},
    "no beginner": {"by": None},
    "no number of records": {"records": None},
    "a number that is none": {"records": "x"},
    "a number of 30 digits": {"began": "9" * 30},
    "a turn that is no time": {"until": "nan"},
    "a place that is none": {"cursor": "zset:0"},
    "no place": {"cursor": ""},
    "an end that is no time": {"ended": "x", "cursor": ""},
}


@pytest.mark.parametrize("rubbish", RUBBISH)
def test_what_is_no_cycle_counts_as_none(redis: redis_py.Redis, rubbish: str) -> None:
    ledger, fields = ledger_of(redis), RUBBISH[rubbish]
    ledger.admit_many((str(n), b"1") for n in range(300))
    ledger.begin_cycle("op1", ANN, 0)
    if fields is None:
        redis.set(CYCLE, "rubbish", ex=60)
    for name, value in (fields or {}).items():
        redis.hdel(CYCLE, name) if value is None else redis.hset(CYCLE, name, value)
    before = contents(redis)
    assert ledger.cycle() is ledger.go_on(0) is None
    assert contents(redis) == before
    cycle = ledger.begin_cycle("op2", BOB, 0)
    assert (cycle.operation, cycle.by, cycle.stepped) == ("op2", BOB, True)
    assert to_the_end(ledger).done.records == 300


def test_a_turn_of_a_clock_that_went_back_is_over(redis: redis_py.Redis) -> None:
    ledger = damaged(redis)
    ledger.begin_cycle("op1", ANN, 0)
    redis.hset(CYCLE, "until", clock(redis) + 3_600_000)
    assert ledger.go_on(0).lost == 1
    redis.hset(CYCLE, "until", clock(redis) + 4_000)
    assert not ledger.go_on(0).stepped


@pytest.mark.parametrize("kind", KINDS)
def test_in_a_full_redis_it_goes_on(new_server: Callable[..., Server], kind: str) -> None:
    redis = new_server(kind).client
    ledger = damaged(redis)
    redis.config_set("maxmemory", 1)
    ledger.begin_cycle("op1", ANN, 0)
    assert to_the_end(ledger).done.quarantined == 7
    assert agrees(ledger)
