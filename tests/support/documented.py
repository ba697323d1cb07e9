"""The Redis users of docs/redis-acl.md."""

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import redis as redis_py

from tests.support.servers import Server

PAGE = (Path(__file__).parents[2] / "docs/redis-acl.md").read_text(encoding="utf-8")


def rights(user: str) -> list[str]:
    """What ACL SETUSER is given for this user, without password; what stands in parentheses is one of them."""
    command = re.search(rf"ACL SETUSER {user} (.*?)\n\n", PAGE, re.DOTALL)
    assert command
    words = shlex.split(command[1].replace("\\\n", " "))
    assert words[:3] == ["reset", "on", ">a long password"]
    return words[3:]


def without_one(given: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Each command that they allow, and all the others."""
    for at, right in enumerate(given):
        if right.startswith("+"):
            yield right, [*given[:at], *given[at + 1 :]]
        elif right.startswith("("):
            inner = right.strip("()").split()
            for one in inner:
                if one.startswith("+"):
                    rest = " ".join(other for other in inner if other != one)
                    yield f"({one})", [*given[:at], f"({rest})", *given[at + 1 :]]


def allow(redis: redis_py.Redis, given: Sequence[str]) -> None:
    redis.execute_command("ACL", "SETUSER", "somebody", "reset", "on", ">sesame", *given)


def url(server: Server) -> str:
    return server.url.replace("//", "//somebody:sesame@")
