"""An entry that is not here any more: how it left, as far as a record says so, and no more than that."""

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.entry import EntryRef
from joobq_admin.joobq.lookup import BUDGET
from tests.support.elsewhere import redis_at
from tests.support.html import get, link, says
from tests.support.letters import DIED, NO_TIME, digest, jid, letter
from tests.support.operators import ANN, BOB, dead_letters
from tests.support.records import kept, record
from tests.support.servers import Server

LETTER, OTHER = letter(1, queue="invoices"), letter(2, queue="emails")
REF = EntryRef(DIED, digest(LETTER), jid(1))
JOB = f"/jobs/{jid(1)}/"
UNTOLD = "It left without a record: by JoobQ or another tool."
WENT = "It went then, unless it had left before. It cannot be brought back."


def address(score: int = DIED) -> str:
    return f"/dead-letters/{score}-{digest(LETTER)[:16]}/?jid={jid(1)}"


@pytest.fixture(autouse=True)
def queue(client: Client, valkey: Server) -> DeadLetterQueue:
    queue = dead_letters(valkey.client)
    queue.add(DIED, [LETTER, OTHER])
    return queue


def took_it_away(valkey: Server) -> None:
    """As another tool does."""
    assert valkey.client.zrem(keys.DEAD, LETTER)


def test_with_everything(client: Client, queue: DeadLetterQueue) -> None:
    queue.purge_all(by=ANN, reason="Load test", operation="op-1")
    page = get(client, address())
    assert page.status_code == 410
    words = says(page)
    assert "The entry this link points to is no longer in dead letters" in words
    for word in ("Everything was purged by Ann Āboliņa, ", "for good 2 entries", "Load test", WENT):
        assert word in words
    assert link(page, "What it did") == "/operations/op-1/"
    assert "not by this dashboard" not in words


def test_with_all_of_its_queue(client: Client, queue: DeadLetterQueue) -> None:
    """A record of its job says which queue that is."""
    queue.add(DIED + 1, [letter(1, queue="invoices", death=1)])
    queue.purge_entries([EntryRef(DIED + 1, digest(letter(1, queue="invoices", death=1)), jid(1))], operation="op-0")
    queue.purge_all("invoices", by=ANN, operation="op-1")
    words = says(get(client, address()))
    assert "Everything in invoices was purged by Ann Āboliņa, " in words
    assert "It went then if it was there when they were counted: no record says so." in words


def test_with_all_of_a_queue_that_was_perhaps_its_own(client: Client, queue: DeadLetterQueue) -> None:
    queue.purge_all("invoices", by=ANN, operation="op-1")
    page = get(client, address())
    assert page.status_code == 410
    words = says(page)
    assert "Everything in invoices was purged by Ann Āboliņa, " in words
    assert "It went then if it was in invoices and was there when they were counted: no record says so." in words


@pytest.mark.parametrize(
    ("score", "died"), [(DIED, "2026-11-29T12:29:50.586Z"), (NO_TIME, "(score 604800 is no time)")]
)
def test_the_receipt_of_a_purge_is_exact(
    client: Client, queue: DeadLetterQueue, valkey: Server, score: int, died: str
) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: score})
    queue.purge_entries([EntryRef(score, digest(LETTER), jid(1))], by=ANN, reason="Duplicate", operation="op-1")
    words = says(get(client, JOB))
    (record,) = queue.audit.of_operation("op-1") if queue.audit else ()
    assert record.at
    when = record.at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    for line in (
        "Dead letter purged job " + jid(1), "queue invoices", f"died {died}", f"reviewed sha256 {digest(LETTER)}",
        f"when {when}", "by Ann Āboliņa (u-1)", "reason Duplicate", "operation op-1",
    ):  # fmt: skip
        assert line in words


@pytest.mark.parametrize("other", ["emails", ""])
def test_another_queue_was_purged(client: Client, queue: DeadLetterQueue, valkey: Server, other: str) -> None:
    queue.purge_entries([REF], by=ANN, operation="op-1")
    queue.restore([REF.digest], by=ANN, operation="op-2")
    queue.purge_all(other, by=BOB, operation="op-3")
    took_it_away(valkey)
    words = says(get(client, address()))
    assert "Gone, and not by this dashboard" in words
    assert "Restored by Ann Āboliņa and nothing since" in words
    assert "Bob" not in words


def test_what_names_no_queue_was_purged(client: Client, queue: DeadLetterQueue, valkey: Server) -> None:
    queue.purge_all("", by=ANN, operation="op-1")
    took_it_away(valkey)
    words = says(get(client, address()))
    assert "Everything without a queue name was purged by Ann Āboliņa" in words
    assert "It went then if it named no queue and was there when they were counted: no record says so." in words


def test_everything_was_purged_before_it_died(client: Client, queue: DeadLetterQueue, valkey: Server) -> None:
    queue.purge_all(by=ANN, operation="op-1")
    page = get(client, address(4 * 10**12))
    assert page.status_code == 404
    assert "purged" not in says(page)


def test_of_two_purges_of_everything_it_went_with_the_first(client: Client, queue: DeadLetterQueue) -> None:
    queue.purge_all(by=ANN, operation="op-1")
    queue.purge_all(by=BOB, operation="op-2")
    assert "Everything was purged by Ann Āboliņa" in says(get(client, address()))


def test_without_a_death_time_it_is_not_certain(client: Client, queue: DeadLetterQueue, valkey: Server) -> None:
    queue.purge_all(by=ANN, operation="op-1")
    page = get(client, address(NO_TIME))
    assert page.status_code == 404
    assert "Everything purged by Ann Āboliņa, " in says(page)
    assert "It went then if it was there: no record says so." in says(page)
    valkey.client.zadd(keys.DEAD, {letter(1, queue="invoices", death=9): DIED})
    page = get(client, address(NO_TIME))
    assert page.status_code == 410
    assert "It went then if it had died by then: no record says so." in says(page)


def test_the_link_of_a_job_says_that_everything_went(client: Client, queue: DeadLetterQueue) -> None:
    queue.purge_all(by=ANN, operation="op-1")
    page = get(client, JOB)
    assert page.status_code == 404
    assert "Everything purged by Ann Āboliņa, " in says(page)


@pytest.mark.parametrize("url", [address(), JOB])
def test_restored_and_then_with_everything(client: Client, queue: DeadLetterQueue, url: str) -> None:
    queue.purge_all(by=BOB, operation="op-0")
    queue.add(DIED, [LETTER])
    queue.purge_entries([REF], by=BOB, operation="op-1")
    queue.restore([REF.digest], by=BOB, operation="op-2")
    queue.purge_all(by=ANN, operation="op-3")
    words = says(get(client, url))
    assert "Everything was purged by Ann Āboliņa, " in words
    assert WENT in words


def test_restored_and_then_taken_by_another_tool(client: Client, queue: DeadLetterQueue, valkey: Server) -> None:
    queue.purge_entries([REF], by=ANN, operation="op-1")
    queue.restore([REF.digest], by=ANN, operation="op-2")
    took_it_away(valkey)
    valkey.client.lpush("joobq:processing:invoices", LETTER)
    for url in (address(), JOB):
        words = says(get(client, url))
        assert "Gone, and not by this dashboard" in words
        assert UNTOLD in words
        assert "Where it is now Being processed In joobq:processing:invoices at" in words


def test_an_own_record_goes_before_what_everybody_shares(client: Client, queue: DeadLetterQueue) -> None:
    queue.redrive_entries([REF], by=BOB, operation="op-1")
    queue.purge_all(by=ANN, operation="op-2")
    words = says(get(client, address()))
    assert "Redriven by Bob" in words
    assert "Everything" not in words


def test_the_log_does_not_reach_back_to_its_death(client: Client, queue: DeadLetterQueue, valkey: Server) -> None:
    """What was done before the first record that is kept is not known: not even that nobody here did it."""
    queue.redrive_entries([EntryRef(DIED, digest(OTHER), jid(2))], by=ANN, operation="op-1")
    took_it_away(valkey)
    valkey.client.zadd(keys.DEAD, {letter(1, queue="invoices", death=9): DIED + 1})
    words = says(get(client, address(10**12)))
    assert "Gone, and no record says how" in words
    assert "or before the first record that is kept: the log goes back to" in words
    assert "not by this dashboard" not in words


def test_the_log_reaches_back_to_its_death(client: Client, queue: DeadLetterQueue, valkey: Server) -> None:
    queue.redrive_entries([EntryRef(DIED, digest(OTHER), jid(2))], by=ANN, operation="op-1")
    valkey.client.zadd(keys.DEAD, {letter(1, queue="invoices", death=9): 4 * 10**12})
    took_it_away(valkey)
    words = says(get(client, address(4 * 10**12 - 1)))
    assert "Gone, and not by this dashboard" in words
    assert UNTOLD in words


def test_however_much_was_recorded_since(client: Client, queue: DeadLetterQueue, valkey: Server) -> None:
    queue.purge_all(by=ANN, operation="op-1")
    kept(valkey.client, *map(record, range(4_001)))
    assert "Everything was purged by Ann Āboliņa" in says(get(client, address()))
    assert "Everything purged by Ann Āboliņa" in says(get(client, JOB.replace(jid(1), jid(5_000))))


def test_where_a_look_ends_early_nothing_is_said_to_be_gone(
    client: Client, queue: DeadLetterQueue, valkey: Server
) -> None:
    queue.purge_all(by=ANN, operation="op-1")
    valkey.client.zadd(keys.DEAD, {letter(2 + n): DIED + n for n in range(BUDGET + 10)})
    with redis_at(valkey.url):
        page = get(client, address())
    assert page.status_code == 404
    assert "purged" not in says(page)
