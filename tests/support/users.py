"""Redis users with few rights."""

import redis

from tests.support.servers import Server

COUNTING = "type zcard zcount zscore zrank zrange hgetall get time evalsha_ro eval_ro watch unwatch multi exec"


def reader(server: Server) -> redis.Redis:
    """A client that may read JoobQ's keys, by no command but those that counting needs."""
    return user(server, "%R~joobq:*", COUNTING)


def user(server: Server, its_keys: str, commands: str) -> redis.Redis:
    rights = [its_keys, *(f"+{command}" for command in commands.split())]
    server.client.execute_command("ACL", "SETUSER", "somebody", "reset", "on", "nopass", *rights)
    return server.connect(username="somebody", password="any")
