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


def test_a_digest_that_only_begins_alike_is_another_entry(redis: redis_py.Redis) -> None:
    """16 digits do for looking; who acts names all 64."""
    queue, known = dead_letters(redis), digest(REVIEWED)
    queue.add(DIED, [REVIEWED])
    before = contents(redis)
    for length in (16, 32, 63):
        ref = EntryRef(DIED, known[:length] + ("0" if known[length] != "0" else "1") * (64 - length), jid(1))
        assert queue.look_up(ref) is None
        assert told(queue.redrive_entries([ref])) == told(queue.purge_entries([ref])) == {"conflicts": [ref]}
    assert contents(redis) == before
    for length in (16, 32, 63, 64):
        assert queue.look_up(EntryRef(DIED, known[:length], jid(1))) == Entry(REVIEWED, DIED)


def test_a_job_that_only_mentions_another_is_not_taken_for_it(redis: redis_py.Redis) -> None:
    """In its arguments, its error, a key or a nested jid."""
    queue = dead_letters(redis)
    others = [letter(2, parent=jid(1)), letter(3, error={"message": jid(1)}), letter(4, args={"jid": jid(1)}),
              letter(5, **{jid(1): 1}), letter(jid(1) + "x"), letter("x" + jid(1))]  # fmt: skip
    queue.add(DIED, others)
    before = contents(redis)
    assert queue.find(jid(1)) is None
    assert queue.find_all(jid(1)) == queue.near(jid(1)).entries == []
    for press in (queue.redrive, queue.purge):
        assert told(press([jid(1)])) == {"missing": [jid(1)]}
    ref = EntryRef(DIED, digest(REVIEWED), jid(1))
    assert told(queue.redrive_entries([ref])) == {"missing": [ref]}
    assert contents(redis) == before
    queue.add(DIED - 5, [REVIEWED])
    assert queue.find(jid(1)) == Entry(REVIEWED, DIED - 5)
    assert told(queue.redrive([jid(1)])) == {"done": [jid(1)]}
    assert redis.zcard("joobq:dead_letter") == len(others)


@pytest.mark.parametrize(
    ("name", "written"), [("a/b", rb"a\/b"), ("a\tb", rb"a\tb"), ("emails", rb"\u0065mails"), ("é", rb"\u00e9")]
)
def test_a_name_may_be_written_with_escapes(redis: redis_py.Redis, name: str, written: bytes) -> None:
    queue = dead_letters(redis)
    raw = letter("#", "#").replace(b"#", written)
    queue.add(DIED, [raw, letter(2)])
    assert [entry.raw for entry in queue.page(queue=name)].count(raw) == 1
    assert queue.find(name) == queue.find_all(name)[0] == queue.near(name).entries[0] == Entry(raw, DIED)
    assert [entry.raw for entry in queue.walk(queue=name, where=lambda entry: entry.jid == name).entries] == [raw]
    assert told(queue.purge([name])) == {"done": [name]}


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
