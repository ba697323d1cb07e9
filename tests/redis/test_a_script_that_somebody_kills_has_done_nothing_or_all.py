"""SCRIPT KILL ends a script only before its first write; after it Redis refuses, and the script goes on to its end."""

from collections.abc import Callable
from copy import copy as shallow_copy

import pytest
import redis as redis_py

from joobq_admin.joobq import scripts
from joobq_admin.joobq.scripts import PURGE_ALL, REDRIVE, REMOVE, RESTORE, Script
from tests.support.database import contents
from tests.support.eventually import eventually
from tests.support.operators import at_once
from tests.support.presses import is_done_once, prepare, press
from tests.support.servers import KINDS, Server

FIRST_WRITES = {
    "redrive": (REDRIVE, b"redis.call('ZREM', set, member)  -- first"),
    "purge": (REMOVE, b"redis.call('ZREM', set, member)  -- first"),
    "restore": (RESTORE, b"redis.call('HDEL', bin, digest)  -- first"),
    "purge all": (PURGE_ALL, b"redis.call('UNLINK', set)"),
}


def slow(script: Script, write: bytes, after: bool) -> Script:
    """The script with a long pause before its first write, which is killed, or with a shorter one after it."""
    copy = shallow_copy(script)
    assert script.text.count(write) == 1
    at = script.text.index(write)
    at = script.text.index(b"\n", at) if after else at
    pause = b"\nfor _ = 1, %d do end\n" % (16_000_000 if after else 60_000_000)
    copy.text = script.text[:at] + pause + script.text[at:]
    copy.sha = "0" * 40  # known to no server: it goes out with its text
    return copy


def kill(redis: redis_py.Redis) -> str:
    """Waits until a script is long at work; what Redis says to killing it."""

    def said() -> str:
        try:
            redis.script_kill()
        except redis_py.ResponseError as error:
            return "" if str(error).startswith("NOTBUSY") else str(error).split()[0]
        return "killed"

    return eventually(said, every=0.002)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("after", [False, True], ids=["before the first write", "after it"])
@pytest.mark.parametrize("action", FIRST_WRITES)
def test_killed(
    new_server: Callable[..., Server], monkeypatch: pytest.MonkeyPatch, kind: str, after: bool, action: str
) -> None:
    server = new_server(kind, "--busy-reply-threshold", "5")
    before, client, (script, write) = prepare(server.client, action), server.connect(), FIRST_WRITES[action]
    slowed = slow(script, write, after)
    monkeypatch.setitem(scripts._BY_SHA, slowed.sha, slowed)
    monkeypatch.setattr(scripts, script.name.upper(), slowed)
    said = at_once(lambda: press(client, action), lambda: kill(server.client))
    assert said == (["done", "UNKILLABLE"] if after else ["KILLED", "killed"])
    if after:
        assert is_done_once(before, contents(server.client), action)
    else:
        assert contents(server.client) == before
