"""/dead-letters/fresh: what is new since a list was read. Asked again and again it answers nothing, or one element."""

import re
from datetime import UTC, datetime

import pytest
from django.http import HttpResponse
from django.test import Client

from joobq_admin import connection
from joobq_admin.joobq import keys
from tests.support.database import changed, contents
from tests.support.elsewhere import redis_at
from tests.support.html import elements, get, says
from tests.support.letters import NO_TIME, letter
from tests.support.servers import Server, free_port
from tests.support.trips import sends

NOW = int(datetime.now(UTC).timestamp() * 1000)


@pytest.fixture(autouse=True)
def letters(valkey: Server) -> None:
    die(valkey, 0, 1, 2)
    die(valkey, 3, queue="invoices", score=NO_TIME)


def die(valkey: Server, *numbers: int, queue: str = "emails", score: int = NOW) -> None:
    valkey.client.zadd(keys.DEAD, {letter(n, queue): score for n in numbers})


def watched(page: HttpResponse) -> dict[str, str]:
    """The element that asks what is new."""
    (element,) = elements(page, "div", id="fresh")
    return element


def asked(client: Client, page: HttpResponse) -> HttpResponse:
    return get(client, watched(page)["hx-get"], target="fresh")


def test_nothing(client: Client) -> None:
    page = get(client, "/dead-letters/")
    assert watched(page)["hx-get"] == f"/dead-letters/fresh?seen={NOW}.4"
    assert watched(page)["hx-trigger"] == "every 5s, look"
    answer = asked(client, page)
    assert (answer.status_code, answer.content) == (204, b"")


def test_new_ones_are_told_once_and_lead_to_the_list_that_has_them(client: Client, valkey: Server) -> None:
    page = get(client, "/dead-letters/?queue=emails&since=24h")
    die(valkey, 4, 5, score=NOW + 1)
    die(valkey, 6, queue="invoices", score=NOW + 1)
    told = asked(client, page)
    assert told.status_code == 200
    assert "2 new entries Show" in says(told)
    assert elements(told, "a", class_="fresh", href="/dead-letters/?queue=emails&since=24h", hx_target="#results")
    assert 'id="total" hx-swap-oob="true">7<' in told.content.decode()
    assert "<html" not in told.content.decode()
    assert asked(client, told).status_code == 204
    die(valkey, 7, score=NOW + 2)
    assert "3 new entries" in says(asked(client, told))


def test_one_and_more_than_are_looked_at(client: Client, valkey: Server) -> None:
    page, of_queue = get(client, "/dead-letters/"), get(client, "/dead-letters/?queue=emails")
    die(valkey, 4, score=NO_TIME)
    assert "1 new entry Show" in says(asked(client, page))
    assert says(asked(client, of_queue)) == "5", "those without a time it cannot tell apart by queue"
    die(valkey, *range(10, 260), score=NOW + 1)
    assert "251 new entries" in says(asked(client, page))
    assert "200 or more new entries" in says(asked(client, of_queue))


def test_what_left_changes_the_number_alone(client: Client, valkey: Server) -> None:
    page = get(client, "/dead-letters/")
    valkey.client.zrem(keys.DEAD, letter(0, "emails"))
    told = asked(client, page)
    assert says(told) == "3"
    assert asked(client, told).status_code == 204


def test_a_page_further_down_and_an_empty_one_ask_too(client: Client, valkey: Server) -> None:
    older = get(client, "/dead-letters/?limit=1&after=604801~")
    assert watched(older)["hx-get"] == f"/dead-letters/fresh?seen={NOW}.4"
    none = get(client, "/dead-letters/?q=no+such")
    die(valkey, 4, score=NOW + 1)
    assert "1 new entry" in says(asked(client, older))
    assert says(asked(client, none)) == "5"


@pytest.mark.parametrize(
    ("news", "trigger"),
    [("1", "every 1s, look"), ("15", "every 15s, look"), ("60", "every 60s, look"), ("7", "every 5s, look")],
)
def test_as_often_as_its_reader_wants(client: Client, valkey: Server, news: str, trigger: str) -> None:
    client.cookies["news"] = news
    page = get(client, "/dead-letters/")
    assert watched(page)["hx-trigger"] == trigger
    die(valkey, 4, score=NOW + 1)
    assert watched(asked(client, page))["hx-trigger"] == trigger


def test_not_at_all_and_that_is_said(client: Client) -> None:
    assert client.post("/display/", {"news": "off"}).status_code == 303
    page = get(client, "/dead-letters/")
    assert "hx-get" not in watched(page)
    assert re.search(r"Read \d\d:\d\d:\d\d UTC\. Nothing newer is looked for\.", says(page))


def test_an_answer_after_none_takes_back_what_was_said(client: Client) -> None:
    page = get(client, "/dead-letters/")
    answer = get(client, f"{watched(page)['hx-get']}&stale=1", target="fresh")
    assert (answer.status_code, says(answer)) == (200, "4")
    assert asked(client, answer).status_code == 204
    (results,) = elements(page, "section", id="results")
    assert re.fullmatch(r"Read \d\d:\d\d:\d\d UTC\. No answer since\.", results["data-stale"])


@pytest.mark.parametrize(
    "query", ["", "seen=", "seen=1", "seen=nan.1", "seen=1.x", "seen=1.1&told=x", "seen=1.1&after=1~", "seen=1.1&x=1",
              "seen=1.1&told=1.1.1", "seen=1.1&kind=x", "seen=1.1&stale=2", "seen=1.1&seen=1.1"]
)  # fmt: skip
def test_what_no_list_asks(client: Client, query: str) -> None:
    assert get(client, f"/dead-letters/fresh?{query}", target="fresh").status_code == 400


def test_no_answer_is_no_page(client: Client) -> None:
    """The script that asks leaves the page where it is: test_a_list_stands_open.py."""
    page = get(client, "/dead-letters/")
    with redis_at(f"redis://127.0.0.1:{free_port()}/0"):
        assert asked(client, page).status_code == 503


def test_looking_is_one_round_trip_and_changes_nothing(client: Client, valkey: Server) -> None:
    page = get(client, "/dead-letters/")
    asked(client, page)
    before = contents(valkey.client)
    with sends(connection.client()) as count:
        asked(client, page)
    assert count() == 1
    assert changed(before, contents(valkey.client)) == set()
