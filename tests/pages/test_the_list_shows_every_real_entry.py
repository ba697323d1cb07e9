"""All 76 entries that real workers wrote: each is listed once, newest first, and opens."""

import re

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from tests.support.database import changed, contents
from tests.support.html import elements, get, link, rows, says
from tests.support.letters import Real, digest, real_letters
from tests.support.servers import Server


@pytest.fixture(autouse=True)
def letters(valkey: Server) -> list[Real]:
    for real in real_letters():
        valkey.client.zadd(keys.DEAD, {real.raw: float(real.score)})
    return real_letters()


def walk(client: Client, url: str, way: str) -> list[str]:
    found = []
    while url:
        page = get(client, url)
        found.append(rows(page))
        onward = elements(page, "a", rel=way)
        url = onward[0]["href"] if onward else ""
    return [address for some in (found if way == "next" else reversed(found)) for address in some]


def names(addresses: list[str]) -> list[str]:
    return [re.findall(r"-([0-9a-f]{16})/", address)[0] for address in addresses]


def test_page_by_page_each_stands_there_once(client: Client, letters: list[Real]) -> None:
    all_of_them = sorted(digest(real.raw)[:16] for real in letters)
    down = walk(client, "/dead-letters/?limit=7", "next")
    assert sorted(names(down)) == all_of_them
    page = get(client, "/dead-letters/?limit=100")
    assert [row["id"] for row in elements(page, "tr") if "id" in row] == names(rows(page))
    last_page = get(client, "/dead-letters/?undated=1&limit=100")
    assert len(rows(last_page)) == 10


def test_up_again_they_are_the_same(client: Client) -> None:
    url, pages = "/dead-letters/?limit=20", list[list[str]]()
    while url:
        page = get(client, url)
        pages.append(names(rows(page)))
        onward = elements(page, "a", rel="next")
        url, last = (onward[0]["href"] if onward else ""), page
    back = elements(last, "a", rel="prev")
    assert len(pages) == 4
    for shown in reversed(pages[:-1]):
        page = get(client, back[0]["href"])
        assert names(rows(page)) == shown
        back = elements(page, "a", rel="prev")
    assert back == []


def test_each_opens_by_its_link(client: Client) -> None:
    addresses = walk(client, "/dead-letters/?limit=100", "next")
    assert len(addresses) == 76
    for address in addresses:
        page = get(client, address)
        assert page.status_code == 200, address
        assert len(elements(page, "section", id="action")) == 1


def test_it_says_how_many_and_where_one_is(client: Client) -> None:
    page = get(client, "/dead-letters/")
    assert "76 dead letters" in says(page)
    assert "1–50 of 66 , newest first" in says(page)
    assert "+ 10 without a death time: show" in says(page)
    older = get(client, elements(page, "a", rel="next")[0]["href"])
    assert "51–66 of 66, then 10 of 10 without a death time" in says(older)
    assert "Their score is a lifetime (604800), not a time. * = read from error.failed_at" in says(older)


def test_those_without_a_death_time_have_a_list_of_their_own(client: Client) -> None:
    page = get(client, link(get(client, "/dead-letters/"), "+ 10 without a death time: show"))
    assert "10 dead letters without a death time" in says(page)
    assert "1–10 of 10 , last jid first" in says(page)
    assert len(rows(page)) == 10
    assert all("/604800-" in address for address in rows(page))
    assert elements(page, "a", rel="prev") == []


def test_a_queue_has_a_list_of_its_own(client: Client, letters: list[Real]) -> None:
    reports = [real for real in letters if b'"queue":"reports"' in real.raw]
    page = get(client, "/dead-letters/?queue=reports")
    assert len(rows(page)) == len(reports) == 8
    assert "8 dead letters in reports of 76 in all" in says(page)
    assert {q["href"] for q in elements(page, "a", aria_current="true")} == {"/dead-letters/?queue=reports"}


def test_an_entry_without_a_queue_name_is_counted_and_listed(client: Client) -> None:
    page = get(client, link(get(client, "/dead-letters/"), "no queue name 1"))
    assert "1 dead letter without a queue name" in says(page)
    assert len(rows(page)) == 1


def test_rows_say_what_needs_a_look(client: Client) -> None:
    page = get(client, "/dead-letters/?limit=100")
    words = says(page)
    for badge in ("4 deaths of this job", "cannot be redriven", "had expired", "not UTF-8"):
        assert badge in words
    assert "Placeholder cannot be redriven JoobQ could not parse this job" in words
    why = [given["title"] for given in elements(page, "span", class_="badge bad")]
    assert {reason.partition(".")[0] for reason in why} == {"A placeholder", "Its jid is no UUID"}


def test_deaths_of_one_job_stand_under_its_newest(client: Client) -> None:
    page = get(client, "/dead-letters/?limit=100&queue=emails")
    order = [given["class"] for given in elements(page, "tr") if given.get("class", "").startswith("row")]
    assert order[3:7] == ["row lead", "row death", "row death", "row death"]
    assert says(page).count("same job, died 12:31:58 differs in failed_at, system_context") == 10


def test_a_fragment_is_the_list_with_its_title_and_counts(client: Client) -> None:
    answer = get(client, "/dead-letters/?queue=reports", target="results")
    assert answer.status_code == 200
    beside = re.findall(r"<\w+\b[^>]*? id=\"([\w-]+)\"[^>]* hx-swap-oob=\"true\"", answer.content.decode())
    assert beside == ["head", "incident", "trend", "sift", "queues", "total", "binned", "queue-choice"]
    assert b"<html" not in answer.content
    assert elements(answer, "section", id="results")[0]["data-say"] == "8 in reports"


def test_looking_changes_nothing_but_the_counts(client: Client, valkey: Server) -> None:
    get(client, "/dead-letters/")
    before = contents(valkey.client)
    for address in walk(client, "/dead-letters/?limit=100", "next")[::8]:
        get(client, address)
    assert changed(before, contents(valkey.client)) == set()
