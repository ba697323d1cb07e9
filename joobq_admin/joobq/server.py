"""Is this a server that the scripts run on, and does it take changes now?"""

import secrets

from redis import Redis, exceptions

from joobq_admin.joobq import keys, refusals, scripts
from joobq_admin.joobq.conditions import Question
from joobq_admin.joobq.outcome import Refusal

OLDEST = (7, 0)  # Redis 7.0 and Valkey 7.2 (which calls itself Redis 7.2 too): EVALSHA_RO, redis.acl_check_cmd


def shortcoming(redis: Redis) -> str | None:
    """Why the scripts cannot run on this server, in words; None when they can, or when the server will not say.

    Raises Unreachable when it does not answer.
    """
    try:
        (reply,) = scripts.read(redis, [("INFO", "server", "cluster")])
    except exceptions.NoPermissionError:
        return None  # rights to INFO are not needed for anything else
    return told_by(bytes(reply).decode())


def told_by(info: str) -> str | None:
    """The same, from what INFO answered."""
    facts = dict(line.split(":", 1) for line in info.splitlines() if ":" in line)
    version = facts.get("redis_version", "0")
    if tuple(map(int, version.split(".")[:2])) < OLDEST:
        return f"This is Redis {version}. JoobQ Admin needs Redis 7.0 or Valkey 7.2."
    if facts.get("cluster_enabled") == "1":
        return (
            "This is a Redis Cluster. JoobQ's keys lie in several slots of it, and one step must change them together."
        )
    return None


def no_change() -> scripts.Call:
    """A change that changes nothing: it takes out of the dead set what cannot be in it."""
    return "ZREM", keys.DEAD, secrets.token_bytes(32)


def takes_changes() -> Question:
    """Would a change be refused now? A replica, a failed disk, missing replicas and missing rights all show in this."""
    return Question(no_change())


def refused(question: Question) -> Refusal | None:
    """Why Redis said that it takes none; None when it does, or did not say."""
    return refusals.refusal_of(question.reply)
