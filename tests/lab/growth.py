"""Does reading hostile bytes take no more than its time?  python -m tests.lab.growth [REPEATS]

Each shape at REPEATS and at 8 times as many, the best of three. Linear work costs 8 times as much, quadratic 64 times:
ends with 1 when one costs more than 30 times. Of a message that is a megabyte of hostile words only the beginning
counts: ends with 1 beyond 0.3 s. All is CPU time of this process, so that others on the machine matter less.
"""

import sys
import time
from collections.abc import Callable
from functools import partial

from joobq_admin.joobq.entry import Entry
from joobq_admin.triage.fingerprint import fingerprint
from tests.support.hostile_bytes import HOSTILE, HOSTILE_WORDS, REDACTION, all_of_it
from tests.support.letters import ERROR, letter


def cost(act: Callable[[], object]) -> float:
    """Seconds."""
    costs = []
    for _ in range(3):
        started = time.process_time()
        act()
        costs.append(time.process_time() - started)
    return min(costs)


def growth(repeats: int) -> float:
    """Of the worst shape."""
    times = []
    for shape, made in HOSTILE.items():
        few, many = (cost(partial(all_of_it, made(n))) for n in (repeats, 8 * repeats))
        times.append(many / max(few, 0.001))
        print(f"{shape:28} {few * 1000:8.1f} ms {many * 1000:8.1f} ms {many / few:6.1f} times")
    return max(times)


def longest() -> float:
    """Of the worst words, in seconds."""
    costs = []
    for what, words in HOSTILE_WORDS.items():
        of = Entry(letter(error=ERROR | {"message": words * (1_000_000 // len(words))}), 1)
        assert of.error
        costs.append(cost(partial(fingerprint, of, REDACTION)))
        print(f"{what:28} {costs[-1] * 1000:8.1f} ms")
    return max(costs)


if __name__ == "__main__":
    worst = growth(int((*sys.argv, "2000")[1]))
    sys.exit(longest() > 0.3 or worst > 30)
