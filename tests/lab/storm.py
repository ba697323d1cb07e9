"""Storms over the delivery ledger, one after the other, until SECONDS are over, on every kind of server in turn.

python -m tests.lab.storm SECONDS [SEED]     ends with the server's folder kept when a storm shows what may not be.
"""

import sys
import time
from collections import Counter

from tests.support.servers import KINDS, Server
from tests.support.storm import FILE, Storm

ROUND = 30.0  # s; what the server wrote down is judged after each


def main() -> None:
    seconds, seed = float(sys.argv[1]), int((*sys.argv, "1")[2])
    seen, end = {kind: Counter[str]() for kind in KINDS}, time.monotonic() + seconds
    while (left := end - time.monotonic()) > 1:
        for kind in KINDS:
            server = Server(kind, *FILE)
            try:
                seen[kind] += Storm(server, min(ROUND, left / len(KINDS)), seed).judge()
            except AssertionError:
                server.stop()
                print(f"{kind}, seed {seed}: see {server.folder}", file=sys.stderr)
                raise
            server.close()
        seed += 1
    for kind, counted in seen.items():
        print(kind)
        for what, times in sorted(counted.items()):
            print(f"    {times:10,} {what}")


if __name__ == "__main__":
    main()
