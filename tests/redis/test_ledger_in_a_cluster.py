"""A cluster's client finds the node of a ledger's slot, also when the slot has moved on or its node is gone."""

from collections.abc import Callable

import pytest
from redis import Redis, RedisCluster
from redis.cluster import ClusterNode
from redis.crc import key_slot

from joobq_admin.joobq.delivery import Ledger, ReviewOutcome, State
from joobq_admin.joobq.outcome import Unreachable
from tests.support.eventually import eventually
from tests.support.ledgers import agrees, mend, spoil_header
from tests.support.operators import ANN
from tests.support.servers import Server, free_port

HALF = 16_384 // 2


@pytest.fixture
def nodes(new_server: Callable[..., Server]) -> list[Server]:
    """Two primaries that share the slots. A cluster takes two seconds before it says that it is one."""
    bus, options = [free_port(), free_port()], ("--cluster-enabled", "yes", "--cluster-require-full-coverage", "no")
    both = [new_server("valkey", *options, "--cluster-port", str(port)) for port in bus]
    for node, (first, last) in zip(both, ((0, HALF - 1), (HALF, 2 * HALF - 1)), strict=True):
        node.client.execute_command("CLUSTER", "ADDSLOTSRANGE", first, last)
    both[0].client.execute_command("CLUSTER", "MEET", "127.0.0.1", both[1].port, bus[1])
    whole = {"cluster_known_nodes": "2", "cluster_slots_assigned": str(2 * HALF), "cluster_state": "ok"}
    for node in both:
        eventually(lambda node=node: whole.items() <= told(node.client).items(), timeout=20)
    return both


def told(redis: Redis) -> dict[str, str]:
    info = bytes(redis.execute_command("CLUSTER", "INFO")).decode()
    return dict(line.split(":", 1) for line in info.split())


def test_a_ledger_is_found_where_its_slot_is(nodes: list[Server]) -> None:
    cluster = RedisCluster(startup_nodes=[ClusterNode("127.0.0.1", node.port) for node in nodes])
    ledgers = [Ledger(cluster, "shop", f"queue {n}") for n in range(6)]
    slots = [key_slot(ledger.records_key.encode()) for ledger in ledgers]
    assert {slot // HALF for slot in slots} == {0, 1}
    for n, ledger in enumerate(ledgers):
        is_used(ledger, n + 3)
    assert Ledger.discover(cluster) == [("shop", f"queue {n}") for n in range(6)]

    ledger, slot = ledgers[0], slots[0]
    old, new = nodes if slot < HALF else reversed(nodes)
    nodes[slot // HALF].client.flushall()
    name = new.client.execute_command("CLUSTER", "MYID")
    for node in (new, old):
        node.client.execute_command("CLUSTER", "SETSLOT", slot, "NODE", name)
    assert ledger.admit("moved", b"1").outcome.name == "ACCEPTED"
    assert new.client.hlen(ledger.records_key) == 1
    assert ledger.resolve("moved").state is State.READY

    new.stop(hard=True)
    for _ in range(2):
        with pytest.raises(Unreachable):
            ledger.claim("w")
    cluster.close()


def is_used(ledger: Ledger, requests: int) -> None:
    ledger.admit_many([(str(m), bytes(5_000)) for m in range(requests)])
    claims = ledger.claim_many("w", 3)
    assert [claim.payload for claim in claims] == [bytes(5_000)] * 3
    assert ledger.settle(claims[0]).outcome.name == "APPLIED"
    assert ledger.renew(claims[1]).outcome.name == "APPLIED"
    assert ledger.stats().records == requests
    assert ledger.close_gate(ANN, "").outcome.name == "CLOSED"
    assert ledger.open_gate(ANN).outcome.name == "OPENED"
    spoil_header(ledger, "0")
    assert mend(ledger) == (0, 0, 1)
    (found,) = ledger.quarantined().records
    assert ledger.discard("0", found.digest, ANN) is ReviewOutcome.DISCARDED
    assert agrees(ledger)
