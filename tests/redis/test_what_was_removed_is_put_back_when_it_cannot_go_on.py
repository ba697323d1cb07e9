"""A write that fails after the removal.

Redis since 7.0 lets a script ask for its rights first, so that no fault of such a server gets here. The same scripts do
when what they ask is answered "yes", whatever the rights are.
"""

from collections.abc import Iterator

import pytest
import redis as redis_py

from joobq_admin.joobq import keys, refusals
from joobq_admin.joobq.audit import AuditLog
from joobq_admin.joobq.bin import Bin
from joobq_admin.joobq.outcome import Refusal
from joobq_admin.joobq.scripts import REDRIVE, REMOVE, RESTORE, Script
from tests.support.database import contents
from tests.support.presses import LETTER, LOCK, QUEUE, REF, prepare
from tests.support.servers import KINDS, Server

CREDULOUS = b"""local real = redis
local redis = setmetatable({}, {__index = function(_, name)
  if name == 'acl_check_cmd' then return function() return true end end
  return real[name]
end})
"""
SET = (keys.DEAD, keys.COUNTS)
IDENTITY = ("op1", REF.digest, REF.jid)

# the script, what it was asked, and the write that fails once the entry has left its place
CASES: dict[str, tuple[Script, tuple[bytes, ...], tuple[object, ...], str]] = {
    "redrive": (
        REDRIVE,
        (keys.DEAD, QUEUE, LOCK, keys.COUNTS, *AuditLog.KEYS),
        (LETTER, b"new", *IDENTITY, b"job"),
        "rpush",
    ),
    "purge": (REMOVE, (*SET, *AuditLog.KEYS, *Bin.KEYS), (LETTER, QUEUE, *IDENTITY, "{}", 1 << 20), "hset"),
    "restore": (RESTORE, (*SET, *AuditLog.KEYS, *Bin.KEYS), IDENTITY, "zadd"),
}


@pytest.fixture(scope="module", params=KINDS)
def fragile(request: pytest.FixtureRequest) -> Iterator[Server]:
    with Server(request.param) as server:
        yield server


def without(server: Server, command: str) -> redis_py.Redis:
    server.client.execute_command("ACL", "SETUSER", "u", "reset", "on", "nopass", "~*", "+@all", f"-{command}")
    return server.connect(username="u", password="any")


def run(client: redis_py.Redis, action: str) -> object:
    script, names, args, _ = CASES[action]
    text = CREDULOUS + script.text
    try:
        return client.eval(text, len(names), *names, *args)
    except redis_py.ResponseError as error:
        return refusals.refusal_of(error)


@pytest.mark.parametrize("action", CASES)
def test_the_entry_stands_where_it_stood(fragile: Server, action: str) -> None:
    before = prepare(fragile.client, action)
    client = without(fragile, CASES[action][3])
    fragile.client.config_resetstat()
    assert run(client, action) is Refusal.NOT_ALLOWED
    removed, put_back = {"redrive": ("zrem", "zadd"), "purge": ("zrem", "zadd"), "restore": ("hdel", "hset")}[action]
    calls = {name.removeprefix("cmdstat_"): row["calls"] for name, row in fragile.client.info("commandstats").items()}
    assert (calls.get(removed), calls.get(put_back)) == (1, 1)  # it did leave, and did come back
    assert contents(fragile.client) == before


@pytest.mark.parametrize("action", CASES)
def test_with_the_rights_the_same_text_does_it(fragile: Server, action: str) -> None:
    prepare(fragile.client, action)
    assert run(fragile.client, action) == 1


@pytest.mark.parametrize("score", ["604800", "-inf", "+inf", "0.1", "1e300", "9007199254740993", "1795955390586.25"])
def test_with_the_very_score_that_it_had(fragile: Server, score: str) -> None:
    redis = fragile.client
    prepare(redis, "redrive")
    redis.execute_command("ZADD", keys.DEAD, score, LETTER)
    before = contents(redis)
    assert run(without(fragile, "rpush"), "redrive") is Refusal.NOT_ALLOWED
    assert contents(redis) == before


def test_a_list_that_fails_for_another_reason(fragile: Server) -> None:
    """The error itself is the answer, whatever it is."""
    before = prepare(fragile.client, "redrive")
    script, names, args, _ = CASES["redrive"]
    text = script.text.replace(b"redis.pcall('RPUSH', list, bytes)", b"redis.pcall('RPUSH', counts, bytes)")
    with pytest.raises(redis_py.ResponseError, match="WRONGTYPE"):
        fragile.client.eval(text, len(names), *names, *args)
    assert contents(fragile.client) == before
