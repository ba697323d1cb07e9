"""The delivery ledger: batches of 128 against one call a request, eight claimers against one, and who has to wait."""

import time
from math import ceil
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
    """A process: claims until nothing is due; says when it began and ended, how many it got in how many tries."""
    ledger, tries, got = Ledger(connect(port), "bench", "emails"), 0, -1
    ledger.gate()
    claimed = 0
    start.wait()
    began = time.monotonic()
    while got:
        got = len(ledger.claim_many(name, MAX_BATCH, HOUR))
        claimed, tries = claimed + got, tries + 1
    results.put((began, time.monotonic(), claimed, tries))


def _claimers(server: Server, n: int) -> list[Figure]:
    rates, tries = {1: list[float](), 8: list[float]()}, list[float]()
    at_once = max(MAX_BATCH * 8, n // ROUNDS)
    for _ in range(ROUNDS):
        for workers in rates:
            server.client.flushall()
            Ledger(server.client, "bench", "emails", max_records=n).admit_many(_requests(at_once, SMALL))
            start, results = processes.Barrier(workers), processes.Queue()
            running = [
                processes.Process(target=_claimer, args=(server.port, f"w{at}", start, results))
                for at in range(workers)
            ]
            for process in running:
                process.start()
            ended = [results.get() for _ in running]
            for process in running:
                process.join()
            began, end, claimed, tried = (list(each) for each in zip(*ended, strict=True))
            assert sum(claimed) == at_once
            rates[workers].append(at_once / (max(end) - min(began)))
            if workers == 8:
                tries.append(
                    sum(tried) / (ceil(at_once / MAX_BATCH) + workers)
                )  # each learns once that there is no more
    one, eight, waste = median(rates[1]), median(rates[8]), median(tries)
    return [
        Figure("8 claimers / one", _rate(eight), _rate(one), eight / one, ">= 1.5 x", eight / one >= 1.5),
        Figure("tries of 8 claimers / needed", "", "", waste, "<= 1.1 x", waste <= 1.1),
    ]


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
