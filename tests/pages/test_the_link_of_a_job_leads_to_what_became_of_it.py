"""/jobs/<jid>/ is the link that alert messages carry: one entry is shown, several to choose from, none is explained."""

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import EntryRef
from joobq_admin.joobq.lookup import BUDGET
from tests.support.elsewhere import redis_at
from tests.support.html import elements, get, link, says
from tests.support.letters import DIED, NO_TIME, digest, jid, letter
from tests.support.operators import ANN, dead_letters
from tests.support.servers import Server

LETTER = letter(1, queue="invoices")
REF = EntryRef(DIED, digest(LETTER), jid(1))
ENTRY = f"/dead-letters/{DIED}-{digest(LETTER)[:16]}/?jid={jid(1)}"


@pytest.mark.parametrize("url", [f"/jobs/{jid(1)}/", f"/jobs/?jid={jid(1)}"])
def test_one_entry_is_shown_without_a_redirect(client: Client, valkey: Server, url: str) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    page = get(client, url)
    assert page.status_code == 200
    assert "Dead letter in invoices" in says(page)
    assert elements(page, "button", id="redrive")


def test_an_entry_without_a_time_is_found_below_a_long_set(client: Client, valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, {letter(2 + n): DIED + n for n in range(BUDGET + 10)} | {LETTER: NO_TIME})
    assert "Dead letter in invoices" in says(get(client, f"/jobs/{jid(1)}/"))


def test_of_several_one_is_to_be_chosen(client: Client, valkey: Server) -> None:
    deaths = [letter(1, death=n) for n in range(3)]
    valkey.client.zadd(keys.DEAD, {raw: DIED + n for n, raw in enumerate(deaths)})
    page = get(client, f"/jobs/{jid(1)}/")
    assert page.status_code == 200
    assert "3 deaths of this job are here" in says(page)
    assert "Redrive one of them: one action sends one copy." in says(page)
    links = [given["href"] for given in elements(page, "a", class_="btn sm")]
    assert [digest(raw)[:16] in address for raw, address in zip(reversed(deaths), links, strict=True)] == [True] * 3
    assert [get(client, address).status_code for address in links] == [200] * 3


@pytest.mark.parametrize("url", [f"/jobs/{jid(1)}/", ENTRY])
def test_redriven_it_is_a_410_with_who_and_when(client: Client, valkey: Server, url: str) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    dead_letters(valkey.client).redrive_entries([REF], by=ANN, reason="Gateway is up", operation="op-1")
    page = get(client, url)
    assert page.status_code == 410
    words = says(page)
    for word in (
        "Redriven by Ann Āboliņa",
        "Redriven to invoices",
        "Gateway is up",
        "UTC",
        "Nothing for you to do here.",
    ):
        assert word in words
    assert "Redriven to invoices by Ann Āboliņa" in words
    assert get(client, link(page, "What it did")).status_code == 200
    assert link(page, "Others in invoices") == "/dead-letters/?queue=invoices"


@pytest.mark.parametrize("url", [f"/jobs/{jid(1)}/", ENTRY])
def test_purged_it_is_a_410_with_who_and_why(client: Client, valkey: Server, url: str) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    dead_letters(valkey.client).purge_entries([REF], by=ANN, reason="Duplicate", operation="op-1")
    page = get(client, url)
    assert page.status_code == 410
    for word in ("Purged by Ann Āboliņa", "Purged. This job will not run", "Duplicate"):
        assert word in says(page)


def test_dead_again_the_old_link_leads_to_the_new_entry(client: Client, valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    dead_letters(valkey.client).redrive_entries([REF], by=ANN, operation="op-1")
    new = letter(1, queue="invoices", death=5)
    valkey.client.zadd(keys.DEAD, {new: 4 * 10**12})
    page = get(client, ENTRY)
    assert page.status_code == 410
    assert "Redriven by Ann Āboliņa, and died again" in says(page)
    assert digest(new)[:16] in link(page, "Open the newer entry")
    opened = get(client, link(page, "Open the newer entry"))
    assert "died again" in says(opened)
    assert "Redriven" in says(opened)
    assert "and died again." in says(opened)


def test_brought_back_it_is_here(client: Client, valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    queue = dead_letters(valkey.client)
    queue.purge_entries([REF], by=ANN, operation="op-1")
    queue.restore([digest(LETTER)], by=ANN, operation="op-2")
    page = get(client, ENTRY)
    assert page.status_code == 200
    assert "Restored by Ann Āboliņa" in says(page)
    valkey.client.zrem(keys.DEAD, LETTER)
    gone = get(client, ENTRY)
    assert gone.status_code == 410
    assert "Gone, and not by this dashboard" in says(gone)


def test_taken_by_another_tool_with_its_job_still_here(client: Client, valkey: Server) -> None:
    other = letter(1, death=9)
    valkey.client.zadd(keys.DEAD, {other: DIED})
    page = get(client, ENTRY)
    assert page.status_code == 410
    for word in (
        "Gone, and not by this dashboard",
        "No entry with these bytes",
        "1 other entry of this job the only entry",
    ):
        assert word in says(page)
    assert digest(other)[:16] in link(page, "Open the newest of them")


@pytest.mark.parametrize("url", [f"/jobs/{jid(1)}/", "/jobs/?jid=%22%3E%3Csvg", ENTRY, ENTRY.partition("?")[0]])
def test_never_seen_is_a_404(client: Client, valkey: Server, url: str) -> None:
    valkey.client.zadd(keys.DEAD, {letter(7): DIED})
    page = get(client, url)
    assert page.status_code == 404
    assert "No entry of this job, and no trace of one" in says(page)
    assert "the only entry and the audit log, which is empty" in says(page)


def test_a_long_set_is_looked_through_in_steps(client: Client, valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, {letter(2 + n): DIED + n for n in range(2 * BUDGET)} | {LETTER: DIED - 1})
    with redis_at(valkey.url):
        page = get(client, f"/jobs/{jid(1)}/")
        assert page.status_code == 404
        assert f"of {2 * BUDGET + 1:,}" in says(page)
        second = get(client, link(page, "Keep looking"))
        assert second.status_code == 404
        third = get(client, link(second, "Keep looking"))
    assert third.status_code == 200
    assert "Dead letter in invoices" in says(third)


def test_without_a_jid_it_leads_to_the_list(client: Client) -> None:
    answer = get(client, "/jobs/")
    assert (answer.status_code, answer["Location"]) == (302, "/dead-letters/")
