"""What goes on beside the workers of a storm: producers, upkeep, an operator, somebody who damages what is stored."""

import random
import threading
from collections.abc import Callable
from datetime import timedelta

import redis as redis_py

from joobq_admin.joobq.delivery import Ledger
from tests.support.eventually import pause
from tests.support.ledger_trace import reviewed
from tests.support.ledgers import mend
from tests.support.operators import ANN

IDS = [f"r{n}" for n in range(1_500)]


def payload(request_id: str) -> bytes:
    """Always the same for one request; every ninth does not pass through Lua."""
    return f"payload of {request_id} ".encode() * (300 if int(request_id[1:]) % 9 == 0 else 1)


class Disturbances:
    """Runs all of them, each in a thread, until `stop`; which raises what one of them raised."""

    def __init__(self, connect: Callable[[], redis_py.Redis], ledger: Callable[[redis_py.Redis], Ledger]) -> None:
        self.over, self.raised = threading.Event(), list[BaseException]()
        self.accepted = list[tuple[str, int]]()
        self.answers = set[str]()
        self.connect, self.ledger = connect, ledger
        acts = [self.admit, self.admit, self.expire, self.repair, self.prune]
        acts += [self.gate, self.forget, self.damage, self.discard]
        self.threads = [threading.Thread(target=self.run, args=(act, seed)) for seed, act in enumerate(acts)]
        for thread in self.threads:
            thread.start()

    def run(self, act: Callable[[Ledger, random.Random], None], seed: int) -> None:
        ledger, dice = self.ledger(self.connect()), random.Random(seed)
        try:
            while not self.over.is_set():
                act(ledger, dice)
        except Exception as error:  # `stop` raises it
            self.raised.append(error)

    def stop(self) -> None:
        self.over.set()
        for thread in self.threads:
            thread.join()
        for error in self.raised:
            raise error

    def admit(self, ledger: Ledger, dice: random.Random) -> None:
        ids = dice.choices(IDS, k=dice.choice((1, 30)))
        for id_, said in zip(ids, ledger.admit_many((id_, payload(id_)) for id_ in ids), strict=True):
            self.answers.add(said.outcome.name)
            if said.outcome.name == "ACCEPTED":
                assert said.record
                self.accepted.append((id_, said.record.admitted_at))
        pause(0.005)

    def expire(self, ledger: Ledger, dice: random.Random) -> None:
        ledger.expire()
        pause(0.02)

    def repair(self, ledger: Ledger, dice: random.Random) -> None:
        mend(ledger)
        pause(0.01)

    def prune(self, ledger: Ledger, dice: random.Random) -> None:
        cursor = "0"
        while (cursor := ledger.prune(timedelta(milliseconds=500), cursor, 300).cursor) != "0":
            pause(0.01)

    def gate(self, ledger: Ledger, dice: random.Random) -> None:
        self.over.wait(0.8)
        ledger.close_gate(ANN, "a storm")
        pause(0.15)
        ledger.open_gate(ANN)

    def forget(self, ledger: Ledger, dice: random.Random) -> None:
        ledger.redis.script_flush()
        pause(0.2)

    def damage(self, ledger: Ledger, dice: random.Random) -> None:
        """Wrong scores, missing and needless entries of the indexes; once in a while a byte of a record."""
        redis, id_, index = ledger.redis, dice.choice(IDS), dice.choice((ledger.ready_key, ledger.leases_key))
        what = dice.random()
        if what < 0.4:
            redis.zrem(index, id_)
        elif what < 0.8:
            redis.zadd(index, {id_: dice.choice((1, 10**14))})
        elif what < 0.9:
            redis.zadd(index, {f"ghost{dice.randrange(9)}": 1})
        else:
            redis.eval(SPOIL, 1, dice.choice((ledger.records_key, ledger.payloads_key)), id_, dice.randrange(10**6))
        pause(0.01)

    def discard(self, ledger: Ledger, dice: random.Random) -> None:
        """The producers admit them again."""
        for name in ledger.redis.hkeys(ledger.quarantine_key):
            ledger.discard(name.decode(), reviewed(ledger, name.decode()), ANN)
        pause(0.1)


SPOIL = """
local value = redis.call('HGET', KEYS[1], ARGV[1])
if value then
  local at = ARGV[2] % #value + 1
  local byte = value:sub(at, at) == '#' and '!' or '#'
  redis.call('HSET', KEYS[1], ARGV[1], value:sub(1, at - 1) .. byte .. value:sub(at + 1))
end
"""
