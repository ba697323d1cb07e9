"""The pages of a ledger of large records, and what is pressed on them, while Redis notes how long each command took."""

import json
import re
import time
from collections.abc import Iterator
from html import unescape
from itertools import islice

from joobq_admin.joobq.delivery import MAX_BATCH, Ledger, State
from tests.bench.figures import Figure
from tests.bench.pages import P99, request
from tests.bench.stalls import watched
from tests.support.dashboard import Dashboard
from tests.support.ledgers import HOUR, at, ledger_of, spoil_payload
from tests.support.person import Person
from tests.support.servers import Server

LARGE, MOST = 10_000, 100_000  # bytes of a payload; records
ROUNDS, STEPS = 15, 200
FORM = re.compile(r'<form method="post" action="([^"]+)"([^>]*)>(.*?)</form>', re.DOTALL)
FIELD = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')


def figures(server: Server, n: int) -> list[Figure]:
    """`n` records, at most 100,000: settled ones, leased ones, a few that are corrupt, and most of them due."""
    n = min(n, MOST)
    server.client.flushall()
    ledger = ledger_of(server.client, max_records=n)
    _fill(ledger, n)
    took = dict[str, list[float]]()

    def timed(what: str, ann: Person, address: str, form: dict[str, str] | None = None) -> Person:
        began = time.perf_counter()
        headers = {"HX-Request": "true", "HX-Target": "repair"} if form else {}
        ann.go(address, form, **headers, Referer=ann.home)
        took.setdefault(what, []).append(1_000 * (time.perf_counter() - began))
        assert ann.status == 200, (address, ann.text)
        return ann

    with Dashboard(server.url) as ours, watched(server.client, server.port) as stalls:
        ann = Person(ours.url)
        for _ in range(ROUNDS):
            for what, address in _addresses(n):
                timed(what, ann, address)
        for name, button in (
            ("a step of a dry run", "See what it would mend"),
            ("a step of a repair", "Start a cycle"),
        ):
            ann.go(at("ledger/"))
            for _ in range(STEPS):
                if not (pressed := _form(ann.text, button)):
                    break
                timed(name, ann, *pressed)
                button = ""
    return [
        *(request(what, each) for what, each in took.items()),
        Figure("commands meanwhile, p99 of scripts", f"{stalls.p99:.1f} ms", ask="<= 5 ms", met=stalls.p99 <= P99),
        Figure("commands meanwhile, the longest", f"{stalls.longest:.1f} ms"),
    ]


def _fill(ledger: Ledger, n: int) -> None:
    requests = ((str(at), json.dumps({"order": at, "note": "x" * (LARGE - 40)})) for at in range(n))
    while some := list(islice(requests, MAX_BATCH)):
        ledger.admit_many(some)
    for _ in range(20):
        claims = ledger.claim_many("bench", MAX_BATCH, HOUR)
        ledger.settle_many((claim, State.COMPLETED) for claim in claims[: MAX_BATCH // 2])
    for last in range(n - 5, n):
        spoil_payload(ledger, str(last))


def _addresses(n: int) -> Iterator[tuple[str, str]]:
    yield "ledgers", "/deliveries/"
    yield "a ledger", at("ledger/")
    yield "a request that is due", at("request/", id=str(n // 2))
    yield "a request that is corrupt", at("request/", id=str(n - 1))
    yield "a request by its id alone", f"/deliveries/request/?id={n // 2}"


def _form(page: str, button: str) -> tuple[str, dict[str, str]] | None:
    """Of a button; without one, that which the page presses by itself."""
    for address, more, inner in FORM.findall(page):
        if f">{button}</button>" in inner if button else "load delay" in more:
            return unescape(address), {name: unescape(value) for name, value in FIELD.findall(inner)}
    return None
