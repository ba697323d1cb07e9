"""`python -m demo`, which is what `make run` runs: the first page shows the letters, and nothing is left behind."""

import signal
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import redis

from demo import deliveries
from joobq_admin.joobq.delivery import Ledger
from tests.support.demo import Run
from tests.support.eventually import eventually
from tests.support.servers import Server, connect, free_port

DEAD = "joobq:dead_letter"
FILLED = 2 * (deliveries.RECEIPTS + 5) + 2  # requests in its two ledgers at first


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    runs: list[Run] = []

    def start(port: int = 0, folder: Path = tmp_path / "data", **environment: str) -> Run:
        runs.append(Run(folder, port or free_port(), **environment))
        return runs[-1]

    yield start
    for one in runs:
        if one.process.poll() is None:
            one.end(signal.SIGTERM)


def closed(port: int) -> bool:
    with connect(port) as client, suppress(redis.ConnectionError):
        return not client.ping()
    return True


def test_a_signal_ends_all_and_a_new_start_finds_what_was_there(run: Callable[..., Run]) -> None:
    for start, name in enumerate([signal.SIGINT, signal.SIGTERM, signal.SIGHUP]):
        demo = run()
        demo.wait_until_it_says_where()
        with urllib.request.urlopen(demo.url, timeout=10) as page:
            assert b"dead letters" in page.read()
        with connect(demo.redis_port()) as client:
            assert client.zcard(DEAD) > 1200
            assert client.incr("starts") == start + 1
            ledgers = [Ledger(client, *names) for names in Ledger.discover(client)]
            assert [ledger.stats().quarantined for ledger in ledgers] == [1, 0]
            if start == 2:  # requests come in while it runs
                eventually(lambda held=ledgers: sum(ledger.stats().records for ledger in held) > FILLED, timeout=30)
            client.eval("for key = 1, 50000 do redis.call('INCR', key) end", 0)  # what takes a while to load
        port = demo.redis_port()
        assert f"JoobQ Admin is at {demo.url}/" in demo.end(name)
        assert demo.process.returncode == 0
        assert not demo.serves()
        assert closed(port)


def test_after_a_kill_the_next_start_takes_the_server_that_still_runs(run: Callable[..., Run]) -> None:
    demo = run()
    demo.wait_until_it_says_where()
    with connect(demo.redis_port()) as client:
        server = client.info()["process_id"]
    demo.end(signal.SIGKILL)
    eventually(lambda: not demo.serves())  # the dashboard ends by itself, so its port is free
    again = run(port=int(demo.url.rpartition(":")[2]))
    again.wait_until_it_says_where()
    with connect(again.redis_port()) as client:
        assert client.info()["process_id"] == server
    port = again.redis_port()
    again.end(signal.SIGINT)
    assert closed(port)


def test_with_a_redis_of_ones_own_nothing_is_written_there(run: Callable[..., Run], valkey: Server) -> None:
    valkey.client.zadd(DEAD, {"mine": 1.0})
    demo = run(JOOBQ_ADMIN_REDIS_URL=valkey.url)
    demo.wait_until_it_says_where()
    assert demo.end(signal.SIGINT).count("JoobQ Admin is at") == 1
    assert valkey.client.keys() == [DEAD.encode()]
    assert valkey.client.zrange(DEAD, 0, -1) == [b"mine"]
    assert not demo.folder.exists()


def test_beside_one_that_runs_another_is_told_the_way_out(run: Callable[..., Run]) -> None:
    demo = run()
    demo.wait_until_it_says_where()
    port = int(demo.url.rpartition(":")[2])
    on_its_port = run(port=port, folder=demo.folder.parent / "other")
    over_its_samples = run()
    assert f"Port {port} is taken. PORT={port + 1} make run takes another." in on_its_port.said()
    assert "The demo runs already." in over_its_samples.said()
    assert (on_its_port.process.returncode, over_its_samples.process.returncode) == (1, 1)
    assert demo.serves()


def test_a_wrong_setting_is_told_and_nothing_is_left_running(run: Callable[..., Run]) -> None:
    demo = run(JOOBQ_ADMIN_AUTH="nobody")
    assert "JOOBQ_ADMIN_AUTH" in demo.said()
    assert demo.process.returncode != 0
    assert not (demo.folder / "port").exists()
