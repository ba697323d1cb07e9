"""The job is there, the bytes that were reviewed are not: nothing is sent in their place."""

import pytest
import redis as redis_py

from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.entry import Entry, EntryRef
from joobq_admin.joobq.outcome import Outcome
from tests.support.database import contents
from tests.support.letters import DIED, NO_TIME, digest, jid, letter
from tests.support.operators import ANN, dead_letters, told

REVIEWED, OTHER = letter(1, death=1), letter(1, death=2)


def reviewed(queue: DeadLetterQueue, score: int | None) -> Outcome:
    return queue.redrive_reviewed(jid(1), digest(REVIEWED), score, by=ANN, reason="", operation="op1")


def one_of_many(queue: DeadLetterQueue, score: int | None) -> Outcome:
    return queue.redrive_entries([EntryRef(score or 0, digest(REVIEWED), jid(1))], by=ANN, operation="op1")


def purged(queue: DeadLetterQueue, score: int | None) -> Outcome:
    return queue.purge_entries([EntryRef(score or 0, digest(REVIEWED), jid(1))], by=ANN, operation="op1")


@pytest.mark.parametrize("press", [reviewed, one_of_many, purged])
@pytest.mark.parametrize("score", [DIED, NO_TIME, None], ids=["a time", "604800", "no score given"])
def test_another_death_of_the_job_stands_in_its_place(redis: redis_py.Redis, press, score) -> None:
    queue = dead_letters(redis)
    queue.add(score or DIED, [OTHER, letter(2)])
    before = contents(redis)
    assert list(told(press(queue, score))) == ["conflicts"]
    assert contents(redis) == before


@pytest.mark.parametrize("press", [reviewed, one_of_many, purged])
def test_the_other_death_has_another_score(redis: redis_py.Redis, press) -> None:
    queue = dead_letters(redis)
    queue.add(NO_TIME, [OTHER])
    before = contents(redis)
    assert list(told(press(queue, DIED))) == ["conflicts"]
    assert contents(redis) == before


def test_one_changed_byte_is_another_entry(redis: redis_py.Redis) -> None:
    queue = dead_letters(redis)
    queue.add(DIED, [REVIEWED.replace(b'"retries":0', b'"retries":1')])
    before = contents(redis)
    assert list(told(reviewed(queue, DIED))) == ["conflicts"]
    assert contents(redis) == before


def test_the_spelling_of_the_jid_makes_no_other_job(redis: redis_py.Redis) -> None:
    queue = dead_letters(redis)
    queue.add(DIED, [letter(1, death=2)])
    ref = EntryRef(DIED, digest(REVIEWED), jid(1))
    assert told(queue.redrive_entries([ref], operation="op1")) == {"conflicts": [ref]}


def test_in_its_place_it_is_redriven(redis: redis_py.Redis) -> None:
    """The same presses work on the entry that was reviewed."""
    for number, press in enumerate((reviewed, one_of_many, purged)):
        redis.flushall()
        queue = dead_letters(redis)
        queue.add(DIED, [REVIEWED, OTHER])
        assert list(told(press(queue, DIED))) == ["done"], number
        assert [entry.raw for entry in queue.page()] == [OTHER]


def test_a_jid_names_its_newest_entry_at_that_moment(redis: redis_py.Redis) -> None:
    queue = dead_letters(redis)
    queue.add(DIED, [OTHER])
    queue.add(DIED + 1, [REVIEWED])
    assert told(queue.redrive([jid(1)], operation="op1")) == {"done": [jid(1)]}
    assert queue.page() == [Entry(OTHER, DIED)]
    assert told(queue.purge([jid(1)], operation="op2")) == {"done": [jid(1)]}
    assert queue.page() == []
