"""Pretend JoobQ workers: they take jobs as real ones do, most end well, and some die."""

import re
from contextlib import suppress
from random import Random
from threading import Event, Thread
from time import time

import redis

from demo import letters
from demo.deaths import Letter, Writer, read, text
from demo.jobs import KINDS, OF_QUEUE, pick

DEAD = "joobq:dead_letter"
FILLED = "joobq-admin:demo:filled"
ONE_IN = 5  # jobs dies
ARRIVAL = 4.0  # seconds from one new job to the next, on average: about every 20 s one dies
A_UUID = re.compile(r"(urn:uuid:)?[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-fA-F]{32}")
OTHERS = ["default", "flaky", "reapme", "slow", "strict"]  # queues of the real dead letters


def now_ms() -> int:
    return int(time() * 1000)


def fill(client: redis.Redis) -> None:
    """Once: the day's dead letters, the real ones, and what waits on a usual day."""
    if client.exists(FILLED):
        return
    chance, now = Random(11), now_ms()
    with client.pipeline(transaction=True) as pipe:
        pipe.zadd(DEAD, {letter.raw: letter.score for letter in [*letters.day(now), *letters.real()]})
        for kind in KINDS:
            for n in range(kind.waiting):
                pipe.lpush(kind.queue, text(kind.job(chance, now - n * 60_000)))
        left_behind = KINDS[0].job(chance, now - 7_200_000)  # by a worker that crashed
        pipe.lpush(f"joobq:processing:{KINDS[0].queue}", text(left_behind))
        pipe.set(FILLED, now)
        pipe.execute()


class Workers:
    """One worker a queue, and those who enqueue jobs. They leave a usual day's jobs waiting at the back."""

    def __init__(self, client: redis.Redis, chance: Random) -> None:
        self.client, self.chance, self.over = client, chance, Event()
        runs = [Thread(target=self.serve, args=(queue,)) for queue in [*OF_QUEUE, *OTHERS]]
        self.threads = [*runs, Thread(target=self.enqueue)]

    def start(self) -> None:
        for thread in self.threads:
            thread.daemon = True
            thread.start()

    def stop(self) -> None:
        self.over.set()
        for thread in self.threads:
            thread.join()

    def enqueue(self) -> None:
        while not self.over.wait(self.chance.expovariate(1 / ARRIVAL)):
            kind = pick(self.chance)
            with suppress(redis.RedisError):  # as in serve
                self.client.rpush(kind.queue, text(kind.job(self.chance, now_ms())))

    def serve(self, queue: str) -> None:
        waiting = OF_QUEUE[queue].waiting if queue in OF_QUEUE else 0
        writer = Writer(queue, self.chance)
        while not self.over.wait(self.chance.uniform(0.5, 1.5)):
            with suppress(redis.RedisError):  # a worker tries again, whatever Redis says
                while not self.over.is_set() and self.client.llen(queue) > waiting:
                    self.take(queue, writer)

    def take(self, queue: str, writer: Writer) -> None:
        """Runs the job at the front of the queue. One that was begun is ended, also when all shall stop."""
        processing = f"joobq:processing:{queue}"
        raw = self.client.rpoplpush(queue, processing)
        if raw is None:
            return
        self.over.wait(self.chance.uniform(0.3, 2.0))
        letter = self.death(queue, raw, writer)
        with self.client.pipeline(transaction=True) as pipe:
            if letter:
                pipe.zadd(DEAD, {letter.raw: letter.score})
            pipe.lrem(processing, 1, raw)
            pipe.execute()

    def death(self, queue: str, raw: bytes, writer: Writer) -> Letter | None:
        """How the job dies. None: it ended well, or it was lost."""
        now = now_ms()
        try:
            job = read(raw)
        except ValueError:
            return writer.unparseable(raw, queue, now)
        if any(type(job.get(name)) is not int for name in ("retries", "max_retries", "expires")):
            return writer.unparseable(raw, queue, now)
        if not A_UUID.fullmatch(str(job.get("jid"))):
            return None  # a real worker logs it, and that is all
        if job["expires"] < now:
            return writer.timed_out(job, now)
        if self.chance.randrange(ONE_IN):
            return None
        failure = OF_QUEUE.get(queue, KINDS[0]).failure(self.chance, job)
        handled = failure.is_never_retried and job["retries"] > 0
        return (writer.error_handler if handled else writer.retries_used_up)(job, failure, now)
