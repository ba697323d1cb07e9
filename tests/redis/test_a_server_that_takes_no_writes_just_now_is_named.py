"""Busy, loading, a replica: each is a reason of its own, nothing has changed, and later the same press is done."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
import redis as redis_py

from joobq_admin.joobq import keys
from joobq_admin.joobq.outcome import Refusal, Unreachable
from tests.support.database import contents
from tests.support.eventually import eventually
from tests.support.letters import DIED, NO_TIME, letter
from tests.support.operators import before_the_script, dead_letters
from tests.support.presses import ACTIONS, LETTER, is_done_once, prepare, press
from tests.support.servers import KINDS, Server, as_cluster, connect

pytestmark = pytest.mark.parametrize("kind", KINDS)
NewServer = Callable[..., Server]


@contextmanager
def another_script_running(server: Server) -> Iterator[None]:
    """One that changes nothing and does not end, until it is killed."""
    looping, other = server.connect(), server.connect()

    def run() -> None:
        with suppress(redis_py.ResponseError):
            looping.eval("while true do end", 0)

    thread = threading.Thread(target=run)
    thread.start()
    eventually(lambda: is_busy(other), every=0.005)
    yield
    other.script_kill()
    thread.join()


def is_busy(client: redis_py.Redis) -> bool:
    try:
        client.ping()
    except redis_py.ResponseError as error:
        return str(error).startswith("BUSY")
    return False


def test_busy_with_another_script(new_server: NewServer, kind: str) -> None:
    server = new_server(kind, "--busy-reply-threshold", "10")
    client = server.connect()
    for action in ACTIONS:
        before = prepare(server.client, action)
        with another_script_running(server):
            assert press(client, action) == Refusal.BUSY
        assert contents(server.client) == before
        assert press(client, action) == "done"
        assert is_done_once(before, contents(server.client), action)


def test_a_replica(new_server: NewServer, kind: str) -> None:
    primary = new_server(kind)
    replica = new_server(kind, replica_of=primary)
    for action in ACTIONS:
        before = prepare(primary.client, action)
        eventually(lambda: same(primary, replica))
        assert press(replica.client, action) == Refusal.READONLY
        assert contents(replica.client) == before
    for action in ACTIONS:
        before = prepare(primary.client, action)
        assert press(primary.client, action) == "done"
        after = contents(primary.client)
        assert is_done_once(before, after, action)
        eventually(lambda after=after: contents(replica.client) == after)
    assert press(replica.client, ACTIONS[-1], "another") == Refusal.READONLY


def same(primary: Server, replica: Server) -> bool:
    with suppress(redis_py.ConnectionError):  # it is still loading
        return contents(replica.client) == contents(primary.client)
    return False


def test_a_replica_that_lags_does_not_say_gone(new_server: NewServer, kind: str) -> None:
    """It does not have the entry yet: somebody who asks it is told so, not that another operator was faster."""
    server = new_server(kind)
    prepare(server.client, "redrive")
    server.client.delete(keys.DEAD, keys.BIN, keys.BIN_TIMES)
    server.client.execute_command("REPLICAOF", "127.0.0.1", "1")
    before = contents(server.client)
    for action in ACTIONS:
        assert press(server.client, action) == Refusal.READONLY
    assert contents(server.client) == before
    server.client.execute_command("REPLICAOF", "NO", "ONE")
    assert press(server.client, "redrive") == "missing"


@pytest.mark.parametrize("action", ["redrive", "purge", "restore"])
def test_a_primary_that_becomes_a_replica_amid_a_press_does_not_say_gone(
    new_server: NewServer, kind: str, action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The entry was seen, and its new primary has it perhaps: what a replica misses, its script does not tell."""
    server = new_server(kind)
    prepare(server.client, action)

    def follows_another() -> None:
        server.client.delete(keys.DEAD, keys.BIN, keys.BIN_TIMES)
        server.client.execute_command("REPLICAOF", "127.0.0.1", "1")

    before_the_script(monkeypatch, follows_another)
    assert press(server.client, action) == Refusal.READONLY


def test_a_replica_that_lost_its_primary_and_tells_nothing_old(new_server: NewServer, kind: str) -> None:
    server = new_server(kind, "--replica-serve-stale-data", "no")
    before = prepare(server.client, "redrive")
    server.client.execute_command("REPLICAOF", "127.0.0.1", "1")
    for action in ACTIONS:
        assert press(server.client, action) == Refusal.MASTERDOWN
    server.client.execute_command("REPLICAOF", "NO", "ONE")
    assert contents(server.client) == before


def test_a_replica_that_was_promoted_knows_no_scripts(new_server: NewServer, kind: str) -> None:
    primary = new_server(kind)
    replica = new_server(kind, replica_of=primary)
    before = prepare(primary.client, "restore")
    eventually(lambda: same(primary, replica))
    replica.client.execute_command("REPLICAOF", "NO", "ONE")
    replica.client.script_flush()
    assert press(replica.client, "restore") == "done"
    assert is_done_once(before, contents(replica.client), "restore")


def test_still_loading_its_data(new_server: NewServer, kind: str) -> None:
    server = new_server(kind)
    before = prepare(server.client, "redrive")
    server.client.mset({f"ballast:{n}": "x" for n in range(1_500)})
    server.client.save()
    server.command += ["--key-load-delay", "400", "--loading-process-events-interval-bytes", "1024"]
    server.stop(hard=True)
    starting = threading.Thread(target=server.start)  # waits until it is loaded
    starting.start()
    client = connect(server.port)
    eventually(lambda: is_loading(client), every=0.001)
    said = [press(client, action) for action in ACTIONS]
    assert said == [Refusal.LOADING] * len(ACTIONS)
    starting.join()
    server.client.delete(*server.client.keys("ballast:*"))
    assert contents(server.client) == before
    assert press(client, "redrive") == "done"


def is_loading(client: redis_py.Redis) -> bool:
    try:
        client.dbsize()
    except redis_py.exceptions.BusyLoadingError:
        return True
    except redis_py.ConnectionError:  # it does not listen yet
        return False
    return False


def test_its_disk_fails(new_server: NewServer, kind: str) -> None:
    """It could not save, and takes no writes until it can."""
    server = new_server(kind)
    server.client.config_set("save", "3600 1")
    obstacle = server.folder / "dump.rdb"
    for action in ACTIONS:
        before = prepare(server.client, action)
        obstacle.unlink(missing_ok=True)  # an older file of its own
        obstacle.mkdir()
        server.client.bgsave()
        eventually(lambda: server.client.info("persistence")["rdb_last_bgsave_status"] == "err")
        assert press(server.client, action) == Refusal.MISCONF
        assert contents(server.client) == before
        obstacle.rmdir()
        server.client.save()
        assert press(server.client, action) == "done"


def test_a_cluster_that_serves_no_slots(new_server: NewServer, kind: str) -> None:
    server = new_server(kind, *as_cluster())
    for action in ("redrive", "purge", "restore"):
        assert press(server.client, action) == Refusal.CLUSTERDOWN


@pytest.mark.parametrize("command", ["EVAL", "ZSCORE", "RPUSH"])
def test_a_command_was_renamed(new_server: NewServer, kind: str, command: str) -> None:
    """As a user who may not: whether the script is sent, reads, or asks for its rights."""
    server = new_server(kind, "--rename-command", command, "")
    server.client.zadd(keys.DEAD, {LETTER: NO_TIME})
    before = contents(server.client)
    assert press(server.client, "redrive") == Refusal.NOT_ALLOWED
    assert contents(server.client) == before


@pytest.mark.parametrize("protocol", [2, 3])
def test_a_password_was_set(new_server: NewServer, kind: str, protocol: int) -> None:
    """The way to say so differs: the connection is refused, or the first command on it. Nothing is done either way."""
    server = new_server(kind)
    before = prepare(server.client, "redrive")
    server.client.config_set("requirepass", "sesame")
    try:
        said = press(server.connect(protocol=protocol), "redrive")
    except Unreachable:
        said = "unreachable"
    assert said in (Refusal.NOT_ALLOWED, "unreachable")
    server.client.config_set("requirepass", "")
    assert contents(server.client) == before


def test_add_is_refused_when_memory_is_full(new_server: NewServer, kind: str) -> None:
    server = new_server(kind)
    queue = dead_letters(server.client)
    queue.add(DIED, [letter(1)])
    server.client.config_set("maxmemory", "1mb")
    before = contents(server.client)
    with pytest.raises(redis_py.exceptions.OutOfMemoryError):
        queue.add(DIED, [letter(2)])
    assert contents(server.client) == before
