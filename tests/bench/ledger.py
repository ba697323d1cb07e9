"""The delivery ledger: batches of 128 against one call a request, eight claimers against one, and who has to wait."""

import os
import time
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from statistics import median

from joobq_admin.joobq.delivery import MAX_BATCH, Claim, Ledger, State
from tests.bench.figures import Figure
from tests.bench.stalls import processes, watched
from tests.support.ledgers import HOUR, NOW, mend
from tests.support.servers import Server, connect

ROUNDS = 5
SMALL, LARGE = 300, 10_240  # bytes of a payload
STEPS = ("admit", "claim", "settle")
QUIET = 25_000  # records a second that are asked of a quiet machine, at 300 B

Rates = dict[str, float]


def figures(server: Server, n: int) -> list[Figure]:
    """`n` requests in batches in all, at most 128 MB at a time; a tenth of it one by one."""
    rates = {size: _rates(server, n, size) for size in (SMALL, LARGE)}
    found = list[Figure]()
    for size, (many, single) in rates.items():
        for step in STEPS:
            ratio = many[step] / single[step]
            asks = (">= 3 x one by one", ratio >= 3) if size == SMALL else ("", None)
            name = f"{step}, {_of(size)}, batches / one by one"
            found.append(Figure(name, _rate(many[step]), _rate(single[step]), ratio, *asks))
    for step in STEPS:
        rate = rates[SMALL][0][step]
        found.append(Figure(f"{step}, {_of(SMALL)}", _rate(rate), ask=f">= {QUIET:,}/s, quiet", met=rate >= QUIET))
    for step in ("claim", "settle"):
        small, large = (rates[size][0][step] for size in (SMALL, LARGE))
        name = f"{step}, {_of(LARGE)} / {_of(SMALL)}"
        found.append(Figure(name, _rate(large), _rate(small), large / small, ">= a third", large / small >= 1 / 3))
    return found + _claimers(server, n) + _stalls(server, n)


def _rates(server: Server, n: int, size: int) -> tuple[Rates, Rates]:
    """Records a second in batches and one by one: medians of rounds that take turns."""
    at_once = max(MAX_BATCH, min(n // ROUNDS, (128 << 20) // size))
    rounds: tuple[list[Rates], list[Rates]] = ([], [])
    for _ in range(ROUNDS):
        for optimized, into, count in ((True, rounds[0], at_once), (False, rounds[1], at_once // 10)):
            server.client.flushall()
            into.append(
                _round(Ledger(server.client, "bench", "emails", max_records=n, optimized=optimized), count, size)
            )
    many, single = ({step: median(each[step] for each in those) for step in STEPS} for those in rounds)
    return many, single


def _round(ledger: Ledger, n: int, size: int) -> Rates:
    requests, took = _requests(n, size), list[float]()

    def lap() -> None:
        took.append(time.perf_counter())

    lap()
    ledger.admit_many(requests)
    lap()
    claims = _claim_all(ledger)
    lap()
    settled = ledger.settle_many((claim, State.COMPLETED) for claim in claims)
    lap()
    assert len(settled) == n
    return {step: n / (end - began) for step, began, end in zip(STEPS, took, took[1:], strict=False)}


def _requests(n: int, size: int) -> list[tuple[str, bytes]]:
    return [(f"order-{at}", (b"%d " % at).ljust(size, b"x")) for at in range(n)]


def _claim_all(ledger: Ledger, owner: str = "bench") -> list[Claim]:
    claims = list[Claim]()
    while got := ledger.claim_many(owner, MAX_BATCH, HOUR):
        claims += got
    return claims


def _claimer(port: int, name: str, start: object, results: object) -> None:
    """A process: claims until nothing is due; when it began and ended, how many it got, in how many tries, its CPU."""
    ledger, tries, got = Ledger(connect(port), "bench", "emails"), 0, -1
    ledger.gate()
    claimed = 0
    start.wait()
    began, busy = time.monotonic(), time.process_time()
    while got:
        got = len(ledger.claim_many(name, MAX_BATCH, HOUR))
        claimed, tries = claimed + got, tries + 1
    results.put((began, time.monotonic(), claimed, tries, time.process_time() - busy))


@dataclass(frozen=True, slots=True)
class Claimed:
    """All that was due, by some claimers at once; and of that time, how much the server was busy, and the cores: with
    this, and with all else that runs on the machine.
    """

    rate: float  # a second
    tries: int
    server: float
    cores: float
    others: float


def _claimed(server: Server, n: int, workers: int) -> Claimed:
    server.client.flushall()
    Ledger(server.client, "bench", "emails", max_records=n).admit_many(_requests(n, SMALL))
    start, results = processes.Barrier(workers + 1), processes.Queue()
    running = [
        processes.Process(target=_claimer, args=(server.port, f"w{at}", start, results)) for at in range(workers)
    ]
    for process in running:
        process.start()
    start.wait()
    served, machine = _cpu(server), _machine()
    began, end, claimed, tries, cpu = zip(*(results.get() for _ in running), strict=True)
    served, (busy, all_of_it) = _cpu(server) - served, (now - was for now, was in zip(_machine(), machine, strict=True))
    for process in running:
        process.join()
    assert sum(claimed) == n
    took = max(end) - min(began)
    cores = (served + sum(cpu)) / (took * (os.cpu_count() or 1))
    return Claimed(n / took, sum(tries), served / took, cores, max(0.0, busy / all_of_it - cores))


def _cpu(server: Server) -> float:
    """Seconds that it has worked so far."""
    facts = server.client.info("cpu")
    return facts["used_cpu_user"] + facts["used_cpu_sys"]


def _machine() -> tuple[int, int]:
    """Ticks in which the cores have worked so far, and all there were: proc_stat(5)."""
    user, nice, system, idle, waits, *more = map(int, Path("/proc/stat").read_text().split()[1:9])
    busy = user + nice + system + sum(more)
    return busy, busy + idle + waits


def _claimers(server: Server, n: int) -> list[Figure]:
    """How many times as fast eight can be is said by what one leaves of the server, and all others of the cores."""
    at_once, rounds = max(MAX_BATCH * 8, min(n, 100_000)), {1: list[Claimed](), 8: list[Claimed]()}
    for _ in range(ROUNDS):
        for workers, into in rounds.items():
            into.append(_claimed(server, at_once, workers))

    def median_of(workers: int, what: str) -> float:
        return median(getattr(each, what) for each in rounds[workers])

    one, eight = median_of(1, "rate"), median_of(8, "rate")
    waste = median_of(8, "tries") / (ceil(at_once / MAX_BATCH) + 8)  # each learns once that there is no more
    found = [Figure("8 claimers / one", _rate(eight), _rate(one), eight / one, ">= 1.5 x, quiet", eight / one >= 1.5)]
    for of, name in (
        ("server", "server busy"),
        ("cores", "cores busy with it"),
        ("others", "cores busy with all else"),
    ):
        found.append(Figure(f"{name}, 8 claimers / one", f"{median_of(8, of):.0%}", f"{median_of(1, of):.0%}"))
    return [*found, Figure("tries of 8 claimers / needed", "", "", waste, "<= 1.1 x", waste <= 1.1)]


def _stalls(server: Server, n: int) -> list[Figure]:
    """A whole life in batches, and the upkeep of it, with the server's log on."""
    found = list[Figure]()
    for size in (SMALL, LARGE):
        server.client.flushall()
        ledger = Ledger(server.client, "bench", "emails", max_records=n)
        with watched(server.client, server.port) as stalls:
            _round(ledger, max(MAX_BATCH, min(n // ROUNDS, (128 << 20) // size)), size)
            mend(ledger)
            cursor = ""
            while cursor != "0":
                cursor = ledger.prune(NOW, cursor or "0").cursor
        found.append(Figure(f"scripts, {_of(size)}, p99", f"{stalls.p99:.2f} ms", ask="<= 5 ms", met=stalls.p99 <= 5))
        found.append(Figure(f"commands, {_of(size)}, longest", f"{stalls.longest:.2f} ms"))
        found.append(Figure(f"a ping beside them, {_of(size)}, longest", f"{stalls.ping:.2f} ms"))
    return found


def _of(size: int) -> str:
    return "300 B" if size == SMALL else "10 kB"


def _rate(rate: float) -> str:
    return f"{rate:,.0f}/s"
