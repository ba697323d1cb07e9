"""Does Python read the queue of any bytes as Redis does?  python -m tests.lab.fuzz_queue_of N [seed]

N fuzzed texts on every kind of server. Ends with 1, and shows the bytes, at the first one that is read differently.
"""

import sys
import time
from random import Random

from joobq_admin.joobq.cjson import queue_of
from tests.support.mutations import fuzzed
from tests.support.queue_in_redis import BLOCK, queues_in_redis
from tests.support.servers import KINDS, Server


def main() -> None:
    if len(sys.argv) not in (2, 3) or not all(word.isdigit() for word in sys.argv[1:]):
        sys.exit(__doc__)
    texts = int(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) == 3 else time.time_ns() % 1_000_000
    servers = [Server(kind) for kind in KINDS]
    try:
        named = compare(servers, texts, seed)
    finally:
        for server in servers:
            server.close()
    print(f"seed {seed}: {texts:,} texts on {' and '.join(KINDS)}, {named:,} with a queue, 0 read differently")


def compare(servers: list[Server], texts: int, seed: int) -> int:
    """How many name a queue. Exits at the first disagreement."""
    chance, named = Random(seed), 0
    for done in range(0, texts, BLOCK):
        block = [fuzzed(chance) for _ in range(min(BLOCK, texts - done))]
        here = [queue_of(raw) for raw in block]
        named += sum(map(bool, here))
        for server in servers:
            for at, (raw, ours, theirs) in enumerate(
                zip(block, here, queues_in_redis(server.client, block), strict=True)
            ):
                if ours != theirs:
                    sys.exit(
                        f"seed {seed}, text {done + at}, {server.kind} reads {theirs!r}, Python {ours!r}:\n{raw!r}"
                    )
    return named


if __name__ == "__main__":
    main()
