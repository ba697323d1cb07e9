"""When entries died, as bars and in words, and the error that most of the last hour died of: each narrows the list."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from django.http import HttpResponse
from django.test import Client

from joobq_admin import connection
from joobq_admin.joobq import background, keys
from tests.support.background import nobody_counts
from tests.support.html import elements, get, link, rows, says
from tests.support.letters import ERROR, NO_TIME, letter
from tests.support.servers import Server
from tests.support.trips import sends

QUARTER = timedelta(minutes=15)
REFUSED = ERROR | {"message": "Connection to 'gateway:443' refused", "error_class": "Socket::ConnectError"}


@pytest.fixture(autouse=True)
def nothing_kept(client: Client, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    connection.lately.cache_clear()
    monkeypatch.setattr(background, "LINGER", 0.1)
    yield
    nobody_counts()


def begun(now: datetime) -> datetime:
    """Its quarter of an hour."""
    return now.replace(minute=now.minute // 15 * 15, second=0, microsecond=0)


def die(valkey: Server, at: datetime, *numbers: int, **fields: object) -> None:
    score = int(at.timestamp() * 1000)
    valkey.client.zadd(keys.DEAD, {letter(n, **fields): score for n in numbers})


@pytest.fixture
def peak(valkey: Server) -> datetime:
    """Five in one quarter three hours ago; others an hour, five days and forty days ago, ahead, and without a time."""
    now = datetime.now(UTC)
    at = begun(now) - 12 * QUARTER
    die(valkey, at, *range(5))
    for n, ago in enumerate((timedelta(hours=1), timedelta(days=5), timedelta(days=40), timedelta(hours=-20)), 10):
        die(valkey, now - ago, n)
    valkey.client.zadd(keys.DEAD, {letter(n): NO_TIME for n in (20, 21)})
    return at


def drawn(page: HttpResponse) -> dict[str, str]:
    (drawing,) = elements(page, "svg", role="img")
    return drawing


def test_a_day_in_words(client: Client, peak: datetime) -> None:
    page = get(client, "/dead-letters/")
    first, last = f"{peak:%H:%M}", f"{peak + QUARTER:%H:%M}"
    assert "Died in the last 24 h, per 15 min 24 h 7 d 30 d 6 in all, most at " in says(page)
    assert re.fullmatch(
        f"Deaths per 15 min over 24 h: 6 in all, most at .*{first} to .*{last}: 5", drawn(page)["aria-label"]
    )
    (hot,), (bars,) = elements(page, "rect", class_="hot"), elements(page, "path", class_="bar")
    assert (hot["x"], hot["y"], hot["height"]) == ("831", "0", "64"), "twelve quarters before the last of 96"
    assert re.fullmatch(r"M9\d1 64v-13h8v13", bars["d"]), "one of five, in the hour before"
    told = "Not in it: 2 before, 2 without a death time, 1 in times to come, by a clock that is wrong."
    assert told in says(page)
    assert len(elements(page, "a", tabindex="-1")) == 24


def test_the_peak_leads_to_what_died_then(client: Client, peak: datetime) -> None:
    page = get(client, "/dead-letters/")
    (url,) = {a["href"] for a in elements(page, "a") if a["href"].endswith(f"until={peak + QUARTER:%Y-%m-%dT%H:%M}")
              and "tabindex" not in a}  # fmt: skip
    narrowed = get(client, url)
    assert len(rows(narrowed)) == 5
    assert re.search(r"5 dead letters died .*\d\d:\d\d to .*\d\d:\d\d of 11 in all, at ", says(narrowed))
    assert "1–5 of 5" in says(narrowed)
    assert elements(narrowed, "rect", class_="chosen")
    assert {each["name"] for each in elements(narrowed, "input", type="datetime-local")} == {"since", "until"}
    assert "+ 2 without a death time: show" in says(narrowed)


def test_links_over_the_bars_lead_to_every_entry_of_them_once(client: Client, peak: datetime) -> None:
    for since in ("", "7d", "30d"):
        page = get(client, f"/dead-letters/?since={since}")
        bars = elements(page, "a", tabindex="-1")
        told = sum(int(a["title"].rpartition(": ")[2]) for a in bars)
        assert told == sum(len(rows(get(client, a["href"]))) for a in bars) == {"": 6, "7d": 7, "30d": 7}[since]
        assert all(a["href"].startswith("/dead-letters/?since=20") for a in bars)


@pytest.mark.parametrize(("since", "last", "per", "n"), [("7d", "7 d", "2 h", 7), ("30d", "30 d", "8 h", 7)])
def test_longer(client: Client, peak: datetime, since: str, last: str, per: str, n: int) -> None:
    page = get(client, link(get(client, "/dead-letters/"), last))
    assert f"Died in the last {last}, per {per} 24 h 7 d 30 d {n} in all" in says(page)
    assert f"{n + 1} dead letters of the last {last}ays" in says(page), "one of them in times to come"
    assert [a["href"] for a in elements(page, "a", aria_current="true")][-1] == f"/dead-letters/?since={since}"


def test_nothing_died(client: Client, valkey: Server) -> None:
    die(valkey, datetime.now(UTC) - timedelta(days=60), 1)
    page = get(client, "/dead-letters/")
    assert "0 in all Not" not in says(page)
    assert "Not in it: 1 before." in says(page)
    assert drawn(page)["aria-label"] == "Deaths per 15 min over 24 h: 0 in all"


@pytest.mark.parametrize("query", ["queue=emails", "q=a", "kind=job", "undated=1", "unknown=1", "error=E"])
def test_it_tells_of_all_so_it_stands_above_all(client: Client, peak: datetime, query: str) -> None:
    page = get(client, f"/dead-letters/?{query}")
    assert not elements(page, "figure")
    assert "figure" not in get(client, f"/dead-letters/?{query}", target="results").content.decode()


def test_one_error_of_the_last_hour(client: Client, valkey: Server) -> None:
    now = datetime.now(UTC)
    die(valkey, now - timedelta(minutes=50), *range(15), queue="invoices", error=REFUSED)
    die(valkey, now - timedelta(minutes=5), *range(20, 25), queue="emails")
    page = get(client, "/dead-letters/?queue=emails")
    first = f"{now - timedelta(minutes=50):%H:%M}"
    assert re.search(
        rf"75 % of the last hour is one error: Socket::ConnectError in invoices, first at .*{first}\. Open", says(page)
    )
    listed = get(client, link(page, "Open"))
    assert len(rows(listed)) == 15
    assert "of the last hour" not in says(listed), "this is its list"


def test_no_error_is_most_of_it(client: Client, valkey: Server) -> None:
    die(valkey, datetime.now(UTC) - timedelta(minutes=5), *range(9), error=REFUSED)
    assert "of the last hour" not in says(get(client, "/dead-letters/"))


@pytest.mark.parametrize("query", ["", "since=24h", "undated=1", "after=1795955390586~"])
def test_two_round_trips_with_all_of_it(client: Client, peak: datetime, query: str) -> None:
    get(client, f"/dead-letters/?{query}")
    for kept in (True, False):
        if not kept:
            connection.lately.cache_clear()
        with sends(connection.client()) as count:
            get(client, f"/dead-letters/?{query}")
        assert count() <= 2
