"""A list is read in one round trip; it must show what a walk and the counts, read one after the other, show."""

import pytest
from redis import Redis

from joobq_admin.joobq import keys
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.filters import Span
from joobq_admin.joobq.lookup import Cursor
from joobq_admin.joobq.overview import Wanted
from tests.support.letters import DIED, jid, letter, real_letters
from tests.support.operators import ANN, dead_letters
from tests.support.trips import sends

QUEUES = [None, "", "emails", "strict", "unicode:müller", "nobody's"]


@pytest.mark.parametrize("queue", QUEUES)
@pytest.mark.parametrize("newer", [False, True])
@pytest.mark.parametrize("cursor", [None, Cursor(604_800), Cursor(1_795_955_400_000)])
def test_the_same(redis: Redis, queue: str | None, newer: bool, cursor: Cursor | None) -> None:
    dead = DeadLetterQueue(redis)
    for real in real_letters():
        redis.zadd(keys.DEAD, {real.raw: float(real.score)})
    dead.recount()
    counts, page, dated, *_ = dead.overview(cursor, 10, queue, newer)
    assert page == dead.walk(cursor, 10, queue=queue, newer=newer)
    assert counts == dead.counts()
    assert dated == sum(float(real.score) > 10**12 for real in real_letters())


def test_one_round_trip(redis: Redis) -> None:
    dead = DeadLetterQueue(redis)
    for real in real_letters():
        redis.zadd(keys.DEAD, {real.raw: float(real.score)})
    dead.recount()
    dead.overview()
    with sends(redis) as count:
        dead.overview()
    assert count() == 1


def test_whatever_else_is_asked_comes_with_it(redis: Redis) -> None:
    dead = dead_letters(redis)
    dead.add(DIED, [letter(n) for n in range(3)])
    dead.add(DIED + 1, [letter(n, death=1) for n in range(3)])
    dead.overview()
    late = Wanted(lambda entry: entry.jid != jid(1), Span(since=DIED + 1))
    with sends(redis) as count:
        found = dead.overview(wanted=late, beside=[("ZCARD", keys.DEAD), ("ZCOUNT", keys.DEAD, DIED, DIED)])
    assert count() == 1
    assert [entry.jid for entry in found.page.entries] == [jid(2), jid(0)]
    assert (found.counts.total, found.beside, found.binned) == (6, [6, 3], 0)


def test_the_number_of_the_bin_comes_with_it(redis: Redis) -> None:
    dead = dead_letters(redis)
    dead.add(DIED, [letter(n) for n in range(3)])
    assert dead.purge([jid(1), jid(2)], by=ANN).done
    dead.numbers()
    with sends(redis) as count:
        assert dead.overview().binned == dead.numbers().binned == 2
    assert count() == 2
    assert DeadLetterQueue(redis).overview().binned is None


def test_a_bin_that_may_not_be_read_hides_nothing_else(redis: Redis) -> None:
    redis.set(keys.BIN_TIMES, "no bin")
    dead = dead_letters(redis)
    dead.add(DIED, [letter(1)])
    counts, page, _, binned, _ = dead.overview()
    assert (counts, len(page.entries), binned) == ({"emails": 1}, 1, None)
    assert dead.numbers() == ({"emails": 1}, None)
