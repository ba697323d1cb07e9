"""The list under gunicorn, as README says to run it, against the lean floor view on the same entries."""

import http.client
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from statistics import median

import redis as redis_py

from joobq_admin.joobq import keys
from joobq_admin.joobq.lookup import Cursor
from tests.bench.figures import Figure
from tests.bench.letters import fill
from tests.support.dashboard import Dashboard
from tests.support.eventually import eventually
from tests.support.servers import Server

REQUESTS = 200
FEW = 1_000
LIST = "/dead-letters/"
KB = 1_000
WEIGHT, REST = 60 * KB, 90  # asked: bytes of HTML; MB of a worker


def figures(server: Server, small: Server, n: int) -> list[Figure]:
    """`server` gets `n` entries, `small` 1,000."""
    for each, entries in ((server, n), (small, FEW)):
        each.client.flushall()
        fill(each.client, entries)
    settings = {"DJANGO_SETTINGS_MODULE": "tests.bench.floor_settings"}
    with Dashboard(server.url) as ours, Dashboard(small.url) as few, Dashboard(server.url, **settings) as floor:
        lists = {
            "list": (ours, LIST),
            "halfway": (ours, _halfway(server.client, n)),
            "few": (few, LIST),
            "floor": (floor, LIST),
        }
        for dashboard, address in lists.values():
            with asking(dashboard, address) as ask:
                ask()  # they begin to count
        for each in (server, small):
            eventually(lambda each=each: each.client.exists(keys.PROVED), timeout=600)
        ms, weight = _p50(lists), _weight(ours)
        trips, rss = _trips(server.client, ours), memory(ours)
    return [
        _against("list, 50 rows, p50", ms["list"], ms["floor"], 2),
        _against("list, halfway down, p50", ms["halfway"], ms["floor"], 2),
        _against(f"list of {n:,} / of {FEW:,}, p50", ms["list"], ms["few"], 1.2),
        Figure("round trips to Redis of a list", f"{trips}", ask="<= 2", met=trips <= 2),
        Figure("HTML of a list", f"{weight / KB:.1f} KB", ask="<= 60 KB", met=weight <= WEIGHT),
        Figure("memory of a worker that listed", f"{rss:.0f} MB", ask="<= 90 MB", met=rss <= REST),
    ]


def _against(what: str, ms: float, floor: float, most: float) -> Figure:
    return Figure(what, f"{ms:.1f} ms", f"{floor:.1f} ms", ms / floor, f"<= {most:g} x", ms / floor <= most)


def _halfway(redis: redis_py.Redis, n: int) -> str:
    ((_, score),) = redis.zrange(keys.DEAD, n // 2, n // 2, withscores=True)
    return f"{LIST}?after={Cursor(int(score))}"


@contextmanager
def asking(dashboard: Dashboard, address: str) -> Iterator[Callable[..., bytes]]:
    """Each call asks once, here or elsewhere, on a connection that is kept; a server ends one that is idle for 2 s."""
    with closing(http.client.HTTPConnection("127.0.0.1", dashboard.port, timeout=60)) as connection:

        def ask(elsewhere: str = "") -> bytes:
            connection.request("GET", elsewhere or address, headers={"Accept": "text/html"})
            answer = connection.getresponse()
            body = answer.read()
            assert answer.status in {200, 404}, body[:200]
            return body

        yield ask


def _p50(lists: dict[str, tuple[Dashboard, str]]) -> dict[str, float]:
    """In ms; they take turns, so that others on the machine disturb them alike."""
    took: dict[str, list[float]] = {name: [] for name in lists}
    with ExitStack() as stack:
        asks = {name: stack.enter_context(asking(*each)) for name, each in lists.items()}
        for _ in range(REQUESTS):
            for name, ask in asks.items():
                began = time.perf_counter()
                ask()
                took[name].append(1_000 * (time.perf_counter() - began))
    return {name: median(each) for name, each in took.items()}


def _weight(dashboard: Dashboard) -> int:
    with asking(dashboard, LIST) as ask:
        return len(ask())


def _trips(redis: redis_py.Redis, dashboard: Dashboard) -> int:
    """What the server read from sockets for one list, our question apart. The fewest: somebody else may speak to it."""

    def read() -> int:
        return int(redis.info("stats")["total_reads_processed"])

    found = list[int]()
    with asking(dashboard, LIST) as ask:
        for _ in range(20):
            before = read()
            ask()
            found.append(read() - before - 1)
    return min(found)


def memory(dashboard: Dashboard) -> float:
    """RSS of its largest process, in MB."""
    pid = dashboard.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    pages = [int(Path(f"/proc/{child}/statm").read_text().split()[1]) for child in children]
    return max(pages) * 4_096 / 1e6
