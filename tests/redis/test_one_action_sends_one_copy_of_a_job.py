"""Of several entries of one job in one call the newest that may be sent is tried, and never another in its place."""

import uuid
from typing import Any

import pytest
import redis as redis_py

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import Entry, EntryRef
from joobq_admin.joobq.outcome import Outcome, Refusal, Refused
from tests.support.database import changed, contents
from tests.support.letters import DIED, NO_TIME, letter
from tests.support.operators import ANN, BOB, before_the_script, dead_letters, told

UUID = uuid.UUID("0b8f7b60-5f0c-4b07-9d52-2b6d3b1f8a01")
SPELLINGS = [str(UUID), str(UUID).upper(), UUID.hex, UUID.hex.upper(), UUID.urn]


def deaths(redis: redis_py.Redis, *jids: str, score: int = DIED, step: int = 1) -> list[EntryRef]:
    """One entry each, the first the newest."""
    queue, refs = dead_letters(redis), []
    for number, jid in enumerate(jids):
        entry = Entry(letter(jid, death=100 - number), score - step * number)
        assert isinstance(entry.score, int)
        queue.add(entry.score, [entry.raw])
        refs.append(entry.ref)
    return refs


def same_job(*refs: Any) -> tuple[Refused, ...]:
    return tuple(Refused(ref, Refusal.SAME_JOB) for ref in refs)


@pytest.mark.parametrize("spellings", [SPELLINGS[:1] * 4, SPELLINGS[1:]], ids=["one spelling", "four spellings"])
@pytest.mark.parametrize("order", [1, -1], ids=["newest first", "newest last"])
@pytest.mark.parametrize("step", [1, 0], ids=["scores differ", "one score"])
def test_four_deaths_are_one_push_and_three_refusals(
    redis: redis_py.Redis, spellings: list[str], order: int, step: int
) -> None:
    refs = deaths(redis, *spellings, score=NO_TIME, step=step)
    newest, *others = sorted_newest_first(redis, refs)
    before = contents(redis)
    outcome = dead_letters(redis).redrive_entries(refs[::order], by=ANN, operation="op1")
    assert outcome.done == (newest,)
    assert set(outcome.refused) == set(same_job(*others))
    assert [refused.what for refused in outcome.refused] == [ref for ref in refs[::order] if ref != newest]
    after = contents(redis)
    assert changed(before, after) == {keys.DEAD, keys.COUNTS, keys.AUDIT, keys.AUDIT_INDEX, b"emails"}
    assert redis.llen("emails") == 1
    assert redis.zcard(keys.DEAD) == 3

    again = dead_letters(redis).redrive_entries(refs[::order], by=BOB, operation="op1")
    assert again == outcome
    assert contents(redis) == after


def sorted_newest_first(redis: redis_py.Redis, refs: list[EntryRef]) -> list[EntryRef]:
    """In the order of the list."""
    by_digest = {ref.digest: ref for ref in refs}
    return [by_digest[entry.digest] for entry in dead_letters(redis).page()]


def test_jobs_do_not_affect_one_another(redis: redis_py.Redis) -> None:
    first = deaths(redis, *["a" * 32] * 3)
    second = deaths(redis, *["b" * 32] * 2, score=DIED + 100)
    without = Entry(letter(0, jid=None), DIED)
    other_without = Entry(letter(0, jid=None, retries=2), DIED)
    dead_letters(redis).add(DIED, [without.raw, other_without.raw])
    refs = [first[2], second[1], without.ref, first[0], second[0], other_without.ref, first[1]]
    outcome = dead_letters(redis).redrive_entries(refs, operation="op1")
    assert outcome.done == (without.ref, first[0], second[0], other_without.ref)
    assert outcome.refused == same_job(first[2], second[1], first[1])
    assert redis.llen("emails") == 4


@pytest.mark.parametrize("jid", SPELLINGS)
def test_the_retry_lock_goes_however_the_jid_is_spelled(redis: redis_py.Redis, jid: str) -> None:
    """Its name holds the jid as a worker writes it: left behind, a failing redrive would get no proper retry."""
    (ref,), lock = deaths(redis, jid), keys.retry_lock(str(UUID).encode())
    redis.set(lock, "retrying")
    assert dead_letters(redis).redrive_entries([ref]).done == (ref,)
    assert not redis.exists(lock)


def test_spellings_that_a_worker_does_not_take_are_refused_each_for_themselves(redis: redis_py.Redis) -> None:
    refs = deaths(redis, f"{{{UUID}}}", f"URN:UUID:{UUID}", "no uuid", str(UUID))
    outcome = dead_letters(redis).redrive_entries(refs, operation="op1")
    assert outcome.done == (refs[3],)
    assert [refused.reason for refused in outcome.refused] == [Refusal.JID_NOT_UUID] * 3


def test_the_newest_is_gone_and_no_other_is_sent_in_its_place(redis: redis_py.Redis) -> None:
    refs = deaths(redis, *[str(UUID)] * 3)
    queue = dead_letters(redis)
    queue.purge_entries(refs[:1], by=BOB, operation="bobs")
    before = contents(redis)
    outcome = queue.redrive_entries(refs, operation="op1")
    assert outcome == Outcome(conflicts=(refs[0],), refused=same_job(*refs[1:]))
    assert contents(redis) == before
    assert queue.redrive_entries(refs, operation="op1") == outcome


def test_the_newest_is_taken_between_look_up_and_script(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    refs = deaths(redis, *[str(UUID)] * 3)
    queue = dead_letters(redis)
    before_the_script(monkeypatch, lambda: dead_letters(redis).redrive_entries(refs[:1], by=BOB, operation="bobs"))
    outcome = queue.redrive_entries(refs, operation="op1")
    assert outcome == Outcome(conflicts=(refs[0],), refused=same_job(*refs[1:]))
    assert redis.llen("emails") == 1
    assert redis.zcard(keys.DEAD) == 2


PLACEHOLDER = letter(str(UUID), death=500).replace(
    b'"retries":0,"max_retries":3,"expires":5,', b'"original_job_data":"",'
)
BAD = letter(str(UUID), death=500, retries="3")


@pytest.mark.parametrize(
    ("raw", "reason"), [(PLACEHOLDER, Refusal.PLACEHOLDER), (BAD, Refusal.BAD_FIELD)], ids=["placeholder", "bad field"]
)
def test_the_newest_may_not_be_sent_so_the_next_is_tried(redis: redis_py.Redis, raw: bytes, reason: Refusal) -> None:
    refs, queue = deaths(redis, *[str(UUID)] * 2), dead_letters(redis)
    queue.add(DIED + 10, [raw])
    newest = queue.page()[0].ref
    outcome = queue.redrive_entries([newest, *refs], operation="op1")
    assert outcome.done == (refs[0],)
    assert [(refused.what, refused.reason) for refused in outcome.refused] == [
        (newest, reason), (refs[1], Refusal.SAME_JOB)
    ]  # fmt: skip
    after = contents(redis)
    assert queue.redrive_entries([newest, *refs], operation="op1") == outcome
    assert contents(redis) == after


def test_the_newest_is_refused_by_redis_and_no_other_is_tried(redis: redis_py.Redis) -> None:
    queue = dead_letters(redis)
    queue.add(DIED, [letter(str(UUID), "locked", death=2)])
    queue.add(DIED - 1, [letter(str(UUID), "free", death=1)])
    redis.set("locked", "no list")
    before = contents(redis)
    outcome = queue.redrive_entries([entry.ref for entry in queue.page()], operation="op1")
    assert [refused.reason for refused in outcome.refused] == [Refusal.NOT_A_LIST, Refusal.SAME_JOB]
    assert outcome.refused[0].detail == "string"
    assert contents(redis) == before


def test_a_second_press_sends_no_other_death_even_if_the_same_bytes_came_back(redis: redis_py.Redis) -> None:
    """What this operation sent is back in the set with the very same bytes, below a death that was not sent."""
    refs, queue = deaths(redis, *[str(UUID)] * 2), dead_letters(redis)
    raws = [entry.raw for entry in queue.page()]
    redis.zrem(keys.DEAD, raws[0])
    assert queue.redrive_entries([refs[1]], operation="op1").done
    for ref, raw in zip(refs, raws, strict=True):
        queue.add(ref.score, [raw])
    after = contents(redis)
    outcome = queue.redrive_entries(refs, operation="op1")
    assert outcome == Outcome(done=(refs[1],), refused=same_job(refs[0]))
    assert contents(redis) == after


def test_by_jid_two_spellings_of_one_job_are_one_push_at_every_press(redis: redis_py.Redis) -> None:
    deaths(redis, SPELLINGS[0], SPELLINGS[1], SPELLINGS[2])
    queue = dead_letters(redis)
    outcome = queue.redrive([SPELLINGS[1], SPELLINGS[0]], operation="op1")
    assert outcome == Outcome(done=(SPELLINGS[0],), refused=same_job(SPELLINGS[1]))
    after = contents(redis)
    for _ in range(2):
        assert queue.redrive([SPELLINGS[1], SPELLINGS[0]], operation="op1") == outcome
        assert contents(redis) == after


def test_a_jid_given_twice_counts_once(redis: redis_py.Redis) -> None:
    deaths(redis, *[str(UUID)] * 3)
    assert told(dead_letters(redis).redrive([str(UUID), str(UUID)])) == {"done": [str(UUID)]}
    assert redis.llen("emails") == 1


def test_the_other_deaths_can_be_purged_together(redis: redis_py.Redis) -> None:
    refs, queue = deaths(redis, *[str(UUID)] * 4), dead_letters(redis)
    queue.redrive_entries(refs, operation="op1")
    assert told(queue.purge_entries(refs, operation="op2")) == {"conflicts": refs[:1], "done": refs[1:]}
    assert redis.zcard(keys.DEAD) == 0
    assert told(queue.purge_entries(refs, operation="op2")) == {"missing": refs[:1], "done": refs[1:]}
