"""A plugin of pytest: what is a server to the ledger's tests is a cluster. See tests.lab.cluster.

NODES: the ports of its nodes · QUEUE: the queue of the tests' ledger, of which depends on which node it lies
"""

import os
from typing import Any

import pytest
from redis import Redis, RedisCluster
from redis.cluster import ClusterNode

from joobq_admin.joobq.delivery import Ledger
from tests.support import ledgers, servers


class Client(RedisCluster):
    def time(self, **_: Any) -> Any:
        """Of one node: all clocks are this machine's."""
        return Redis.time(self, target_nodes=self.get_default_node())


class Cluster:
    """As tests.support.servers.Server, as far as the tests of one ledger go."""

    def __init__(self) -> None:
        self.client = self.connect()

    def connect(self) -> Client:
        client = Client(startup_nodes=[ClusterNode("127.0.0.1", int(port)) for port in os.environ["NODES"].split()])
        client.set_default_node(client.get_node_from_key(ledger_of(client).records_key))  # asked for all keys
        return client

    def close(self) -> None:
        self.client.close()


def ledger_of(redis: RedisCluster, **options: Any) -> Ledger:
    return Ledger(redis, "shop", os.environ["QUEUE"], **options)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Before conftest.py and the tests take these names."""
    servers.KINDS[:] = ["cluster"]
    servers.Server = lambda kind, **_: Cluster()  # no test that runs here makes one of its own
    ledgers.ledger_of = ledger_of
