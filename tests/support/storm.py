"""Sixteen workers with wrong clocks who are killed at random, amid all that can disturb them; then a judgement.

python -m tests.support.storm PORT FOLDER SECONDS SEED     is the crew: four processes of four workers each. A worker
claims, renews in a thread of its own while it settles, forgets some claims, comes too late with others, and writes down
at once what it asks and what it was told, a line of JSON each. Who is killed, at random, is replaced.

The judge excuses nothing. By what the workers were told alone, one thing had to be: a request that is claimed again
long before its lease is over, because the worker who gave it back was killed before the answer came. What the server
wrote down shows the settlement, and the worker's own lines that it had asked for just that.
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from datetime import timedelta
from itertools import count, islice
from pathlib import Path
from typing import Any

import redis as redis_py

from joobq_admin.joobq.delivery import Claim, Ledger, State
from tests.support import sources
from tests.support.disturbances import Disturbances, payload
from tests.support.eventually import eventually, pause
from tests.support.ledger_trace import Header, Identity, Trace
from tests.support.ledgers import mend
from tests.support.servers import Server, connect

PROCESSES, THREADS = 4, 4
LEASE = timedelta(milliseconds=150)
SKEWS = (-600, -300, 300, 900)  # s
ENDS = [State.COMPLETED] * 6 + [State.DEAD] + [State.READY] * 3
FILE = ("--appendonly", "yes", "--appendfsync", "no", "--auto-aof-rewrite-percentage", "0")  # of the server
Line = list[Any]


def ledger_of(redis: redis_py.Redis) -> Ledger:
    return Ledger(redis, "storm", "q")


def identity(claim: Claim) -> Identity:
    return Identity(claim.request_id, claim.admitted_at, claim.attempt, claim.owner)


class Worker:
    def __init__(self, redis: redis_py.Redis, owner: str, leave: Path) -> None:
        self.ledger, self.owner, self.leave, self.dice = ledger_of(redis), owner, leave, random.Random(owner)

    def tell(self, *lines: Line) -> None:
        """In one write: a line is there whole or not at all, and at once."""
        os.write(1, b"".join(json.dumps(line).encode() + b"\n" for line in lines))

    def run(self) -> None:
        while not self.leave.exists():
            claims = self.ledger.claim_many(self.owner, self.dice.choice((1, 3, 20)), LEASE)
            self.tell(*(["claim", *identity(c), c.lease_until, c.payload == payload(c.request_id)] for c in claims))
            if not claims:
                pause(0.01)
            elif self.dice.random() < 0.9:  # else forgotten: the leases run out
                self.work(claims)

    def work(self, claims: list[Claim]) -> None:
        done = threading.Event()
        heart = threading.Thread(target=self.renew, args=(claims, done))
        heart.start()
        if self.dice.random() < 0.05:
            pause(LEASE.total_seconds() * 1.5)
        pause(self.dice.random() * 0.04)
        items = [(c, self.dice.choice(ENDS), timedelta(milliseconds=self.dice.choice((0, 20)))) for c in claims]
        self.tell(*(["intent", *identity(c), state.name] for c, state, _ in items))
        for word in ("settle", "again")[: self.dice.choice((1, 1, 1, 2))]:
            said = self.ledger.settle_many(items)
            answers = zip(items, said, strict=True)
            self.tell(*([word, *identity(c), state.name, answer.outcome.name] for (c, state, _), answer in answers))
        done.set()
        heart.join()

    def renew(self, claims: list[Claim], done: threading.Event) -> None:
        while not done.wait(random.random() * 0.03):
            for claim in claims:
                said = self.ledger.renew(claim, LEASE)
                self.tell(["renew", *identity(claim), said.outcome.name, said.claim.lease_until])


def ends_all(args: threading.ExceptHookArgs) -> None:
    """What one thread raises must not be lost among the others."""
    threading.__excepthook__(args)
    os._exit(1)


def crew(port: int, folder: Path, seconds: float, seed: int) -> set[int]:
    """Runs the processes, forked from this one; the numbers of those that were killed."""
    dice, leave, numbers, killed = random.Random(seed), folder / "leave", count(), set[int]()
    running = [(number, start(port, number, folder)) for number in islice(numbers, PROCESSES)]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pause(dice.random())
        number, process = running.pop(dice.randrange(PROCESSES))
        os.kill(process, signal.SIGKILL)
        assert os.waitpid(process, 0)[1] == signal.SIGKILL
        killed.add(number)
        number = next(numbers)
        running.append((number, start(port, number, folder)))
    leave.touch()
    assert [os.waitpid(process, 0)[1] for _, process in running] == [0] * PROCESSES
    return killed


def start(port: int, number: int, folder: Path) -> int:
    if process := os.fork():
        return process
    os.dup2(os.open(folder / f"told-{number}", os.O_WRONLY | os.O_CREAT), 1)
    threading.excepthook = ends_all
    skew, real = SKEWS[number % len(SKEWS)], time.time
    time.time = lambda: real() + skew
    redis = connect(port)
    for n in range(THREADS):
        threading.Thread(target=Worker(redis, f"w{number}.{n}", folder / "leave").run).start()
    for thread in threading.enumerate()[1:]:
        thread.join()
    os._exit(0)


class Storm:
    """Runs for so many seconds on that server, which must write an append-only file; `judge` says what it was like."""

    def __init__(self, server: Server, seconds: float, seed: int) -> None:
        self.server, self.ledger = server, ledger_of(server.client)
        command = [sys.executable, "-m", "tests.support.storm", str(server.port), str(server.folder)]
        crew = subprocess.Popen([*command, str(seconds), str(seed)], cwd=sources.ROOT, stdout=subprocess.PIPE)
        disturbances = Disturbances(server.connect, ledger_of)
        wrote, _ = crew.communicate()
        disturbances.stop()
        assert crew.returncode == 0
        self.killed = set(json.loads(wrote))
        self.accepted, self.answers = disturbances.accepted, disturbances.answers
        eventually(self.leases_are_over)

    def leases_are_over(self) -> bool:
        """And every record says so."""
        mend(self.ledger)
        return self.server.client.zcard(self.ledger.leases_key) == 0

    def told(self) -> dict[str, list[Line]]:
        told = dict[str, list[Line]]((word, []) for word in ("claim", "renew", "intent", "settle", "again"))
        for path in self.server.folder.glob("told-*"):
            for line in path.read_bytes().splitlines():
                word, *rest = json.loads(line)
                told[word].append(rest)
        return told

    def judge(self) -> Counter[str]:
        """AssertionError when the server wrote down a step that none may take, or somebody was told anything else."""
        trace, told = Trace(self.ledger), self.told()
        trace.replay(self.server.folder)
        assert sorted(self.accepted) == sorted(trace.admitted), "a producer was told otherwise"
        assert self.answers <= {"ACCEPTED", "DUPLICATE", *(["CONFLICT"] if trace.spoilt else [])}
        self.claims_were_told(trace, told)
        self.ends_were_told(trace, told)
        self.adds_up(trace)
        self.nothing_is_lost()
        seen = trace.seen + Counter(killed=len(self.killed))
        for word, at in (("settle", -1), ("again", -1), ("renew", -2)):
            seen += Counter(f"{word}: {line[at]}" for line in told[word])
        return seen

    def was_killed(self, claim: Identity) -> bool:
        return int(claim.owner[1:].partition(".")[0]) in self.killed

    def claims_were_told(self, trace: Trace, told: dict[str, list[Line]]) -> None:
        handed_out = Counter(Identity(*line[:4]) for line in told["claim"])
        assert all(right for *_, right in told["claim"]), "a wrong payload was handed out"
        assert set(handed_out.values()) <= {1}, "a claim was handed out twice"
        assert all(line[4] == trace.leases[Identity(*line[:4])][0] for line in told["claim"])
        for claim in trace.leases.keys() - handed_out.keys():
            assert self.was_killed(claim) or claim.request_id in trace.spoilt, f"{claim} was given to nobody"
        for *claim, outcome, until in told["renew"]:
            assert outcome != "APPLIED" or until in trace.leases[Identity(*claim)], f"{claim} was never renewed so"

    def ends_were_told(self, trace: Trace, told: dict[str, list[Line]]) -> None:
        without = {claim for claim in trace.leases.keys() - trace.ends.keys() if claim.request_id not in trace.spoilt}
        assert without == set(), "their leases never ended"
        first = {Identity(*claim): (state, outcome) for *claim, state, outcome in told["settle"]}
        for claim, (state, outcome) in first.items():
            how = trace.ends.get(claim)
            assert outcome == ("APPLIED" if how == state[0] else "LOST"), f"{claim} {how}: {state} was told {outcome}"
        for *claim, state, outcome in told["again"]:
            assert outcome == "LOST" or (outcome == "ALREADY" and trace.ends.get(Identity(*claim)) == state[0])
        intents = {Identity(*claim): state for *claim, state in told["intent"]}
        for claim, how in trace.ends.items():
            if how in "CDR" and claim not in first:  # its answer was lost with its worker
                assert self.was_killed(claim), f"{claim} was settled by nobody"
                assert intents[claim][0] == how, f"{claim} was settled as nobody asked"
                trace.seen[f"settled, and killed before the answer: {how}"] += 1

    def adds_up(self, trace: Trace) -> None:
        """admitted = ready + leased + completed + dead + quarantined, what was pruned and discarded set aside."""
        redis, ledger = self.server.client, self.ledger
        stored = {name.decode(): raw for name, raw in redis.hgetall(ledger.records_key).items()}
        assert stored == trace.headers
        assert {name.decode(): copy for name, copy in redis.hgetall(ledger.quarantine_key).items()} == trace.aside
        states = Counter[str]()
        due = dict[bytes, float]()
        for id_, raw in stored.items():
            header = Header.read(id_, raw)
            states["quarantined" if id_ in trace.aside or header is None else header.state] += 1
            if header and header.state == "R" and id_ not in trace.aside:
                due[id_.encode()] = header.due
        assert set(states) <= {"quarantined", "R", "C", "D"}, states
        gone = trace.seen["pruned"] + trace.seen["discarded"]
        assert trace.seen["admitted"] == sum(states.values()) + gone == len(stored) + gone
        assert dict(redis.zrange(ledger.ready_key, 0, -1, withscores=True)) == due

    def nothing_is_lost(self) -> None:
        """All that is ready can still be claimed and settled, once each."""
        left = {name.decode() for name in self.server.client.zrange(self.ledger.ready_key, 0, -1)}
        while left:
            claims = eventually(lambda: self.ledger.claim_many("last"))
            settled = self.ledger.settle_many((claim, State.COMPLETED) for claim in claims)
            assert {said.outcome.name for said in settled} == {"APPLIED"}
            assert {claim.request_id for claim in claims} <= left
            left -= {claim.request_id for claim in claims}
        assert self.ledger.claim_many("last") == []


if __name__ == "__main__":
    print(json.dumps(sorted(crew(int(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])))))
