"""JoobQ adds bytes that are there already with a new score. A link that holds the old score still leads to them."""

import pytest
import redis as redis_py

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import EntryRef
from tests.support.letters import DIED, NO_TIME, digest, jid, letter
from tests.support.operators import dead_letters, told

LETTER = letter(1)
ODD = b'{ "queue":"emails", "retries":1, "jid":"%s" }' % jid(1).encode()
NO_JID = b'{"queue":"emails","retries":0}'


@pytest.mark.parametrize("raw", [LETTER, ODD, NO_JID], ids=["as JoobQ writes", "odd order", "no jid"])
@pytest.mark.parametrize(
    ("was", "now"), [(DIED, DIED + 60_000), (NO_TIME, DIED), (DIED, NO_TIME), (DIED, DIED - 86_400_000)]
)
def test_it_is_opened_and_redriven(redis: redis_py.Redis, raw: bytes, was: int, now: int) -> None:
    queue = dead_letters(redis)
    queue.add(was, [raw, letter(2), letter(3)])
    entry = next(entry for entry in queue.page() if entry.raw == raw)
    assert queue.add(now, [raw]) == 0  # not counted again
    assert redis.hgetall(keys.COUNTS) == {b"emails": b"3"}
    for ref in (entry.ref, EntryRef(was, entry.digest[:16], entry.jid)):
        found = queue.look_up(ref)
        assert found is not None
        assert (found.raw, found.score) == (raw, now)
    assert told(queue.redrive_entries([entry.ref], operation="op1")) == {"done": [entry.ref]}
    assert redis.hgetall(keys.COUNTS) == {b"emails": b"2"}
    assert redis.llen("emails") == 1
    ((_, record),) = redis.xrange(keys.AUDIT)
    assert record[b"score"] == str(now).encode()


def test_a_reviewed_entry_without_a_score_is_found_wherever_it_is(redis: redis_py.Redis) -> None:
    queue = dead_letters(redis)
    queue.add(5, [LETTER])
    queue.add(DIED, [letter(n) for n in range(2, 4_500)])
    outcome = queue.redrive_reviewed(jid(1), digest(LETTER), operation="op1")
    assert list(told(outcome)) == ["done"]
    assert redis.zscore(keys.DEAD, LETTER) is None


def test_what_moved_out_of_sight_is_not_redriven_blindly(redis: redis_py.Redis) -> None:
    """At an unknown score below the newest 4,000 it is not found: told as missing, and nothing is touched."""
    queue = dead_letters(redis)
    queue.add(DIED, [letter(n) for n in range(2, 4_300)])
    queue.add(5, [LETTER])
    ref = EntryRef(DIED, digest(LETTER), jid(1))
    assert told(queue.redrive_entries([ref], operation="op1")) == {"missing": [ref]}
    assert redis.zscore(keys.DEAD, LETTER) == 5
    assert redis.llen("emails") == 0
