"""Two operators with the same page: the second press does nothing; its slip says who was first, when, and what now."""

import json
import re

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import EntryRef
from joobq_admin.joobq.lookup import BUDGET
from tests.support.database import changed, contents
from tests.support.elsewhere import redis_at
from tests.support.html import elements, get, hidden, link, press, says
from tests.support.letters import DIED, ERROR, digest, jid, letter
from tests.support.operators import ANN, dead_letters
from tests.support.servers import Server

LETTER = letter(1, queue="invoices")
ENTRY = f"/dead-letters/{DIED}-{digest(LETTER)[:16]}/?jid={jid(1)}"
REF = EntryRef(DIED, digest(LETTER), jid(1))


@pytest.fixture
def form(client: Client, valkey: Server) -> dict[str, str]:
    """What stands in the slip of a page that was opened before the other operator acted."""
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    return hidden(get(client, ENTRY))


def dies_again(valkey: Server, **fields: object) -> bytes:
    """The same job with another error, an hour later."""
    raw = letter(1, queue="invoices", death=3600, **fields)
    valkey.client.zadd(keys.DEAD, {raw: DIED + 10**9})
    return raw


@pytest.mark.parametrize("htmx", [True, False])
def test_already_redriven_says_by_whom_and_when(
    client: Client, valkey: Server, form: dict[str, str], htmx: bool
) -> None:
    assert dead_letters(valkey.client).redrive_entries([REF], by=ANN).done
    before = contents(valkey.client)
    answer = press(client, ENTRY, form, htmx=htmx)
    assert answer.status_code == 409
    words = says(answer)
    assert "Already redriven by Ann Āboliņa" in words
    assert re.search(r"These bytes were sent at \d\d:\d\d:\d\d, \d+ s before you\. Your press did nothing\.", words)
    assert changed(before, contents(valkey.client)) == set()
    assert get(client, link(answer, "What it did")).status_code == 200


def test_already_purged_says_by_whom(client: Client, valkey: Server, form: dict[str, str]) -> None:
    assert dead_letters(valkey.client).purge_entries([REF], by=ANN).done
    answer = press(client, ENTRY, form)
    assert answer.status_code == 409
    assert "Already purged by Ann Āboliņa" in says(answer)


def test_redriven_and_dead_again_leads_to_the_new_entry(client: Client, valkey: Server, form: dict[str, str]) -> None:
    assert dead_letters(valkey.client).redrive_entries([REF], by=ANN).done
    new = dies_again(valkey, error=ERROR | {"failed_at": "2099-01-01T00:00:00Z", "error_class": "IO::TimeoutError"})
    valkey.client.zadd(keys.DEAD, {new: 4 * 10**12})
    answer = press(client, ENTRY, form)
    assert "It died again: IO::TimeoutError, SMTP 550" in says(answer)
    assert digest(new)[:16] in link(answer, "Open the new entry")


@pytest.mark.parametrize("htmx", [True, False])
def test_changed_shows_what_differs_and_that_the_job_does_not(
    client: Client, valkey: Server, form: dict[str, str], htmx: bool
) -> None:
    new = dies_again(valkey)
    valkey.client.zrem(keys.DEAD, LETTER)
    before = contents(valkey.client)
    answer = press(client, ENTRY, form, htmx=htmx)
    assert answer.status_code == 409
    words = says(answer)
    assert "Changed since you reviewed it" in words
    assert "Nothing was redriven." in words
    assert "The job itself is unchanged: arguments, retries and expiry are the same bytes." in words
    assert "1 field differs, all written by the failure" in words
    assert "failed_at 2026-11-29T00:00:00Z 2026-11-29T01:00:00Z" in words
    assert digest(new)[:16] in link(answer, "Review the new version")
    assert changed(before, contents(valkey.client)) == set()


@pytest.mark.parametrize("fields", [{"amount": 1}, {"retries": 1}, {"expires": 6}, {"max_retries": 4}])
def test_a_job_that_is_another_is_not_called_the_same(
    client: Client, valkey: Server, form: dict[str, str], fields: dict[str, int]
) -> None:
    dies_again(valkey, **fields)
    valkey.client.zrem(keys.DEAD, LETTER)
    words = says(press(client, ENTRY, form))
    assert "The job itself is unchanged" not in words
    assert "The job itself is not the same bytes: look before you press." in words


@pytest.mark.parametrize(
    "reviewed", ["", "nonsense", "[]", '{"job":1}', "x" * 100_000, json.dumps({"error": {"a": 1}})]
)
def test_without_what_was_reviewed_nothing_is_claimed(
    client: Client, valkey: Server, form: dict[str, str], reviewed: str
) -> None:
    dies_again(valkey)
    valkey.client.zrem(keys.DEAD, LETTER)
    answer = press(client, ENTRY, form | {"reviewed": reviewed})
    assert answer.status_code == 409
    words = says(answer)
    assert "Changed since you reviewed it" in words
    assert "The job itself" not in words
    assert "differ" not in words


def test_gone_without_a_record_says_that_nobody_here_did_it(
    client: Client, valkey: Server, form: dict[str, str]
) -> None:
    valkey.client.zrem(keys.DEAD, LETTER)
    before = contents(valkey.client)
    answer = press(client, ENTRY, form)
    assert answer.status_code == 409
    assert "Gone, and not by this dashboard" in says(answer)
    assert "Nothing was redriven." in says(answer)
    assert changed(before, contents(valkey.client)) == set()


def test_the_answer_takes_the_place_of_the_slip(client: Client, valkey: Server, form: dict[str, str]) -> None:
    dead_letters(valkey.client).redrive_entries([REF], by=ANN)
    answer = press(client, ENTRY, form)
    assert len(elements(answer, "section", id="action")) == 1
    assert b"<html" not in answer.content


def test_restored_and_then_taken_by_another_tool(client: Client, valkey: Server, form: dict[str, str]) -> None:
    queue = dead_letters(valkey.client)
    queue.purge_entries([REF], by=ANN, operation="op-1")
    queue.restore([REF.digest], by=ANN, operation="op-2")
    valkey.client.zrem(keys.DEAD, LETTER)
    answer = press(client, ENTRY, form)
    assert answer.status_code == 409
    assert "the last record of it is: restored by Ann Āboliņa. Nothing was redriven." in says(answer)


def test_in_a_long_set_it_is_not_called_gone(client: Client, valkey: Server, form: dict[str, str]) -> None:
    valkey.client.zrem(keys.DEAD, LETTER)
    valkey.client.zadd(keys.DEAD, {letter(2 + n): DIED + n for n in range(2 * BUDGET)})
    with redis_at(valkey.url):
        answer = press(client, ENTRY, form)
    assert answer.status_code == 409
    assert "Not found, and not taken by this dashboard" in says(answer)
    assert f"It was not found among the newest {BUDGET:,} of {2 * BUDGET:,} entries" in says(answer)
    assert "Gone" not in says(answer)
    assert "/jobs/?jid=" in link(answer, "Keep looking")
