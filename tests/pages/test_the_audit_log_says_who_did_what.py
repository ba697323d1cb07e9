"""/audit/: who, what, when, why, which entry, and how it went; each record leads to its operation and its entry."""

from datetime import UTC, datetime

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import EntryRef
from tests.support.html import elements, get, link, says
from tests.support.letters import DIED, digest, jid, letter
from tests.support.operators import ANN, BOB, dead_letters
from tests.support.records import kept, record
from tests.support.servers import Server

LETTERS = [letter(n, queue="invoices") for n in range(3)]
REFS = [EntryRef(DIED, digest(raw), jid(n)) for n, raw in enumerate(LETTERS)]


def test_what_was_done_by_whom_and_why(client: Client, valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, dict.fromkeys(LETTERS, DIED))
    queue = dead_letters(valkey.client)
    assert queue.redrive_entries(REFS[:1], by=ANN, reason="Gateway is up", operation="op-redrive").done
    assert queue.purge_entries(REFS[1:2], by=BOB, reason="Duplicate", operation="op-purge").done
    assert queue.restore([REFS[1].digest], by=BOB, operation="op-restore").done
    assert queue.purge_all(by=ANN, reason="Load test", operation="op-all") == 2
    page = get(client, "/audit/")
    assert page.status_code == 200
    told = says(page)
    for words in (
        "Ann Āboliņa u-1 redrive sent to the front of invoices", "Gateway is up", "Bob u-2 purge moved into the bin",
        "Duplicate", "restore back in dead letters", "purge all everything, 2 entries, gone for good", "Load test",
        "4 records , newest first",
    ):  # fmt: skip
        assert words in told, words
    assert (
        told.index("purge all everything")
        < told.index("restore back")
        < told.index("purge moved")
        < told.index("redrive sent")
    )
    assert get(client, link(page, jid(0))).status_code == 410
    assert "Purged by Bob" not in says(get(client, link(page, "op-redri…")))
    assert "Redriven by Ann Āboliņa" in says(get(client, link(page, "op-redri…")))


def test_a_purge_for_good_and_a_purge_of_one_queue(client: Client, valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, dict.fromkeys(LETTERS, DIED))
    queue = dead_letters(valkey.client)
    assert queue.purge_entries(REFS[:1], by=ANN, for_good=True).done
    assert queue.purge_all("invoices", by=ANN) == 2
    told = says(get(client, "/audit/"))
    assert "purge gone for good" in told
    assert "purge all 2 entries of invoices were to go for good" in told


def test_when_is_exact_and_says_its_zone(client: Client, valkey: Server) -> None:
    valkey.client.xadd(
        keys.AUDIT, record(1), id=f"{int(datetime(2026, 11, 29, 2, 21, 47, tzinfo=UTC).timestamp()) * 1000}-0"
    )
    page = get(client, "/audit/")
    (time,) = elements(page, "time")
    assert time["datetime"] == "2026-11-29T02:21:47Z"
    assert time["title"].startswith("Sun 29 Nov 2026, 02:21:47 UTC")
    assert "02:21:47 29 Nov 2026" in says(page)
    assert "When, UTC" in says(page)


def test_what_the_log_holds_and_what_it_does_not(client: Client, valkey: Server) -> None:
    empty = says(get(client, "/audit/"))
    assert "It is empty: nothing was done yet." in empty
    assert "No record: nothing was redriven, purged or restored from here." in empty
    valkey.client.xadd(
        keys.AUDIT, record(1), id=f"{int(datetime(2026, 10, 2, 3, 4, 5, tzinfo=UTC).timestamp()) * 1000}-0"
    )
    told = says(get(client, "/audit/"))
    assert "It holds the newest 100,000 records; the oldest is of 2 Oct 2026, 03:04:05 UTC." in told
    assert "Refused attempts are in the process’s own log." in told


def test_the_way_there(client: Client) -> None:
    (there,) = elements(get(client, "/dead-letters/"), "a", href="/audit/")
    assert "aria-current" not in there
    assert any(given.get("aria-current") == "page" for given in elements(get(client, "/audit/"), "a", href="/audit/"))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (record(1, "close-gate"), "close-gate done"),
        (record(1, "unredacted"), "unredacted bytes its exact bytes were downloaded"),
        (record(1, "restore", there="1"), "restore it was back already"),
        (record(1, "purge"), "purge gone"),
        (record(1, "purge_all", digest="", jid="", entries="all"), "purge all every entry of emails were to go"),
        (record(1, by="", name=""), "nobody that is named"),
        (record(1, queue=""), "no queue name"),
        (record(1, jid=""), "no jid"),
        (record(1, jid="sha256:" + "a" * 64), "its jid is too long"),
        (record(1, score="never"), jid(1)),
        (record(1, score="nan", digest="short"), jid(1)),
        (record(1, operation="a/../b"), "a/../b"),
        (record(1, operation=""), "Ann"),
        (record(1, changes="[[1"), "redrive"),
        ({"action": "redrive"}, "sent to its queue"),
        ({"another": "field"}, "no action"),
        (record(1, reason="a\u202eb\0c"), "aU+202EbU+0000c"),
        (record(1, queue="x\udcffy"), r"x\xffy"),
    ],
)  # fmt: skip
def test_any_record_has_words(client: Client, valkey: Server, fields: dict[str, str], words: str) -> None:
    raw = {name: value.encode("utf-8", "surrogateescape") for name, value in fields.items()}
    valkey.client.xadd(keys.AUDIT, raw)
    page = get(client, "/audit/")
    assert page.status_code == 200
    assert words in says(page)
    for kind in ("csv", "ndjson"):
        assert get(client, f"/audit/export?format={kind}").status_code == 200


def test_markup_stays_text(client: Client, valkey: Server) -> None:
    shapes = []
    for text in ("harmless", '"><img src=x onerror=evil=1>', "{{ 7*7 }}", "</td><script>evil=1</script>"):
        valkey.client.flushall()
        kept(valkey.client, record(1, text, queue=text, jid=text, by=text, name=f"{text}!", reason=text))
        page = get(client, "/audit/")
        shapes.append(
            [
                (tag, sorted(given))
                for tag in ("a", "td", "script", "img", "option", "b")
                for given in elements(page, tag)
            ]
        )
        assert says(page).count(text) >= 5
    assert shapes == [shapes[0]] * 4


def test_a_log_that_cannot_be_read_is_told(client: Client, valkey: Server) -> None:
    valkey.client.set(keys.AUDIT, "no stream")
    for url in ("/audit/", "/audit/?q=x", "/audit/export?format=csv"):
        page = get(client, url)
        assert page.status_code == 503
        assert "The audit log cannot be read" in says(page)
        assert "WRONGTYPE" in says(page)
