"""A day of dead letters, the same for the same moment and seed: about 1,200 by all five code paths of JoobQ."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from uuid import UUID

from demo.deaths import NO_TIME, Job, Letter, Writer, reaped, text
from demo.jobs import HOUR, INVOICES, KINDS, WEBHOOKS, Kind, connection_refused, pick

MINUTE, SECOND = 60_000, 1000
REAL = Path(__file__).parents[1] / "tests/data/real_dead_letters.ndjson"


def real() -> list[Letter]:
    """The 76 that real workers wrote, exactly."""
    lines = map(json.loads, REAL.read_text().splitlines())
    return [Letter(int(line["score"]), base64.b64decode(line["member_b64"])) for line in lines]


def day(now: int, seed: int = 7) -> list[Letter]:
    """What died in the 24 hours before `now` (unix ms)."""
    return list(Day(now, Random(seed)).letters())


class Day:
    def __init__(self, now: int, chance: Random) -> None:
        self.now, self.chance = now, chance
        self.writers = {kind.queue: [Writer(kind.queue, chance) for _ in range(3)] for kind in KINDS}

    def letters(self) -> Iterator[Letter]:
        yield from self.incident(320)
        for _ in range(400):
            yield self.ordinary()
        for _ in range(42):
            yield from self.loop()
        for _ in range(150):
            yield self.beyond_retrying()
        for _ in range(55):
            yield self.too_late()
        for _ in range(7):
            yield from self.sweep()
        yield from self.no_jobs()
        yield from self.strangers()

    def writer(self, kind: Kind) -> Writer:
        return self.chance.choice(self.writers[kind.queue])

    def some_time(self) -> int:
        """More often lately than long ago."""
        return self.now - int(24 * HOUR * self.chance.random() ** 2) - SECOND

    def job(self, kind: Kind, died: int) -> Job:
        return kind.job(self.chance, died - self.chance.randint(2 * SECOND, 20 * MINUTE))

    def incident(self, deaths: int) -> Iterator[Letter]:
        """The gateway refuses connections for 52 minutes now; a job in five dies of it three times within seconds."""
        while deaths > 0:
            at = self.now - int(52 * MINUTE * self.chance.random() ** 1.3) - SECOND
            job, writer = self.job(INVOICES, at), self.writer(INVOICES)
            times = min(deaths, self.chance.choice([1, 1, 1, 1, 3]))
            for n in range(times):
                yield writer.retries_used_up(job, connection_refused(), at - n * 1013)
            deaths -= times

    def ordinary(self) -> Letter:
        kind, at = pick(self.chance), self.some_time()
        job = self.job(kind, at)
        return self.writer(kind).retries_used_up(job, kind.failure(self.chance, job), at)

    def loop(self) -> Iterator[Letter]:
        """A dead job that JoobQ runs again each second: every run adds an entry that differs in its times only."""
        kind, at = pick(self.chance), self.some_time()
        job, writer = self.job(kind, at), self.writer(kind)
        failure = kind.failure(self.chance, job)
        for n in range(self.chance.randint(2, 6)):
            yield writer.retries_used_up(job, failure, at - n * 1009)

    def beyond_retrying(self) -> Letter:
        while True:
            kind, at = pick(self.chance), self.some_time()
            job = self.job(kind, at)
            failure = kind.failure(self.chance, job)
            if failure.is_never_retried:
                return self.writer(kind).error_handler(job, failure, at)

    def too_late(self) -> Letter:
        """A worker took it when its time was over."""
        kind, at = self.chance.choice([WEBHOOKS, pick(self.chance)]), self.some_time()
        job = kind.job(self.chance, at - kind.lifetime - self.chance.randint(SECOND, 20 * MINUTE))
        return self.writer(kind).timed_out(job, at)

    def sweep(self) -> Iterator[Letter]:
        """The reaper finds a few expired jobs in one go. Some had failed before, and that error is still in them."""
        kind, at = pick(self.chance), self.some_time()
        for _ in range(self.chance.randint(5, 11)):
            job = kind.job(self.chance, at - kind.lifetime - self.chance.randint(SECOND, 30 * SECOND))
            if self.chance.random() < 0.3:
                earlier = self.writer(kind).error(job, kind.failure(self.chance, job), at - 5 * MINUTE)
                job = {**job, "retries": max(0, job["retries"] - 1), "status": "Enqueued", "error": earlier}
            yield reaped(text(job), at)

    def no_jobs(self) -> Iterator[Letter]:
        """What producers wrote by hand, and no worker could parse."""
        jid = str(UUID(int=self.chance.getrandbits(128), version=4)).encode()
        for raw in [
            b'{"jid":"' + jid + b'","queue":"invoices","invoice_id":"12,5"}',
            b'{"queue":"emails","to":"a@example.com"',
            b'"just a string"',
            b"to=bob&subject=hi",
            b'{"jid":"nightly-7","queue":"reports","retries":"3"}',
            b'{"jid":"' + jid + b'","queue":"emails","to":"x\xff\xfe","retries":3.0}',
            b'{"jid":"' + jid + b'","queue":"emails","body":"' + "Grüße, wie besprochen. ".encode() * 70,
        ]:
            for kind in self.chance.sample(KINDS, 2):
                yield self.writer(kind).unparseable(raw, kind.queue, self.some_time())

    def strangers(self) -> Iterator[Letter]:
        """What is in the set of a system that has lived for a while."""
        for raw in (b"not json", b"[1, 2, 3]", b'{"jid":"5f0c', b'{"jid":"z","expires":5}', b"\xff\xfe\x00"):
            yield Letter(self.some_time(), raw)
        latin = self.job(KINDS[2], self.some_time())
        latin["to"] = b"m\xfcller@example.com".decode("utf-8", "surrogateescape")
        yield self.writer(KINDS[2]).retries_used_up(latin, KINDS[2].failure(self.chance, latin), self.some_time())
        old = self.job(KINDS[3], self.now)
        yield Letter(NO_TIME, text({**old, "queue": "retired-queue", "status": "dead", "retries": 0}))
        big = {**self.job(KINDS[4], self.now), "payload": {"log": "row 7: stock is negative\n" * 800}}
        yield self.writer(KINDS[4]).retries_used_up(big, KINDS[4].failure(self.chance, big), self.some_time())
