"""The ledger's tests on a cluster of three nodes, for a ledger on each of them.  python -m tests.lab.cluster"""

import os
import subprocess
import sys
from contextlib import ExitStack
from itertools import count

from redis.crc import key_slot

from joobq_admin.joobq import keys
from tests.support import sources
from tests.support.eventually import eventually
from tests.support.servers import Server, free_port

NODES, SLOTS = 3, 16_384
# these start servers of their own, stop them, spoil what they say, or look into the key of the one ledger they know
NOT_HERE = ("cluster", "full_redis", "restarts", "storm", "cut", "lost_answer", "cycle_is_one")
FILES = [
    path
    for path in sources.modules("tests/redis")
    if "/test_ledger_" in path and not any(word in path for word in NOT_HERE)
]
# these count what goes out on one connection, or read ledgers of all slots on it
WITHOUT = ("-k", "not is_not_sent and not a_batch_holds and not several_are_read")


def main() -> None:
    with ExitStack() as stack:
        bus = [free_port() for _ in range(NODES)]
        options = ("--cluster-enabled", "yes", "--cluster-port")
        nodes = [stack.enter_context(Server("redis7", *options, str(port))) for port in bus]
        for at, node in enumerate(nodes):
            node.client.execute_command("CLUSTER", "ADDSLOTSRANGE", SLOTS * at // NODES, SLOTS * (at + 1) // NODES - 1)
            node.client.execute_command("CLUSTER", "MEET", "127.0.0.1", nodes[0].port, bus[0])
        for node in nodes:
            eventually(lambda node=node: is_whole(node), timeout=30)
        for at in range(NODES):
            queue = next(f"queue {n}" for n in count() if node_of(f"queue {n}") == at)
            print(f"{queue!r}, on node {at}", flush=True)
            command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.lab.on_a_cluster", *WITHOUT, *FILES]
            environment = os.environ | {"NODES": " ".join(str(node.port) for node in nodes), "QUEUE": queue}
            subprocess.run(command, cwd=sources.ROOT, env=environment, check=True)


def is_whole(node: Server) -> bool:
    told = set(node.client.execute_command("CLUSTER", "INFO").decode().split())
    return told >= {"cluster_state:ok", f"cluster_known_nodes:{NODES}", f"cluster_slots_assigned:{SLOTS}"}


def node_of(queue: str) -> int:
    return key_slot(keys.delivery("shop", queue)[0]) * NODES // SLOTS


if __name__ == "__main__":
    main()
