"""A list that stands open is told how many entries are new, by two numbers of the set; a filtered one reads those."""

from datetime import UTC, datetime, timedelta

import pytest
import redis as redis_py

from joobq_admin.joobq import keys, scripts
from joobq_admin.joobq.entry import TIMES_TO
from joobq_admin.triage.news import News, Seen, newest, news, seen
from joobq_admin.triage.redact import Redaction
from joobq_admin.triage.search import Search
from tests.support.letters import DIED, NO_TIME, letter
from tests.support.operators import dead_letters
from tests.support.trips import sends

NOW = datetime.fromtimestamp(DIED / 1000, UTC) + timedelta(minutes=1)
ALL, INVOICES, UNDATED = Search(), Search(queue="invoices"), Search(undated=True)


def read(redis: redis_py.Redis) -> Seen:
    """What a list that is read now shows, by way of an address."""
    (reply,) = scripts.read(redis, [newest(NOW)])
    return Seen.parse(str(seen(reply)))


def since(redis: redis_py.Redis, was: Seen, wanted: Search = ALL) -> News:
    return news(dead_letters(redis), was, wanted, Redaction(), NOW)


def die(redis: redis_py.Redis, *numbers: int, score: float = DIED, queue: str = "emails") -> None:
    redis.zadd(keys.DEAD, {letter(n, queue): score for n in numbers})


@pytest.fixture
def was(redis: redis_py.Redis) -> Seen:
    die(redis, 1, 2)
    die(redis, 3, score=NO_TIME)
    die(redis, 4, score=TIMES_TO * 10)
    return read(redis)


def test_nothing(redis: redis_py.Redis, was: Seen) -> None:
    assert was == Seen(DIED, 4)
    assert [since(redis, was, wanted) for wanted in (ALL, INVOICES, UNDATED)] == [News(0, 4)] * 3


def test_those_that_died_since_and_those_of_which_only_the_number_tells(redis: redis_py.Redis, was: Seen) -> None:
    die(redis, 11, 12, 13, score=DIED + 5, queue="invoices")
    die(redis, 14, score=DIED + 0.5)
    assert since(redis, was) == News(4, 8)
    assert since(redis, was, INVOICES) == News(3, 8)
    assert since(redis, was, UNDATED) == News(0, 8)
    die(redis, 15, score=DIED)  # of the same millisecond as the newest that was shown
    die(redis, 16, score=NO_TIME)
    assert since(redis, was) == News(6, 10)
    assert since(redis, was, UNDATED) == News(2, 10), "all that is not newer may be without a time"
    assert since(redis, was, Search(undated=True, text="x")) == News(0, 10)


def test_what_left_hides_nothing_that_came(redis: redis_py.Redis, was: Seen) -> None:
    redis.zremrangebyscore(keys.DEAD, DIED, DIED)
    assert since(redis, was) == News(0, 2)
    die(redis, 11, score=DIED + 5)
    assert since(redis, was) == News(1, 3)


def test_a_clock_that_is_wrong_hides_nothing_that_came(redis: redis_py.Redis) -> None:
    die(redis, 1, 2)
    die(redis, 3, score=DIED + 2 * 86_400_000)
    was = read(redis)
    assert was == Seen(DIED, 3)
    redis.zremrangebyscore(keys.DEAD, DIED, DIED)
    die(redis, 11, score=DIED + 5, queue="invoices")
    assert [since(redis, was, wanted) for wanted in (ALL, INVOICES)] == [News(1, 2)] * 2
    assert since(redis, Seen(DIED + 9 * 86_400_000, 2)) == News(0, 2), "seen in another way, it is no less"


def test_of_a_set_that_was_empty(redis: redis_py.Redis) -> None:
    empty = read(redis)
    assert since(redis, empty) == News(0, 0)
    die(redis, 1)
    die(redis, 2, score=NO_TIME)
    assert since(redis, empty) == News(2, 2)
    assert since(redis, empty, Search(queue="emails")) == News(2, 2)


def test_a_filter_looks_at_200_of_what_is_new(redis: redis_py.Redis, was: Seen) -> None:
    die(redis, *range(100, 350), score=DIED + 5)
    assert since(redis, was, Search(queue="emails")) == News(200, 254, more=True)
    assert since(redis, was, INVOICES) == News(0, 254, more=True)


def test_one_round_trip_and_another_where_something_is_new(redis: redis_py.Redis, was: Seen) -> None:
    since(redis, was, INVOICES)
    with sends(redis) as count:
        since(redis, was, ALL), since(redis, was, INVOICES)
        assert count() == 2
        die(redis, 11, score=DIED + 5)
        since(redis, was, ALL), since(redis, was, INVOICES)
    assert count() == 2 + 1 + 3


@pytest.mark.parametrize("text", ["", "5", "5.", ".5", "nan.5", "x.5", "5.x", "5.-1", "5.²", "5." + "1" * 19])
def test_what_no_list_has_shown(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Seen.parse(text)
