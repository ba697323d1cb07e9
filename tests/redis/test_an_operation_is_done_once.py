"""Pressed twice, reloaded, raced by another operator: an entry moves once, and everybody is told the truth."""

import random
import string

import pytest
import redis as redis_py

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import EntryRef
from joobq_admin.joobq.outcome import Outcome
from tests.support.database import changed, contents
from tests.support.letters import DIED, NO_TIME, digest, jid, letter
from tests.support.operators import ANN, BOB, at_once, dead_letters, told
from tests.support.presses import ACTIONS, LETTER, REF, is_done_once, prepare, press
from tests.support.servers import Server


@pytest.mark.parametrize("action", ACTIONS)
def test_pressed_again_it_answers_as_before(redis: redis_py.Redis, action: str) -> None:
    before = prepare(redis, action)
    assert press(redis, action) == "done"
    after = contents(redis)
    assert is_done_once(before, after, action)
    for _ in range(3):
        assert press(redis, action) == "done"
        assert contents(redis) == after


@pytest.mark.parametrize("action", ACTIONS)
def test_another_operation_is_another_press(redis: redis_py.Redis, action: str) -> None:
    prepare(redis, action)
    press(redis, action)
    after = contents(redis)
    if action.startswith("purge ") and "jid" not in action:  # an empty set can be purged once more: a record says so
        assert press(redis, action, "op2") == "missing"
        assert changed(after, contents(redis)) == {keys.AUDIT, keys.AUDIT_INDEX}
    else:
        assert press(redis, action, "op2") == "missing"
        assert contents(redis) == after


def test_redrive_and_purge_of_one_page_do_not_take_each_others_answer(redis: redis_py.Redis) -> None:
    prepare(redis, "redrive")
    steps = [("purge", "p1", "done"), ("redrive", "p1", "missing"), ("restore", "u1", "done"), ("purge", "p1", "done"),
             ("redrive", "p1", "done"), ("restore", "u1", "done"), ("purge", "p2", "missing")]  # fmt: skip
    assert [press(redis, action, operation) for action, operation, _ in steps] == [said for _, _, said in steps]
    assert redis.lrange("emails", 0, -1)[0] == b"other"
    assert redis.llen("emails") == 2


def test_a_refusal_is_not_for_ever(redis: redis_py.Redis) -> None:
    before = prepare(redis, "redrive")
    redis.rename("emails", "aside")
    redis.set("emails", "no list")
    assert press(redis, "redrive") == "NOT_A_LIST"
    redis.rename("aside", "emails")
    assert press(redis, "redrive") == "done"
    assert is_done_once(before, contents(redis), "redrive")


def test_what_was_missing_is_tried_again(redis: redis_py.Redis) -> None:
    prepare(redis, "redrive")
    redis.zrem(keys.DEAD, LETTER)
    assert press(redis, "redrive") == "missing"
    dead_letters(redis).add(NO_TIME, [LETTER])
    assert press(redis, "redrive") == "done"
    dead_letters(redis).add(NO_TIME, [LETTER])  # the very same bytes: this operation has sent them
    after = contents(redis)
    assert press(redis, "redrive") == "done"
    assert contents(redis) == after
    assert press(redis, "redrive", "op2") == "done"
    assert redis.llen("emails") == 3


def test_the_second_half_of_a_bulk_is_done_by_the_same_operation(redis: redis_py.Redis) -> None:
    queue, refs = dead_letters(redis), fill(redis, 70)
    assert queue.redrive_entries(refs[:30], operation="op1").done == tuple(refs[:30])
    assert told(queue.redrive_entries(refs, operation="op1")) == {"done": refs}
    assert (redis.llen("emails"), redis.xlen(keys.AUDIT), redis.zcard(keys.DEAD)) == (70, 70, 0)


def fill(redis: redis_py.Redis, many: int) -> list[EntryRef]:
    letters = [letter(n) for n in range(1, many + 1)]
    dead_letters(redis).add(DIED, letters)
    return [EntryRef(DIED, digest(raw), jid(n)) for n, raw in enumerate(letters, 1)]


@pytest.mark.parametrize("first", ["redrive", "purge"])
def test_a_hundred_races_move_each_entry_once(server: Server, first: str) -> None:
    """Two operators press at the same moment, each with an operation of their own; the loser can see who won."""
    redis, refs = server.client, fill(server.client, 100)
    ann, bob = dead_letters(server.connect()), dead_letters(server.connect())
    log, winners = dead_letters(redis).audit, []
    assert log is not None

    def anns(ref: EntryRef) -> Outcome:
        return getattr(ann, f"{first}_entries")([ref], by=ANN, operation=f"a-{ref.digest[:9]}")

    def bobs(ref: EntryRef) -> Outcome:
        return bob.redrive_entries([ref], by=BOB, operation=f"b-{ref.digest[:9]}")

    for ref in refs:
        outcomes = at_once(lambda ref=ref: anns(ref), lambda ref=ref: bobs(ref))
        assert sorted(next(iter(told(outcome))) for outcome in outcomes) == ["done", "missing"]
        (record,) = log.of_digest(ref.digest)
        assert record.name == (ANN.name if outcomes[0].done else BOB.name)
        winners.append(record.name)
    redriven = 100 if first == "redrive" else winners.count(BOB.name)
    assert redis.llen("emails") == len(set(redis.lrange("emails", 0, -1))) == redriven
    assert (redis.zcard(keys.DEAD), redis.xlen(keys.AUDIT), redis.zcard(keys.BIN_TIMES)) == (0, 100, 100 - redriven)
    assert sum(int(n) for n in redis.hgetall(keys.COUNTS).values()) == 0


def test_the_same_operation_pressed_at_once_by_four_is_done_for_all_of_them(server: Server) -> None:
    redis, refs = server.client, fill(server.client, 120)
    queues = [dead_letters(server.connect()) for _ in range(4)]
    presses = [lambda queue=queue: queue.redrive_entries(refs, by=ANN, operation="op1") for queue in queues]
    for outcome in at_once(*presses):
        assert told(outcome) == {"done": refs}
    assert (redis.llen("emails"), redis.xlen(keys.AUDIT), redis.zcard(keys.DEAD)) == (120, 120, 0)


def test_one_bulk_by_four_operators_divides_it(server: Server) -> None:
    """Each thing that was asked for stands in exactly one group of each outcome, and is done in one of them."""
    redis, refs = server.client, fill(server.client, 120)
    queues = [dead_letters(server.connect()) for _ in range(4)]
    orders = [random.Random(n).sample(refs, len(refs)) for n in range(4)]
    presses = [
        lambda queue=queue, order=order: queue.redrive_entries(order, by=ANN)
        for queue, order in zip(queues, orders, strict=True)
    ]
    outcomes = at_once(*presses)
    for outcome, order in zip(outcomes, orders, strict=True):
        assert sorted((*outcome.done, *outcome.missing), key=order.index) == order
    assert sorted(ref.digest for outcome in outcomes for ref in outcome.done) == sorted(ref.digest for ref in refs)
    assert redis.llen("emails") == 120


@pytest.mark.parametrize("name", ["a", string.ascii_letters + string.digits + "-", "-" * 64])
def test_the_name_of_an_operation(redis: redis_py.Redis, name: str) -> None:
    prepare(redis, "redrive")
    assert press(redis, "redrive", name) == "done"
    log = dead_letters(redis).audit
    assert log is not None
    record = log.recorded(name, "redrive", REF.digest)
    assert record is not None
    assert (record.operation, record.digest, record.jid) == (name, REF.digest, jid(1))
    for other in (name[:-1], name + "0", name.swapcase() + "x"):
        assert not other or log.recorded(other, "redrive", REF.digest) is None
    assert log.recorded(name, "purge", REF.digest) is None
    assert log.recorded(name, "redrive", "0" * 64) is None


def test_without_a_name_each_press_is_one_of_its_own(redis: redis_py.Redis) -> None:
    queue, refs = dead_letters(redis), fill(redis, 2)
    for ref in refs:
        assert queue.redrive_entries([ref]).done
    names = {record[b"operation"] for _, record in redis.xrange(keys.AUDIT)}
    assert len(names) == 2
    assert all(len(name) == 36 for name in names)


def test_by_jid_an_operation_over_many_jobs_takes_one_entry_of_each(redis: redis_py.Redis) -> None:
    """Also of jids that the log keeps by their digest, and of more jobs than a page of it shows."""
    queue = dead_letters(redis)
    jids = [f"job-{n}" for n in range(1_100)] + ["x" * 200, "a\0b", "\udcff", "ü" * 65]
    for death in (1, 2):
        queue.add(DIED + death, [letter(name, death=death) for name in jids])
        queue.add(DIED + death, [letter("#", death=death).replace(b"#", rb"\ud800")])
    jids.append("\ud800")  # no text that could be sent: it only ever stands in JSON as an escape
    assert told(queue.purge(jids, operation="op1")) == {"done": jids}
    assert redis.zcard(keys.DEAD) == len(jids)
    after = contents(redis)
    assert told(queue.purge(jids, operation="op1")) == {"done": jids}
    assert contents(redis) == after
