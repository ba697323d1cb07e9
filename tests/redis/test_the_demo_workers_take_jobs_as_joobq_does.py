"""What is redriven in the demo runs: from the right end of its queue, through processing, and some jobs die again."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
import redis as redis_py

from demo.deaths import NO_TIME, read, text
from demo.jobs import KINDS, OF_QUEUE
from demo.worker import DEAD, FILLED, Workers, fill, now_ms
from tests.support.eventually import eventually
from tests.support.servers import Server

EMAILS = OF_QUEUE["emails"]
HURRY = 0.01  # of the time that such things take


class Hurried(Random):
    """Chance as it is, but for how long things take and who dies."""

    def __init__(self, dies: bool) -> None:
        super().__init__(3)
        self.dies = dies

    def uniform(self, a: float, b: float) -> float:
        return super().uniform(a, b) * HURRY

    def expovariate(self, lambd: float = 1.0) -> float:
        return 3600.0  # nobody enqueues

    def randrange(self, *bounds: Any) -> int:
        return 0 if self.dies else 1


@pytest.fixture
def start(valkey: Server) -> Iterator[Any]:
    started: list[Workers] = []

    def start(dies: bool) -> Workers:
        started.append(Workers(valkey.client, Hurried(dies)))
        started[-1].start()
        return started[-1]

    yield start
    for workers in started:
        workers.stop()


@pytest.fixture
def redis(valkey: Server) -> redis_py.Redis:
    return valkey.client


def an_email(**changed: Any) -> bytes:
    job = EMAILS.job(Random(), now_ms())
    return text({**job, **changed})


def with_usual_queue(redis: redis_py.Redis) -> list[bytes]:
    usual = [an_email() for _ in range(EMAILS.waiting)]
    redis.rpush("emails", *usual)
    return usual


def test_the_one_at_the_front_runs_and_those_at_the_back_wait(redis: redis_py.Redis, start: Any) -> None:
    usual = with_usual_queue(redis)
    redis.rpush("emails", an_email(), an_email())
    start(dies=False)
    eventually(lambda: redis.llen("emails") == EMAILS.waiting and not redis.exists("joobq:processing:emails"))
    assert redis.lrange("emails", 0, -1) == usual
    assert redis.keys() == [b"emails"]


def test_a_job_that_fails_dies_with_its_bytes_but_for_what_the_failure_wrote(redis: redis_py.Redis, start: Any) -> None:
    with_usual_queue(redis)
    raw = an_email(subject="Größe\x7f", to="m\udcfcller@example.com")
    redis.rpush("emails", raw)
    before = now_ms()
    start(dies=True)
    eventually(lambda: redis.zcard(DEAD) == 1 and not redis.exists("joobq:processing:emails"))
    [(member, score)] = redis.zrange(DEAD, 0, -1, withscores=True)
    was, dead = read(raw), read(member)
    assert dead["error"]["message"]
    assert dead["status"] == "dead"
    assert score == NO_TIME if dead["retries"] else before <= score <= now_ms()
    assert text({**dead, "status": "enqueued", "error": None, "retries": 3}) == raw
    assert list(dead) == list(was)


def test_a_job_whose_time_is_over_never_runs(redis: redis_py.Redis, start: Any) -> None:
    with_usual_queue(redis)
    redis.rpush("emails", an_email(expires=now_ms() - 1))
    start(dies=False)
    eventually(lambda: redis.zcard(DEAD) == 1)
    [(member, score)] = redis.zrange(DEAD, 0, -1, withscores=True)
    assert (score, read(member)["status"]) == (NO_TIME, "retrying")
    assert read(member)["error"]["message"] == "Job expired after timeout"


def test_what_no_worker_could_parse_becomes_a_placeholder(redis: redis_py.Redis, start: Any) -> None:
    with_usual_queue(redis)
    redis.rpush("emails", b'{"jid":"x","retries":', an_email(retries="3"))
    start(dies=False)
    eventually(lambda: redis.zcard(DEAD) == 2)
    assert {read(member)["status"] for member in redis.zrange(DEAD, 0, -1)} == {"Dead"}


def test_a_job_whose_jid_is_no_uuid_is_lost(redis: redis_py.Redis, start: Any) -> None:
    with_usual_queue(redis)
    redis.rpush("emails", an_email(jid="nightly-7"))
    start(dies=True)
    eventually(lambda: redis.llen("emails") == EMAILS.waiting and not redis.exists("joobq:processing:emails"))
    assert redis.keys() == [b"emails"]


def test_a_queue_of_another_type_stops_nobody(redis: redis_py.Redis, start: Any) -> None:
    redis.set("emails", "not a list")
    redis.rpush("payouts", text(OF_QUEUE["payouts"].job(Random(), now_ms())))
    start(dies=False)
    eventually(lambda: not redis.exists("payouts", "joobq:processing:payouts"))


def test_all_that_is_filled_in_is_filled_in_once(redis: redis_py.Redis) -> None:
    fill(redis)
    there = redis.zcard(DEAD)
    assert 1200 < there < 1400
    assert {kind.queue: redis.llen(kind.queue) for kind in KINDS} == {kind.queue: kind.waiting for kind in KINDS}
    redis.zremrangebyrank(DEAD, 0, 99)
    fill(redis)
    assert redis.zcard(DEAD) == there - 100
    assert not redis.exists("joobq:dead_letter:counts")
    assert redis.exists(FILLED)
