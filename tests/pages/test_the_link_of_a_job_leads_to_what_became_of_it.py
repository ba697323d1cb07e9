"""/jobs/<jid>/ is the link that alert messages carry: one entry is shown, several to choose from, none is explained."""

from collections.abc import Iterator

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.dead_letters import DeadLetterQueue
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


def test_they_are_called_one_job_only_where_they_are(client: Client, valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED, letter(1, queue="invoices", death=1): DIED + 1})
    assert "They hold the same job and differ in the error." in says(get(client, f"/jobs/{jid(1)}/"))
    valkey.client.zadd(keys.DEAD, {letter(1, queue="invoices", death=2, amount=1): DIED + 2})
    words = says(get(client, f"/jobs/{jid(1)}/"))
    assert "same job and" not in words
    assert "They do not all hold the same job: look at each before you press." in words


def test_of_several_one_is_to_be_chosen(client: Client, valkey: Server) -> None:
    deaths = [letter(1, death=n) for n in range(3)]
    valkey.client.zadd(keys.DEAD, {raw: DIED + n for n, raw in enumerate(deaths)})
    page = get(client, f"/jobs/{jid(1)}/")
    assert page.status_code == 200
    assert "3 deaths of this job are here" in says(page)
    assert "Redrive one of them: one action sends one copy." in says(page)
    links = [given["href"] for given in elements(page, "a", class_="btn sm open")]
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
    assert "Restored by Ann Āboliņa" in says(get(client, f"/jobs/{jid(1)}/"))
    valkey.client.zrem(keys.DEAD, LETTER)
    for url, what in ((ENTRY, "No entry with these bytes"), (f"/jobs/{jid(1)}/", "No entry of this job")):
        gone = get(client, url)
        assert gone.status_code == 410
        for word in ("Gone, and not by this dashboard", what, "Restored by Ann Āboliņa and nothing since"):
            assert word in says(gone)
        assert "no trace" not in says(gone)


def test_taken_by_another_tool_with_its_job_still_here(client: Client, valkey: Server) -> None:
    other = letter(1, death=9)
    valkey.client.zadd(keys.DEAD, {other: DIED})
    page = get(client, ENTRY)
    assert page.status_code == 410
    for word in (
        "Gone, and not by this dashboard",
        "No entry with these bytes",
        "but 1 other entry of this job: looked at the only entry",
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


ALL = 2 * BUDGET + 1


@pytest.fixture
def long_set(client: Client, valkey: Server) -> Iterator[Client]:
    """The job's entry stands below two looks' worth of others."""
    valkey.client.zadd(keys.DEAD, {letter(2 + n): DIED + n for n in range(2 * BUDGET)} | {LETTER: DIED - 1})
    with redis_at(valkey.url):
        yield client


def test_a_long_set_is_looked_through_in_steps(long_set: Client) -> None:
    page = get(long_set, f"/jobs/{jid(1)}/")
    assert page.status_code == 404
    assert f"It was not found among the newest {BUDGET:,} of {ALL:,} entries and is not in the audit log." in says(page)
    second = get(long_set, link(page, "Keep looking"))
    assert second.status_code == 404
    assert f"not found among the newest {2 * BUDGET:,} of {ALL:,} entries" in says(second)
    third = get(long_set, link(second, "Keep looking"))
    assert third.status_code == 200
    assert "Dead letter in invoices" in says(third)


def test_while_more_is_to_be_looked_at_no_record_is_the_end(long_set: Client, valkey: Server) -> None:
    queue, before = dead_letters(valkey.client), letter(1, death=7)
    valkey.client.zadd(keys.DEAD, {before: DIED})
    queue.redrive_entries([EntryRef(DIED, digest(before), jid(1))], by=ANN, operation="op-1")
    page = get(long_set, f"/jobs/{jid(1)}/")
    assert page.status_code == 410
    assert f"None of this job is among the newest {BUDGET:,} of {ALL:,} entries" in says(page)
    assert "any more" not in says(page)
    assert "Nothing for you to do here." not in says(page)
    second = get(long_set, link(page, "Keep looking"))
    assert "Dead letter in invoices" in says(get(long_set, link(second, "Keep looking")))


def test_an_entry_of_a_long_set_is_not_called_gone(long_set: Client, valkey: Server) -> None:
    """Its score was renewed: it stands where this look does not come to."""
    queue, other = dead_letters(valkey.client), letter(1, death=7)
    valkey.client.zadd(keys.DEAD, {other: DIED})
    queue.purge_entries([EntryRef(DIED, digest(other), jid(1))], by=ANN, operation="op-1")
    for url in (ENTRY, ENTRY.partition("?")[0]):
        page = get(long_set, url)
        assert page.status_code == 404
        assert "Gone" not in says(page)
        assert f"of {ALL:,} entries" in says(page)
    page = get(long_set, ENTRY)
    assert "Not found, and not taken by this dashboard" in says(page)
    assert f"and none of this job among the newest {BUDGET:,} of {ALL:,} entries" in says(page)
    answer = get(long_set, link(get(long_set, link(page, "Keep looking")), "Keep looking"))
    assert "Dead letter in invoices" in says(answer)


def test_a_request_looks_once_for_a_job(long_set: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    looks, near = list[str](), DeadLetterQueue.near
    monkeypatch.setattr(DeadLetterQueue, "near", lambda queue, job: looks.append(job) or near(queue, job))
    at_once = f"/dead-letters/{DIED - 1}-{digest(LETTER)}/?jid={jid(1)}"
    check = f"/operations/op/?action=redrive&entry={DIED + 1}-{digest(LETTER)}-{jid(1)}"
    for url in (f"/jobs/{jid(1)}/", f"/jobs/{jid(ALL)}/", at_once, ENTRY, check):
        get(long_set, url)
        assert looks == [looks[0]], url
        looks.clear()


def test_without_a_jid_it_leads_to_the_list(client: Client) -> None:
    answer = get(client, "/jobs/")
    assert (answer.status_code, answer["Location"]) == (302, "/dead-letters/")
