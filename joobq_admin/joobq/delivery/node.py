"""Where a ledger lies: on one server, or in a cluster on the node that holds its slot."""

from collections.abc import Callable
from typing import TypeVar

from redis import Redis, RedisCluster, exceptions

from joobq_admin.joobq.outcome import Unreachable

T = TypeVar("T")


def on_its_node(redis: Redis | RedisCluster, key: str, act: Callable[[Redis], T]) -> T:
    """What `act` returns there. A node that has handed its slot on, or cannot be reached, has done nothing: the cluster
    is asked where the slot lies now, and `act` runs once more.
    """
    if not isinstance(redis, RedisCluster):
        return act(redis)
    try:
        return act(_node(redis, key))
    except (exceptions.MovedError, Unreachable):
        try:
            redis.nodes_manager.initialize()
        except exceptions.RedisClusterException as error:
            raise Unreachable(str(error)) from error
    return act(_node(redis, key))


def _node(redis: RedisCluster, key: str) -> Redis:
    return redis.get_redis_connection(redis.get_node_from_key(key))
