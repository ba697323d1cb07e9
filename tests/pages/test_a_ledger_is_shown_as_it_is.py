"""One ledger: its numbers, what is in flight and next, what is in quarantine; the parts that are asked for again."""

import re

import pytest
from django.http import HttpResponse
from django.test import Client

from tests.support.database import contents
from tests.support.elsewhere import redis_at
from tests.support.html import elements, get, link, says
from tests.support.ledgers import HOUR, MS, at, held, ledger_of, run_out, set_aside, spoil_header, spoil_payload
from tests.support.operators import ANN
from tests.support.servers import Server

LEDGER = at("ledger/")


def numbers(page: HttpResponse) -> str:
    (told,) = re.findall(r"(Due now .*?) (?:Gate|$)", says(page))
    return told


def test_its_numbers_rows_and_panels_and_nothing_moves(client: Client, valkey: Server) -> None:
    ledger = ledger_of(valkey.client)
    set_aside(ledger, "bad")
    held(ledger, "leased", owner="worker-1", lease=HOUR)
    ledger.settle(held(ledger, "done"))
    run_out(ledger, held(ledger, "over", lease=MS))
    ledger.admit("later", b"1", 2 * HOUR)
    ledger.admit("due", b"1")
    before = contents(valkey.client)
    page = get(client, LEDGER)
    assert page.status_code == 200
    assert contents(valkey.client) == before
    text = says(page)
    assert "6 records" in text
    assert "oldest due 0 s" in text
    assert re.search(r"Due now 1 Due later 1 next in (2 h|1 h 59 min) Leased 1 ends first in (1 h|59 min) ", text)
    assert "Lease over 1 Quarantined 1 " in text
    assert "over LEASED 1 w lease over since 0 s" in text
    assert "leased LEASED 1 worker-1 lease ends in" in text
    assert "due READY 0 due since" in text
    assert "later READY 0 due in" in text
    assert "bad The header's checksum does not fit" in text
    assert "Gate open Workers may claim and renew." in text
    assert link(page, "leased") == at("request/", id="leased")
    assert link(page, "Review the bytes") == at("request/", id="bad")
    assert elements(page, "input", type="hidden", name="namespace", value="shop")


def test_what_no_record_answers_for_is_told_as_such(client: Client, valkey: Server) -> None:
    ledger = ledger_of(valkey.client)
    ledger.admit("spoilt", b"1")
    ledger.admit("settled", b"1")
    spoil_header(ledger, "spoilt")
    valkey.client.zadd(ledger.ready_key, {"ghost": 1})
    valkey.client.zadd(ledger.leases_key, {"settled": 1})
    text = says(get(client, LEDGER))
    assert "spoilt CORRUPT the header's checksum does not fit" in text
    assert "ghost" not in text
    assert "settled READY 0 due since" in text


def test_an_empty_name_holds_nothing_and_says_so(client: Client, valkey: Server) -> None:
    page = get(client, at("ledger/", queue="never used"))
    assert page.status_code == 200
    assert "Nothing is kept under this name: it was never used, or all of it was pruned" in says(page)
    assert "Nothing is leased, and nothing waits." in says(page)
    assert valkey.client.keys() == []


def test_a_name_that_an_index_alone_knows_is_in_use(client: Client, valkey: Server) -> None:
    ledger = ledger_of(valkey.client)
    valkey.client.zadd(ledger.leases_key, {"ghost": 1})
    text = says(get(client, LEDGER))
    assert "Nothing is kept under this name" not in text
    assert "0 records" in text
    assert "Lease over 1" in text


NO_NAMES = ["", "namespace=shop", "namespace=&queue=a", "namespace=a:b&queue=c", "namespace=a&queue=%7B"]


@pytest.mark.parametrize("query", [*NO_NAMES, "namespace=a&queue=b%0A", "namespace=a&queue=b&quarantine=next"])
def test_names_that_no_ledger_can_have_are_refused(client: Client, valkey: Server, query: str) -> None:
    assert client.get(f"/deliveries/ledger/?{query}").status_code == 400


def test_the_quarantine_is_paged(client: Client, valkey: Server) -> None:
    ledger = ledger_of(valkey.client)
    ids = [f"bad {n}" for n in range(40)]
    ledger.admit_many((name, b"x" * 500) for name in ids)
    for name in ids:
        spoil_payload(ledger, name)
    ledger.claim_many("w")
    seen, url = set[str](), LEDGER
    while url:
        page = get(client, url)
        found = elements(page, "a", class_="btn sm")
        seen |= {each["aria-label"].removeprefix("Review the bytes of ") for each in found if "aria-label" in each}
        assert "The payload does not fit its digest" in says(page)
        url = next((each["href"] for each in found if "quarantine=" in each["href"]), "")
    assert seen == set(ids)


def test_what_is_asked_again_and_again_is_numbers_and_gate(client: Client, valkey: Server) -> None:
    ledger = ledger_of(valkey.client)
    held(ledger, "leased")
    ledger.close_gate(ANN, "because")
    part = get(client, LEDGER, target="numbers")
    assert numbers(part).startswith("Due now 0 Due later 0 Leased 1")
    assert elements(part, "section", id="numbers", hx_get=LEDGER)
    assert elements(part, "section", id="gate", hx_swap_oob="true")
    assert "Gate closed since" in says(part)
    rows = get(client, LEDGER, target="requests")
    assert elements(rows, "section", id="requests")
    assert "leased LEASED" in says(rows)
    for fragment in (part, rows):
        assert not elements(fragment, "main")
    with redis_at("redis://127.0.0.1:1/0"):
        assert get(client, LEDGER, target="numbers").status_code == 503
        assert get(client, LEDGER, target="requests")["HX-Redirect"] == LEDGER


@pytest.mark.parametrize("url", ["/deliveries/", LEDGER, at("request/", id="a"), "/bin/", "/audit/", "/dead-letters/"])
def test_where_redis_does_not_answer_the_words_are_true_of_any_page(client: Client, url: str) -> None:
    with redis_at("redis://127.0.0.1:1/0"):
        page = get(client, url)
    assert page.status_code == 503
    assert "All that this dashboard shows lives in Redis, so there is nothing to show until it answers." in says(page)
    assert link(page, "Try now") == url


def test_who_wants_no_news_gets_none(client: Client, valkey: Server) -> None:
    held(ledger_of(valkey.client), lease=HOUR)
    parts = {"/deliveries/": "ledgers", LEDGER: "numbers", at("request/", id="a"): "lease"}
    for chosen, every in (("", "every 5s"), ("60", "every 60s"), ("off", None)):
        client.cookies["news"] = chosen
        for url, part in parts.items():
            (found,) = elements(get(client, url), "section", id=part)
            assert found.get("hx-trigger") == every


def test_a_viewer_sees_everything_and_is_told_who_may_act(client: Client, valkey: Server) -> None:
    set_aside(ledger_of(valkey.client), "bad")
    for role, missing in (("viewer", 5), ("operator", 2), ("admin", 0)):
        client.post("/auth/dev-role", {"role": role})
        page = get(client, LEDGER)
        assert says(page).count("Your role is") == missing - (role == "viewer")
        assert ("Repairing a ledger needs Operator." in says(page)) == (role == "viewer")
        assert ("Closing a gate needs Admin." in says(page)) == (role != "admin")
        assert len(elements(page, "section", class_="sec panel-line")) == 4
        forms = [form["action"] for form in elements(page, "form", method="post") if "/deliveries/" in form["action"]]
        assert len(forms) == {"viewer": 0, "operator": 3, "admin": 5}[role]


def test_who_presses_all_the_same_is_told_what_it_needs(client: Client, valkey: Server) -> None:
    for role, view, heading, words in (
        ("viewer", "expire", "You can read this ledger, not act on it", "Ending leases needs Operator."),
        ("operator", "discard", "This needs Admin", "Releasing or discarding a record needs Admin."),
    ):
        client.post("/auth/dev-role", {"role": role})
        answer = client.post(at(view, id="a"), {"operation": "op-1"})
        assert answer.status_code == 403
        assert heading in says(answer)
        assert f"Nothing was done. Your role is {role.capitalize()}. {words}" in says(answer)
