"""Does reading hostile bytes take no more than its time?  python -m tests.lab.growth [REPEATS]

Each shape at REPEATS and at 8 times as many, the best of three. Linear work costs 8 times as much, quadratic 64 times:
ends with 1 when one costs more than 30 times. The CPU time of this process, so that others on the machine matter less.
"""

import sys
import time

from tests.support.hostile_bytes import HOSTILE, all_of_it


def cost(raw: bytes) -> float:
    """Seconds."""
    costs = []
    for _ in range(3):
        started = time.process_time()
        all_of_it(raw)
        costs.append(time.process_time() - started)
    return min(costs)


if __name__ == "__main__":
    repeats, worst = int((*sys.argv, "2000")[1]), 0.0
    for shape, made in HOSTILE.items():
        few, many = cost(made(repeats)), cost(made(8 * repeats))
        worst = max(worst, many / max(few, 0.001))
        print(f"{shape:28} {few * 1000:8.1f} ms {many * 1000:8.1f} ms {many / few:6.1f} times")
    sys.exit(worst > 30)
