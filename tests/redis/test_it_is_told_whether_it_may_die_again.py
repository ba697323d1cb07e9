"""Before a redrive: what bears on whether the job dies again, each with the key that says so, and nothing more."""

import time
from datetime import UTC, datetime

import pytest
import redis as redis_py

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import Entry
from joobq_admin.joobq.queues import Workers
from joobq_admin.triage.lately import Lately
from joobq_admin.triage.preflight import Fact, Outlook, Sign, outlook, preflight
from joobq_admin.triage.redact import Redaction
from tests.support.database import changed, contents
from tests.support.letters import jid, letter
from tests.support.operators import ANN, BOB, dead_letters
from tests.support.servers import Server
from tests.support.trips import sends
from tests.support.users import user

REDACTION = Redaction()
AFAR = int((time.time() + 86_400) * 1000)
ONE = letter(1, expires=AFAR)


def now() -> int:
    return int(time.time() * 1000)


def told(redis: redis_py.Redis, raw: bytes = ONE, all_here: bool = True) -> Outlook:
    queue = dead_letters(redis)
    entry = Entry(raw, redis.zscore(keys.DEAD, raw) or 0)
    here = queue.find_all(entry.jid) if entry.jid else [entry]
    records = queue.audit.of_jid(entry.jid) if queue.audit and entry.jid else []
    before = contents(redis)
    found = outlook(
        queue,
        entry,
        preflight(queue, entry, records),
        here,
        records,
        Lately(queue, REDACTION),
        REDACTION,
        all_here,
    )
    assert not changed(before, contents(redis))
    return found


@pytest.fixture
def dead(redis: redis_py.Redis) -> redis_py.Redis:
    """ONE died a while ago; its queue's workers have run jobs before."""
    redis.zadd(keys.DEAD, {ONE: now() - 3_000_000})
    redis.hset(keys.PROCESSED, "emails", 35)
    return redis


def test_nothing_speaks_against_it(dead: redis_py.Redis) -> None:
    found = told(dead)
    assert found.facts == ()
    assert found.workers is not None
    assert (found.workers.waiting, found.workers.processing, found.workers.processed) == (0, 0, 35)
    assert found.job is not None
    assert found.job.whole


def test_a_copy_that_is_alive(dead: redis_py.Redis) -> None:
    copy = letter(1, retries=3)
    dead.rpush("emails", copy, letter(2))
    dead.lpush("joobq:processing:emails", copy)
    dead.zadd("joobq:delayed_jobs", {copy: 1_895_955_390_000})
    assert told(dead).facts == (
        Fact(Sign.WAITING, "emails", count=2),
        Fact(Sign.PROCESSING, "joobq:processing:emails"),
        Fact(Sign.DELAYED, "joobq:delayed_jobs", at=datetime.fromtimestamp(1_895_955_390, UTC)),
    )


def test_the_fourth_death_and_who_redrove(dead: redis_py.Redis) -> None:
    queue = dead_letters(dead)
    for death, by in ((1, ANN), (2, BOB), (3, ANN)):
        raw = letter(1, death=death, expires=AFAR)
        dead.zadd(keys.DEAD, {raw: now() - 2_000_000})
        assert queue.redrive_reviewed(jid(1), Entry(raw, 0).digest, by=by).done
    dead.delete("emails")
    (deaths,) = told(dead).facts
    assert deaths == Fact(
        Sign.DEATHS, "joobq:dead_letter, joobq:admin:audit", count=4, names=(ANN.name, BOB.name), whole=True
    )
    assert told(dead, all_here=False).facts[0].whole is False


def test_deaths_that_are_all_here(dead: redis_py.Redis) -> None:
    dead.zadd(keys.DEAD, {letter(1, death=n): now() - 2_000_000 for n in range(1, 3)})
    assert told(dead).facts == (Fact(Sign.DEATHS, "joobq:dead_letter", count=3),)


def test_others_still_die_of_it(dead: redis_py.Redis) -> None:
    dead.zadd(keys.DEAD, {ONE: now() - 1_000})
    assert told(dead).facts == (), "it is the only one"
    dead.zadd(keys.DEAD, {letter(n): now() - 60_000 for n in range(2, 5)})
    arriving = told(dead).of(Sign.ARRIVING)
    assert arriving is not None
    assert (arriving.source, arriving.count, arriving.whole) == ("joobq:dead_letter", 3, True)


def test_others_of_its_queue_died_of_it_since_it_was_redriven(dead: redis_py.Redis) -> None:
    before = letter(1, death=1, expires=AFAR)
    dead.zadd(keys.DEAD, {before: now() - 1_000_000})
    assert dead_letters(dead).redrive_reviewed(jid(1), Entry(before, 0).digest, by=ANN).done
    dead.delete("emails")
    later = {letter(n): now() + n for n in range(2, 5)} | {letter(5, queue="other"): now() + 5, ONE: now() + 6}
    dead.zadd(keys.DEAD, {letter(6): now() - 60_000} | later)
    since = told(dead).of(Sign.SINCE)
    assert since is not None
    assert (since.source, since.count, since.whole) == ("joobq:dead_letter", 3, True)


def test_it_takes_one_round_trip(dead: redis_py.Redis) -> None:
    queue, entry, lately = dead_letters(dead), Entry(ONE, now()), Lately(dead_letters(dead), REDACTION)
    for _ in ("the first", "one that need not look at what died lately"):
        with sends(dead) as count:
            outlook(queue, entry, preflight(queue, entry, ()), [entry], (), lately, REDACTION)
            assert count() == 1


@pytest.mark.parametrize(
    ("waiting", "processing", "processed", "seen"),
    [(0, 0, 35, True), (3, 2, 35, True), (3, 0, 35, False), (0, 0, 0, False), (3, 0, 0, False), (0, 1, 0, True),
     (None, 0, None, True), (3, None, 35, True), (0, 0, None, True)],
)  # fmt: skip
def test_signs_of_a_worker(waiting: int | None, processing: int | None, processed: int | None, seen: bool) -> None:
    assert Workers(datetime.now(UTC), waiting, processing, processed).seen == seen


def test_a_queue_without_a_sign_of_a_worker(dead: redis_py.Redis) -> None:
    dead.rpush("emails", letter(2), letter(3))
    (fact,) = told(dead).facts
    assert fact == Fact(Sign.NO_WORKER, "emails, joobq:processing:emails", count=2)
    dead.lpush("joobq:processing:emails", letter(4))
    assert told(dead).facts == ()


def test_what_cannot_be_read_is_not_told(dead: redis_py.Redis) -> None:
    for key in ("emails", "joobq:processing:emails", "joobq:stats:processed"):
        dead.delete(key)
        dead.set(key, "x")
    found = told(dead)
    assert found.facts == ()
    assert found.workers is not None
    assert (found.workers.waiting, found.workers.processing, found.workers.processed) == (None, None, None)


def test_who_may_not_read_queues_is_told_the_rest(server: Server) -> None:
    server.client.zadd(keys.DEAD, {ONE: now() - 1_000, letter(2): now() - 2_000})
    few = "evalsha_ro eval_ro time zcard zcount zrevrange zrange zscore multi exec xrevrange type"
    reader = user(server, "%R~joobq:dead_letter*", few)
    queue, entry = dead_letters(reader), Entry(ONE, 1)
    found = outlook(queue, entry, preflight(queue, entry, ()), [entry], (), Lately(queue, REDACTION), REDACTION)
    assert [fact.sign for fact in found.facts] == [Sign.ARRIVING]
    assert found.job is None


def test_what_cannot_be_redriven_is_not_looked_for(redis: redis_py.Redis) -> None:
    raw = b'{"jid":"x","original_job_data":"","queue":"emails"}'
    redis.zadd(keys.DEAD, {raw: now() - 3_000_000})
    found = told(redis, raw)
    assert (found.facts, found.job, found.workers) == ((), None, None)
