"""Between look-up and script somebody else acts: the answer is about the entry that was found, never about another."""

from collections.abc import Callable

import pytest
import redis as redis_py

from joobq_admin.joobq import keys, lookup
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.entry import EntryRef
from joobq_admin.joobq.outcome import Outcome
from tests.support.database import contents
from tests.support.letters import DIED, NO_TIME, digest, jid, letter
from tests.support.operators import ANN, BOB, before_the_script, dead_letters, told

NEWEST, OLDER = letter(1, death=2), letter(1, death=1)
REF = EntryRef(DIED, digest(NEWEST), jid(1))
Press = Callable[[DeadLetterQueue], Outcome]

PRESSES: dict[str, tuple[Press, str]] = {
    "redrive": (lambda queue: queue.redrive([jid(1)], operation="op1"), "missing"),
    "purge": (lambda queue: queue.purge([jid(1)], operation="op1"), "missing"),
    "redrive_reviewed": (lambda queue: queue.redrive_reviewed(jid(1), REF.digest, DIED, operation="op1"), "conflicts"),
    "redrive_entries": (lambda queue: queue.redrive_entries([REF], operation="op1"), "conflicts"),
    "purge_entries": (lambda queue: queue.purge_entries([REF], operation="op1"), "conflicts"),
}


@pytest.mark.parametrize("name", PRESSES)
@pytest.mark.parametrize("others_score", [DIED - 5, DIED, NO_TIME])
def test_another_operator_was_faster(
    redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch, name: str, others_score: int
) -> None:
    press, expected = PRESSES[name]
    queue, other = dead_letters(redis), dead_letters(redis)
    queue.add(DIED, [NEWEST])
    queue.add(others_score, [OLDER])
    queue.add(DIED, [letter(2)])
    seen = {}

    def faster() -> None:
        assert told(other.redrive_entries([REF], by=BOB, operation="bobs")) == {"done": [REF]}
        seen.update(contents(redis))

    before_the_script(monkeypatch, faster)
    assert list(told(press(queue))) == [expected]
    assert contents(redis) == seen
    assert redis.zscore(keys.DEAD, OLDER) == others_score
    assert redis.llen("emails") == 1


@pytest.mark.parametrize("name", PRESSES)
def test_the_last_entry_of_the_job_was_taken(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    queue, seen = dead_letters(redis), {}
    queue.add(DIED, [NEWEST, letter(2)])

    def faster() -> None:
        assert dead_letters(redis).purge_entries([REF], by=BOB).done
        seen.update(contents(redis))

    before_the_script(monkeypatch, faster)
    assert list(told(PRESSES[name][0](queue))) == ["missing"]
    assert contents(redis) == seen


@pytest.mark.parametrize("name", PRESSES)
def test_its_score_was_renewed_meanwhile(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Bytes identify an entry: with another score it is still the one that was meant."""
    queue = dead_letters(redis)
    queue.add(DIED, [NEWEST, letter(2)])
    before_the_script(monkeypatch, lambda: queue.add(DIED + 7, [NEWEST]))
    assert list(told(PRESSES[name][0](queue))) == ["done"]
    assert redis.zrange(keys.DEAD, 0, -1) == [letter(2)]
    assert redis.hgetall(keys.COUNTS)[b"emails"] == b"1"
    ((_, record),) = redis.xrange(keys.AUDIT)
    assert record[b"score"] == str(DIED + 7).encode()


@pytest.mark.parametrize("name", PRESSES)
def test_a_newer_death_came_meanwhile(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """What was looked up is done; the newcomer stays."""
    queue = dead_letters(redis)
    queue.add(DIED, [NEWEST])
    before_the_script(monkeypatch, lambda: queue.add(DIED + 7, [OLDER]))
    assert list(told(PRESSES[name][0](queue))) == ["done"]
    assert redis.zrange(keys.DEAD, 0, -1) == [OLDER]


def test_in_a_bulk_only_the_one_that_was_taken_is_told(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = dead_letters(redis)
    letters = [letter(n) for n in range(1, 130)]
    queue.add(DIED, letters)
    refs = [EntryRef(DIED, digest(raw), jid(n)) for n, raw in enumerate(letters, 1)]
    before_the_script(monkeypatch, lambda: dead_letters(redis).redrive_entries(refs[60:70], by=BOB))
    outcome = queue.redrive_entries(refs, by=ANN, operation="anns")
    assert outcome.missing == tuple(refs[60:70])
    assert outcome.done == tuple(refs[:60] + refs[70:])
    assert redis.llen("emails") == len(letters)
    assert redis.xlen(keys.AUDIT) == len(letters)


@pytest.mark.parametrize("action", ["redrive", "purge"])
@pytest.mark.parametrize("older", [True, False], ids=["one more entry", "no other entry"])
def test_the_same_operation_by_jid_pressed_twice_at_once_takes_one_entry(
    redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch, action: str, older: bool
) -> None:
    """The first press runs before the second one walks: the job's next entry is not taken for its newest."""
    queue, walk = dead_letters(redis), lookup.every
    queue.add(DIED, [NEWEST])
    queue.add(DIED - 1, [OLDER] if older else [])

    def walk_behind_the_first_press(*args):
        monkeypatch.setattr(lookup, "every", walk)
        assert getattr(dead_letters(redis), action)([jid(1)], operation="op1").done
        return walk(*args)

    monkeypatch.setattr(lookup, "every", walk_behind_the_first_press)
    assert told(getattr(queue, action)([jid(1)], operation="op1")) == {"done": [jid(1)]}
    assert redis.zrange(keys.DEAD, 0, -1) == ([OLDER] if older else [])
    assert redis.xlen(keys.AUDIT) == 1
