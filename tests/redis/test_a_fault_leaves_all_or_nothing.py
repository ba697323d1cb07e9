"""A server's fault: an action is done with all that belongs to it, or nothing at all has changed, and its answer says
which. Once the fault is gone, the same press is done: once."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
import redis as redis_py

from joobq_admin.joobq import keys
from joobq_admin.joobq.cjson import queue_of
from tests.support.database import changed, contents
from tests.support.operators import dead_letters
from tests.support.presses import (
    ACTIONS,
    ALL_KEYS,
    LOCK,
    PURGES,
    QUEUE,
    REDRIVES,
    is_done_once,
    is_refusal,
    prepare,
    press,
)
from tests.support.servers import KINDS, Server

BIN_USERS = (*PURGES, "restore")
PLANNERS = (*BIN_USERS, "purge a queue")
PLANS = "~joobq:admin:plan:*"
LAST_ID = f"{2**64 - 1}-{2**64 - 1}"


@dataclass(frozen=True)
class Fault:
    """`strike` makes it, and may give another client to press with; `answers`: the refusals, by action; else done."""

    strike: Callable[[Server], redis_py.Redis | None]
    answers: dict[str, str]
    heal: Callable[[Server], object] = lambda server: None
    counted: bool = True  # the counts are right at once, not only after the next read
    recorded: bool = True


def refused(reason: str, *actions: str) -> dict[str, str]:
    return dict.fromkeys(actions or ACTIONS, reason)


def user(server: Server, *rights: str) -> redis_py.Redis:
    server.client.execute_command("ACL", "SETUSER", "u", "reset", "on", ">pw", *rights)
    return server.connect(username="u", password="pw")


def without_command(name: str) -> Callable[[Server], redis_py.Redis]:
    return lambda server: user(server, "~*", "+@all", f"-{name}")


def without_key(key: bytes) -> Callable[[Server], redis_py.Redis]:
    return lambda server: user(server, "+@all", PLANS, *(f"~{other.decode()}" for other in ALL_KEYS if other != key))


def only_reading_the_queue(server: Server) -> redis_py.Redis:
    others = (f"~{key.decode()}" for key in ALL_KEYS if key != QUEUE)
    return user(server, "+@all", PLANS, f"%R~{QUEUE.decode()}", *others)


def forgotten_and_not_to_be_taught(server: Server) -> redis_py.Redis:
    server.client.script_flush()
    return user(server, "~*", "+@all", "-eval")


def of_another_type(key: bytes) -> Callable[[Server], None]:
    def strike(server: Server) -> None:
        server.client.delete(key)
        server.client.set(key, "x")

    return strike


def asking(*command: object) -> Callable[[Server], None]:
    def strike(server: Server) -> None:
        server.client.execute_command(*command)

    return strike


def set_to(name: str, value: str) -> Callable[[Server], None]:
    return asking("CONFIG", "SET", name, value)


NEEDS = {  # what each command is needed for; without it that is refused, and the rest is done
    "type": ACTIONS, "zrange": ACTIONS, "zadd": ACTIONS, "xadd": ACTIONS, "evalsha": ACTIONS,
    "zscore": [action for action in ACTIONS if action not in ("purge all", "purge a queue")],
    "zrem": [action for action in ACTIONS if action != "purge all"],
    "hincrby": [action for action in ACTIONS if action != "purge all"],
    "zcard": [action for action in ACTIONS if action != "restore"],
    "zcount": [*REDRIVES, *PURGES, "purge a queue"],
    "evalsha_ro": [action for action in ACTIONS if action not in ("restore", "purge all")],
    "zrevrange": ["redrive by jid", "purge by jid", "purge a queue"],
    "hget": PLANNERS, "hset": PLANNERS, "hmget": ["restore", "purge a queue"], "hdel": ["restore", "purge a queue"],
    "sadd": ["purge a queue"], "srem": ["purge a queue"], "scard": ["purge a queue"], "sismember": ["purge a queue"],
    "pexpire": ["purge a queue"], "hstrlen": BIN_USERS,
    "time": PURGES, "rpush": REDRIVES, "del": REDRIVES, "unlink": ["purge all", "purge a queue"],
    "xlen": [], "xtrim": [],
}  # fmt: skip
KEYS_OF = {keys.DEAD: ACTIONS, keys.COUNTS: ACTIONS, keys.AUDIT: ACTIONS, keys.AUDIT_INDEX: ACTIONS,
           keys.BIN: BIN_USERS, keys.BIN_TIMES: BIN_USERS, QUEUE: REDRIVES, LOCK: REDRIVES}  # fmt: skip

RECORD_TELLS = ("redrive by jid", "purge by jid", "purge all", "purge a queue")  # whose entry it was, or how many

FAULTS = {f"may not {name}": Fault(without_command(name), refused("NOT_ALLOWED", *who) if who else {})
          for name, who in NEEDS.items()}  # fmt: skip
FAULTS |= {f"no right to {key.decode()}": Fault(without_key(key), refused("NOT_ALLOWED", *who))
           for key, who in KEYS_OF.items()}  # fmt: skip
FAULTS |= {
    "no fault": Fault(lambda server: None, {}),
    "may only read the queue": Fault(only_reading_the_queue, refused("NOT_ALLOWED", *REDRIVES)),
    "scripts forgotten": Fault(asking("SCRIPT", "FLUSH"), {}),
    "scripts forgotten, may not eval": Fault(forgotten_and_not_to_be_taught, refused("NOT_ALLOWED")),
    "the dead set is a string": Fault(of_another_type(keys.DEAD), refused("DEAD_BROKEN")),
    "the queue is a string": Fault(of_another_type(QUEUE), refused("NOT_A_LIST", *REDRIVES)),
    "the counts are a string": Fault(of_another_type(keys.COUNTS), {}, counted=False),
    "a count is no number": Fault(asking("HSET", keys.COUNTS, QUEUE, "abc"), {}, counted=False),
    "a count takes no less": Fault(asking("HSET", keys.COUNTS, QUEUE, -(2**63)), {}, counted=False),
    "the audit log is a string": Fault(of_another_type(keys.AUDIT), refused("AUDIT_BROKEN")),
    "the audit index is a string": Fault(of_another_type(keys.AUDIT_INDEX), refused("AUDIT_BROKEN")),
    "the bin is a string": Fault(of_another_type(keys.BIN), refused("BIN_BROKEN", *BIN_USERS)),
    "the bin's times are a string": Fault(of_another_type(keys.BIN_TIMES), refused("BIN_BROKEN", *BIN_USERS)),
    "the bin's size is no number": Fault(asking("HSET", keys.BIN, "bytes", "x"), refused("BIN_BROKEN", *PURGES)),
    "out of memory": Fault(set_to("maxmemory", "1mb"), {}, set_to("maxmemory", "0")),
    "too few replicas": Fault(
        set_to("min-replicas-to-write", "1"), refused("NOREPLICAS"), set_to("min-replicas-to-write", "0")
    ),
    "the audit log takes no more": Fault(asking("XADD", keys.AUDIT, LAST_ID, "x", "y"), {}, recorded=False),
}


@pytest.fixture(scope="module", params=KINDS)
def fragile(request: pytest.FixtureRequest) -> Iterator[Server]:
    with Server(request.param) as server:
        yield server


@pytest.mark.parametrize("name", FAULTS)
def test_all_or_nothing(fragile: Server, name: str) -> None:
    for action in ACTIONS:
        one_press(fragile, FAULTS[name], action)


def one_press(server: Server, fault: Fault, action: str) -> None:
    redis = server.client
    prepare(redis, action)
    client = fault.strike(server) or redis
    before = contents(redis)
    said = press(client, action)
    fault.heal(server)
    after = contents(redis)
    assert said == fault.answers.get(action, "done"), action
    if said == "done":
        assert is_done_once(before, after, action, fault.counted, fault.recorded), (action, changed(before, after))
    else:
        assert is_refusal(said)
        assert changed(before, after) - set(keys.plan("op1")) == set(), action
    if said != "DEAD_BROKEN":
        assert dict(dead_letters(redis).counts()) == truth(redis), action
    if said == "done" or client is not redis:  # else the fault lies in what a key holds
        again = contents(redis)
        untold = not fault.recorded and action in RECORD_TELLS  # the record that could not be written
        assert press(redis, action) == ("missing" if untold else "done"), action
        once = contents(redis)
        if said == "done":
            assert changed(again, once) == set(), action
        else:
            assert is_done_once(before, once, action), action


def truth(redis: redis_py.Redis) -> Counter[str]:
    return Counter(queue_of(member).decode() for member in redis.zrange(keys.DEAD, 0, -1))
