"""Every ledger with how much it holds and whose gate is closed; where a request is, among all of them."""

from collections.abc import Callable

import pytest
from django.test import Client

from joobq_admin import connection
from joobq_admin.joobq import keys
from joobq_admin.joobq.delivery import Actor, Ledger
from joobq_admin.joobq.delivery import discovery as discovering
from tests.support.database import contents
from tests.support.elsewhere import redis_at
from tests.support.html import elements, get, link, says
from tests.support.ledgers import HOUR, MS, at, held, ledger_of, run_out, set_aside
from tests.support.servers import Server

TOMAS = Actor("u-7", "Tomás Rivera")


@pytest.fixture(autouse=True)
def nothing_known() -> None:
    connection.discovery.cache_clear()


def test_where_there_is_none_it_says_what_makes_one(client: Client, valkey: Server) -> None:
    page = get(client, "/deliveries/")
    assert page.status_code == 200
    assert "No ledger is in this Redis." in says(page)
    assert not elements(page, "table")
    assert elements(page, "a", href="/deliveries/", aria_current="page")


def test_each_is_told_by_its_numbers_and_nothing_moves(client: Client, valkey: Server) -> None:
    emails, odd = ledger_of(valkey.client), Ledger(valkey.client, "é", 'a:b "<&')
    set_aside(emails, "bad")
    held(emails, "leased")
    run_out(emails, held(emails, "over", lease=MS))
    emails.admit("later", b"1", HOUR)
    emails.admit_many((f"due {n}", b"1") for n in range(1_200))
    odd.close_gate(TOMAS, "warehouse\nmigration token=abc")
    before = contents(valkey.client)
    page = get(client, "/deliveries/")
    text = says(page)
    assert contents(valkey.client) == before
    assert "shop / emails open 1,204 1,200 1 1 1 1" in text
    assert 'é / a:b "<& closed since' in text
    assert "by Tomás Rivera: warehouse migration token=" in text
    assert "abc" not in text
    assert "nothing due" in text
    assert link(page, "shop / emails") == at("ledger/")
    assert get(client, link(page, 'é / a:b "<&')).status_code == 200
    assert "100,000 unless they say otherwise" in text


def test_one_that_nears_what_producers_usually_allow_is_marked(client: Client, valkey: Server) -> None:
    ledger = ledger_of(valkey.client)
    valkey.client.hset(ledger.records_key, mapping={str(n): "x" for n in range(80_000)})
    assert "80,000 nears 100,000" in says(get(client, "/deliveries/"))
    valkey.client.hset(ledger.records_key, mapping={str(n): "x" for n in range(80_000, 100_001)})
    assert "nears" not in says(get(client, "/deliveries/"))  # its producers allow more


def test_what_is_not_looked_through_yet_is_said(
    client: Client, valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovering, "STEP", 10)
    monkeypatch.setattr("joobq_admin.pages.ledgers.SECONDS", 0)
    valkey.client.mset({f"other {n}": "" for n in range(300)})
    ledger_of(valkey.client).admit("a", b"1")
    first = get(client, "/deliveries/")
    assert "Found so far: not all keys of this Redis were looked through yet." in says(first)
    assert "there may be other ledgers" in says(get(client, "/deliveries/request/?id=none"))
    looks = [says(get(client, "/deliveries/", target="ledgers")) for _ in range(100)]
    assert "so far" not in looks[-1]
    assert "shop / emails" in looks[-1]


@pytest.mark.parametrize("kind", ["records_key", "ready_key", "leases_key", "quarantine_key", "gate_key"])
def test_one_that_cannot_be_read_hides_no_other(client: Client, valkey: Server, kind: str) -> None:
    """Nor what is known of a request elsewhere, nor that it may be there."""
    for queue in ("a", "broken", "c", "d"):
        Ledger(valkey.client, "shop", queue).admit(f"in {queue}", b"1")
    key = getattr(Ledger(valkey.client, "shop", "broken"), kind)
    valkey.client.delete(key)
    valkey.client.set(key, "no hash") if kind != "gate_key" else valkey.client.hset(key, "no", "text")
    page = get(client, "/deliveries/")
    assert page.status_code == 200
    words = "WRONGTYPE Operation against a key holding the wrong kind of value"
    assert f"shop / broken not read Redis said: {words} shop / c" in says(page)
    assert [queue for queue in "acd" if f"shop / {queue} open 1 1 0" not in says(page)] == []
    assert get(client, "/deliveries/request/?id=in+d").status_code == 302
    if kind in ("records_key", "quarantine_key"):
        nowhere = get(client, "/deliveries/request/?id=in+broken")
        assert "Nothing is kept under in broken in 3 ledgers" in says(nowhere)
        assert "Redis does not let us look in shop / broken." in says(nowhere)
        assert link(nowhere, "shop / broken") == "/deliveries/request/?namespace=shop&queue=broken&id=in+broken"


@pytest.mark.parametrize("kind", keys.DELIVERY_KINDS)
def test_of_one_that_cannot_be_read_its_page_names_the_key(client: Client, valkey: Server, kind: str) -> None:
    ledger = ledger_of(valkey.client)
    set_aside(ledger)
    key, other = getattr(ledger, f"{kind}_key"), "string" if kind != "gate" else "list"
    valkey.client.delete(key)
    valkey.client.set(key, "?") if other == "string" else valkey.client.rpush(key, "?")
    page = get(client, at("ledger/"))
    assert page.status_code == 503
    assert "It answers, but not with what this page shows. Nothing was changed." in says(page)
    words = "Redis said WRONGTYPE Operation against a key holding the wrong kind of value: "
    assert f"{words}{key} is a {other}, not a {keys.DELIVERY_KINDS[kind]} " in says(page)


def test_what_nobody_may_read_is_told_of_each(
    client: Client, valkey: Server, new_server: Callable[..., Server]
) -> None:
    server = new_server()
    for n in range(120):
        Ledger(server.client, "shop", f"q{n}").admit("a", b"1")
    server.client.execute_command("ACL", "SETUSER", "default", "resetkeys", "~joobq:admin:*", "~joobq:dead*")
    with redis_at(server.url):
        assert says(get(client, "/deliveries/")).count("not read Redis said: ") == 120


def test_what_is_asked_again_and_again_is_the_table_alone(client: Client, valkey: Server) -> None:
    ledger_of(valkey.client).admit("a", b"1")
    part = get(client, "/deliveries/", target="ledgers")
    assert elements(part, "section", id="ledgers", hx_get="/deliveries/")
    assert not elements(part, "html")
    with redis_at("redis://127.0.0.1:1/0"):
        gone = get(client, "/deliveries/", target="ledgers")
        assert (gone.status_code, gone.content) == (503, b"")
        assert "HX-Redirect" not in gone
        assert "Redis does not answer" in says(get(client, "/deliveries/"))


def test_a_request_is_found_in_whichever_ledger_it_is(client: Client, valkey: Server) -> None:
    ledgers = [Ledger(valkey.client, "shop", name) for name in ("emails", "texts", "calls")]
    for ledger in ledgers[:2]:
        ledger.admit("both", b"1")
    ledgers[2].admit("é+/? 1", b"1")
    one = client.get("/deliveries/request/", {"id": "é+/? 1"})
    assert one.status_code == 302
    assert "é+/? 1" in says(get(client, one["Location"]))
    both = client.get("/deliveries/request/?id=both")
    assert "2 ledgers have a request of this id" in says(both)
    assert get(client, link(both, "shop / texts")).status_code == 200
    none = client.get("/deliveries/request/?id=none")
    assert none.status_code == 404
    assert "Nothing is kept under none in 3 ledgers" in says(none)
    assert link(none, "Look for a job of this id") == "/jobs/none/"
    for wrong in ("", "é" * 257):
        assert client.get("/deliveries/request/", {"id": wrong}).status_code == 400
