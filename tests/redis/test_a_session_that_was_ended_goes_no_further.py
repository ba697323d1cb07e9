"""Whether a session was ended is asked with its first round trip; one that was reads and changes nothing more."""

from collections.abc import Callable
from datetime import timedelta

import pytest
import redis as redis_py

from joobq_admin.joobq import conditions, keys, scripts, sessions
from joobq_admin.joobq.entry import EntryRef
from joobq_admin.joobq.outcome import Unreachable
from joobq_admin.joobq.sessions import SessionOver
from tests.support.database import changed, contents
from tests.support.letters import DIED, digest, jid, letter
from tests.support.operators import ANN, at_once, dead_letters
from tests.support.servers import Server
from tests.support.trips import sends

HOURS = timedelta(hours=8)
IDS = ("browser", "issuer's session", "person")
REF = EntryRef(DIED, digest(letter(1)), jid(1))


def is_over(redis: redis_py.Redis, began: int = 1000) -> bool:
    try:
        with conditions.first(sessions.still_on(IDS, began)):
            assert scripts.read(redis, [("ZCARD", keys.DEAD)]) == [0]
    except SessionOver:
        return True
    return False


@pytest.mark.parametrize("id_", IDS)
def test_it_is_over_by_any_of_its_ids(redis: redis_py.Redis, id_: str) -> None:
    sessions.end(redis, "another", HOURS)
    assert not is_over(redis)
    sessions.end(redis, id_, HOURS)
    assert is_over(redis)


@pytest.mark.parametrize(("began", "over"), [(999, True), (1000, True), (1001, False)])
def test_only_those_that_had_begun_are(redis: redis_py.Redis, began: int, over: bool) -> None:
    sessions.end(redis, "person", HOURS, until=1000)
    assert is_over(redis, began) == over


def test_a_logout_that_is_told_late_ends_no_less(redis: redis_py.Redis) -> None:
    sessions.end(redis, "person", HOURS, until=1000)
    sessions.end(redis, "person", HOURS, until=900)
    assert is_over(redis, began=950)


def test_it_is_kept_until_none_of_them_can_be_left(redis: redis_py.Redis) -> None:
    sessions.end(redis, "person", HOURS)
    assert 8 * 3600 < redis.ttl("joobq:admin:revoked:person") <= 8 * 3600 + 60


def test_it_costs_no_round_trip(redis: redis_py.Redis) -> None:
    with sends(redis) as trips, conditions.first(sessions.still_on(IDS, 0)):
        assert scripts.read(redis, [("ZCARD", keys.DEAD), ("GET", "x")]) == [0, None]
        assert scripts.read(redis, [("GET", "x")]) == [None]
        assert trips() == 2


def test_a_press_by_an_ended_session_changes_nothing(redis: redis_py.Redis) -> None:
    queue = dead_letters(redis)
    queue.add(DIED, [letter(1)])
    sessions.end(redis, "browser", HOURS)
    before = contents(redis)
    presses: list[Callable[[], object]] = [
        lambda: queue.redrive_entries([REF], by=ANN),
        lambda: queue.purge_entries([REF], by=ANN),
        lambda: queue.purge_all(by=ANN),
        lambda: queue.restore([REF.digest], by=ANN),
        lambda: queue.add(DIED, [letter(2)]),
        lambda: scripts.run(redis, ("SET", "x", "1")),
    ]
    for press in presses:
        with pytest.raises(SessionOver), conditions.first(sessions.still_on(IDS, 0)):
            press()
    assert changed(before, contents(redis)) == set()


def test_what_got_no_answer_is_asked_again_before_anything_is_sent(server: Server) -> None:
    sessions.end(server.client, "browser", HOURS)
    nowhere = redis_py.Redis(port=1)
    with conditions.first(sessions.still_on(IDS, 0)) as condition:
        with pytest.raises(Unreachable):
            scripts.read(nowhere, [("GET", "x")])
        assert (condition.tried, condition.asked) == (True, False)
        with pytest.raises(SessionOver):
            scripts.send(server.client, [("SET", "x", "1")])
    assert not server.client.exists("x")


def test_other_threads_have_nothing_to_do_with_it(redis: redis_py.Redis) -> None:
    sessions.end(redis, "browser", HOURS)
    with conditions.first(sessions.still_on(IDS, 0)):
        assert at_once(lambda: scripts.read(redis, [("ZCARD", keys.DEAD)])) == [[0]]
    assert scripts.read(redis, [("ZCARD", keys.DEAD)]) == [0]
