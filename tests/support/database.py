"""The whole of a database, to see what moved in it and that nothing else did."""

from typing import Any

import redis as redis_py

Contents = dict[bytes, tuple[bytes, Any, bool]]


def contents(redis: redis_py.Redis) -> Contents:
    """Every key: its type, all that it holds, whether it will end by itself."""
    readers = {
        b"zset": lambda key: redis.zrange(key, 0, -1, withscores=True),
        b"list": lambda key: redis.lrange(key, 0, -1),
        b"hash": redis.hgetall,
        b"set": redis.smembers,
        b"string": redis.get,
        b"stream": redis.xrange,
    }
    found = {}
    for key in sorted(redis.keys()):
        kind = redis.type(key)
        found[key] = kind, readers[kind](key), redis.pttl(key) > 0
    return found


def changed(before: Contents, after: Contents) -> set[bytes]:
    """The keys that came, went or hold something else."""
    return {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
