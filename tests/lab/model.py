"""The random model for longer than the suite runs it, with and without killed connections, on every kind of server.

python -m tests.lab.model SECONDS [SEED]
"""

import sys

from tests.support.model import trial
from tests.support.servers import KINDS

if __name__ == "__main__":
    seconds, seed = float(sys.argv[1]), int((*sys.argv, "1")[2])
    for kind in KINDS:
        for kill in (False, True):
            seen = trial(kind, seconds, seed, kill)
            print(kind, "connections killed" if kill else "undisturbed", flush=True)
            for what, times in sorted(seen.items()):
                print(f"    {times:8,} {what}")
