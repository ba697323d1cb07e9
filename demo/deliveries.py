"""Two pretend delivery ledgers: requests come in, workers claim and settle them, some try again, some die."""

import json
from contextlib import suppress
from datetime import timedelta
from random import Random
from threading import Event, Thread

import redis

from demo.jobs import KINDS, OF_QUEUE
from joobq_admin.joobq.delivery import Claim, Ledger, State

FILLED = "joobq-admin:demo:deliveries"
DEAD = "joobq:dead_letter"
INVOICES, WEBHOOKS = ("billing", "invoices"), ("shop", "webhooks")
RECEIPTS = 240
ARRIVAL = 3.0  # seconds from one request to the next, on average
LEASE = timedelta(seconds=20)


def fill(client: redis.Redis) -> None:
    """Once: a day's receipts, what waits, a request that died with its job, a record of which a byte has changed."""
    if not client.set(FILLED, "1", nx=True):
        return
    chance = Random(7)
    for name in (INVOICES, WEBHOOKS):
        ledger = Ledger(client, *name)
        ledger.admit_many(request(chance, name, n) for n in range(RECEIPTS))
        while claims := ledger.claim_many(worker(name, chance), 60):
            ledger.settle_many((claim, State.DEAD if chance.random() < 0.04 else State.COMPLETED) for claim in claims)
        for n, minutes in enumerate((1, 4, 15, 60, 240)):
            ledger.admit(*request(chance, name, RECEIPTS + n), timedelta(minutes=minutes))
    died_with_its_job(client)
    damaged(client)


def died_with_its_job(client: redis.Redis) -> None:
    """Its id is the jid of a dead letter."""
    for raw in client.zrange(DEAD, 0, 200, desc=True):
        with suppress(ValueError, TypeError, KeyError):
            job = json.loads(raw)
            if job["queue"] == INVOICES[1]:
                ledger = Ledger(client, *INVOICES)
                ledger.admit(job["jid"], raw)
                for claim in ledger.claim_many("invoices-worker-2"):
                    ledger.settle(claim, State.DEAD)
                return


def damaged(client: redis.Redis) -> None:
    ledger = Ledger(client, *INVOICES)
    ledger.admit("inv-88190", b'{"invoice_id":88190,"amount":22.1,"iban":"DE02120300000000202051"}')
    client.hset(
        ledger.payloads_key, "inv-88190", b'{"invoice_id":88190,"amount":\x00\x00.1,"iban":"DE02120300000000202051"}'
    )
    ledger.claim("invoices-worker-0")


def request(chance: Random, name: tuple[str, str], n: int) -> tuple[str, bytes]:
    """A request id and its payload."""
    kind = OF_QUEUE.get(name[1], KINDS[0])
    prefix = "inv" if name == INVOICES else "order"
    body = {"event": "created", "number": n, **kind.arguments(chance)}
    return f"{prefix}-{10_000 + n}", json.dumps(body, ensure_ascii=False).encode()


def worker(name: tuple[str, str], chance: Random) -> str:
    return f"{name[1]}-worker-{chance.randint(0, 3)}"


class Couriers:
    """For each ledger one who brings requests, and two who do the work."""

    def __init__(self, client: redis.Redis, chance: Random) -> None:
        self.client, self.chance, self.over = client, chance, Event()
        self.threads = [Thread(target=run, args=(name,)) for name in (INVOICES, WEBHOOKS)
                        for run in (self.bring, self.serve, self.serve)]  # fmt: skip

    def start(self) -> None:
        for thread in self.threads:
            thread.daemon = True
            thread.start()

    def stop(self) -> None:
        self.over.set()
        for thread in self.threads:
            thread.join()

    def bring(self, name: tuple[str, str]) -> None:
        ledger = Ledger(self.client, *name)
        while not self.over.wait(self.chance.expovariate(1 / ARRIVAL)):
            delay = timedelta(seconds=self.chance.choice([0, 0, 0, 30, 90]))
            with suppress(redis.RedisError):  # as in serve
                ledger.admit(*request(self.chance, name, self.chance.randrange(10**6, 10**7)), delay)

    def serve(self, name: tuple[str, str]) -> None:
        ledger, owner = Ledger(self.client, *name), worker(name, self.chance)
        while not self.over.wait(self.chance.uniform(0.5, 2.0)):
            with suppress(redis.RedisError):  # a worker tries again, whatever Redis says
                if claim := ledger.claim(owner, LEASE):
                    self.work(ledger, claim)

    def work(self, ledger: Ledger, claim: Claim) -> None:
        self.over.wait(self.chance.uniform(0.5, 6.0))
        match self.chance.randrange(20):
            case 0:
                return  # it crashed: the lease runs out
            case 1 | 2:
                ledger.settle(claim, State.READY, timedelta(seconds=45))
            case 3 if claim.attempt > 1:
                ledger.settle(claim, State.DEAD)
            case _:
                ledger.settle(claim)
