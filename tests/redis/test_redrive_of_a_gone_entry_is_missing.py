"""Somebody else got there first: nothing is done, and the audit log tells who it was."""

import pytest
import redis as redis_py

from joobq_admin.joobq.entry import EntryRef
from tests.support.database import contents
from tests.support.letters import DIED, NO_TIME, digest, jid, letter
from tests.support.operators import ANN, BOB, dead_letters, told

LETTER = letter(1)


@pytest.mark.parametrize("score", [DIED, NO_TIME])
@pytest.mark.parametrize("action", ["redrive_entries", "purge_entries"])
def test_the_second_operator_is_told_who_and_when(redis: redis_py.Redis, action: str, score: int) -> None:
    queue, ref = dead_letters(redis), EntryRef(score, digest(LETTER), jid(1))
    queue.add(score, [LETTER, letter(2)])
    assert told(getattr(queue, action)([ref], by=ANN, reason="fixed", operation="anns")) == {"done": [ref]}
    before = contents(redis)
    for press in (queue.redrive_entries, queue.purge_entries):
        assert told(press([ref], by=BOB, operation="bobs")) == {"missing": [ref]}
    assert contents(redis) == before
    assert queue.audit is not None
    (record,) = queue.audit.of_digest(ref.digest)
    assert (record.by, record.name, record.reason, record.action) == ("u-1", ANN.name, "fixed", action.split("_")[0])
    seconds, _ = redis.time()
    assert record.at is not None
    assert 0 <= seconds - int(record.at.timestamp()) <= 5


def test_what_was_never_there_is_missing(redis: redis_py.Redis) -> None:
    queue = dead_letters(redis)
    queue.add(DIED, [letter(2)])
    before = contents(redis)
    for ref in (EntryRef(DIED, digest(LETTER), jid(1)), EntryRef(NO_TIME, digest(LETTER), jid(1)),
                EntryRef(DIED, digest(LETTER), None), EntryRef(float("-inf"), digest(b""), "no job")):  # fmt: skip
        assert told(queue.redrive_entries([ref])) == {"missing": [ref]}
        assert told(queue.purge_entries([ref])) == {"missing": [ref]}
    assert told(queue.redrive([jid(1)])) == {"missing": [jid(1)]}
    assert told(queue.purge([jid(1)])) == {"missing": [jid(1)]}
    assert told(queue.redrive_reviewed(jid(1), digest(LETTER)))["missing"]
    assert contents(redis) == before


def test_an_empty_set_has_nothing(redis: redis_py.Redis) -> None:
    queue, ref = dead_letters(redis), EntryRef(DIED, digest(LETTER), jid(1))
    assert told(queue.redrive_entries([ref])) == {"missing": [ref]}
    assert told(queue.redrive_entries([])) == {}
    assert queue.page() == []
    assert queue.find(jid(1)) is None
    assert redis.keys() == []
