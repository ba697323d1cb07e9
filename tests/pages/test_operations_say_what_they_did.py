"""/operations/<id>/: what one press did, by its records; and, asked with an entry, that it was not done."""

import re
from datetime import timedelta

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import EntryRef
from tests.support.html import elements, get, hidden, link, says
from tests.support.letters import DIED, digest, jid, letter
from tests.support.operators import ANN, dead_letters
from tests.support.records import kept, record
from tests.support.servers import Server

LETTERS = [letter(n, queue="invoices") for n in range(3)]
REFS = [EntryRef(DIED, digest(raw), jid(n)) for n, raw in enumerate(LETTERS)]
CHECK = f"/operations/op-1/?action=redrive&entry={DIED}-{digest(LETTERS[0])}-{jid(0)}"


@pytest.fixture(autouse=True)
def letters(valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, dict.fromkeys(LETTERS, DIED))


def test_one_redrive(client: Client, valkey: Server) -> None:
    dead_letters(valkey.client).redrive_entries(REFS[:1], by=ANN, reason="Gateway is up", operation="op-1")
    page = get(client, "/operations/op-1/")
    assert page.status_code == 200
    for word in ("Operation op-1", "Redriven by Ann Āboliņa", "Redriven to invoices", "Gateway is up", jid(0)):
        assert word in says(page)


@pytest.mark.parametrize(("action", "did"), [("purge", "Purged"), ("restore", "Restored")])
def test_one_purge_and_its_restore(client: Client, valkey: Server, action: str, did: str) -> None:
    queue = dead_letters(valkey.client)
    queue.purge_entries(REFS[:1], by=ANN, operation="purge")
    queue.restore([REFS[0].digest], by=ANN, operation="restore")
    page = get(client, f"/operations/{action}/")
    assert page.status_code == 200
    assert f"{did} by Ann Āboliņa" in says(page)


def test_many_at_once(client: Client, valkey: Server) -> None:
    dead_letters(valkey.client).purge_entries(REFS, by=ANN, reason="Load test", operation="op-1")
    page = get(client, "/operations/op-1/")
    assert page.status_code == 200
    assert "Purged 3 dead letters, by Ann Āboliņa" in says(page)
    assert "Load test" in says(page)
    assert len(elements(page, "td", data_l="jid")) == 3
    assert get(client, link(page, jid(1))).status_code == 410


def test_two_actions_under_one_id_are_told_apart(client: Client, valkey: Server) -> None:
    queue = dead_letters(valkey.client)
    queue.redrive_entries(REFS[:1], by=ANN, operation="op-1")
    queue.purge_entries(REFS[1:], by=ANN, operation="op-1")
    words = says(get(client, "/operations/op-1/"))
    assert "Redriven 1 dead letter, purged 2 dead letters, by Ann Āboliņa" in words
    assert (words.count(" redriven "), words.count(" purged invoices ")) == (1, 2)


@pytest.mark.parametrize(
    ("people", "named"),
    [
        (["Ann", "Bob"], "Ann and Bob"),
        (["Ann", "Bob", "Eve"], "Ann, Bob and Eve"),
        (list("abcde"), "a, b and 3 others"),
    ],
)
def test_an_id_that_others_took_names_each_of_them(
    client: Client, valkey: Server, people: list[str], named: str
) -> None:
    said = {"operation": "op-1", "reason": "Gateway is up"}
    kept(valkey.client, *(record(n, by=f"u-{n}", name=name, **said) for n, name in enumerate(people)))
    page = get(client, "/operations/op-1/")
    assert f"Redriven {len(people)} dead letters, by {named}" in says(page)
    assert says(page).count("Gateway is up") == 1
    assert re.findall(r'data-l="Who">([^<]*)<', page.content.decode()) == people[::-1]


def test_one_persons_records_name_nobody_in_each_row(client: Client, valkey: Server) -> None:
    dead_letters(valkey.client).redrive_entries(REFS, by=ANN, operation="op-1")
    page = get(client, "/operations/op-1/")
    assert "by Ann Āboliņa" in says(page)
    assert elements(page, "td", data_l="Who") == []


def test_of_very_many_all_are_counted_and_some_are_shown(client: Client, valkey: Server) -> None:
    many = {letter(10 + n): DIED for n in range(1_200)}
    valkey.client.zadd(keys.DEAD, many)
    refs = [EntryRef(DIED, digest(raw), jid(10 + n)) for n, raw in enumerate(many)]
    dead_letters(valkey.client).purge_entries(refs, by=ANN, operation="op-1")
    page = get(client, "/operations/op-1/")
    assert "Purged 1,200 dead letters" in says(page)
    assert "The newest 100 of 1,200 are shown." in says(page)
    assert len(elements(page, "td", data_l="jid")) == 100


@pytest.mark.parametrize(("queue", "what"), [(None, "everything: "), ("invoices", "everything in invoices: up to ")])
def test_the_whole_set_at_once(client: Client, valkey: Server, queue: str | None, what: str) -> None:
    assert dead_letters(valkey.client).purge_all(queue, by=ANN, reason="Load test", operation="op-1") == 3
    page = get(client, "/operations/op-1/")
    assert page.status_code == 200
    assert f"Purged {what}3 entries, by Ann Āboliņa" in says(page)
    assert "Load test" in says(page)
    assert elements(page, "table") == []


def test_none_is_known(client: Client) -> None:
    page = get(client, "/operations/op-1/")
    assert page.status_code == 404
    assert "No record of this operation" in says(page)


def test_asked_with_an_entry_it_was_not_done(client: Client) -> None:
    page = get(client, CHECK)
    assert page.status_code == 200
    assert "Not done as of" in says(page)
    assert hidden(page)["operation"] == "op-1"


@pytest.mark.parametrize("target", ["action", ""])
def test_asked_with_an_entry_it_was_done(client: Client, valkey: Server, target: str) -> None:
    dead_letters(valkey.client).redrive_entries(REFS[:1], by=ANN, operation="op-1")
    page = get(client, CHECK, target=target)
    assert page.status_code == 200
    assert ("Done at" if target else "Redriven. The job is next to run in invoices") in says(page)
    assert "by Ann Āboliņa" in says(page)


def test_done_without_a_record_of_it_says_no_more(client: Client, valkey: Server) -> None:
    """The log was full: of the press only its mark in the index is there."""
    dead_letters(valkey.client).redrive_entries(REFS[:1], by=ANN, operation="op-1")
    valkey.client.delete(keys.AUDIT)
    for target in ("action", ""):
        words = says(get(client, CHECK, target=target))
        assert ("Done" if target else "Redriven") in words
        for untrue in ("in the audit log", "Done at", "nobody", "next to run"):
            assert untrue not in words


def test_asked_with_an_entry_that_somebody_else_took(client: Client, valkey: Server) -> None:
    dead_letters(valkey.client).redrive_entries(REFS[:1], by=ANN, operation="op-2")
    page = get(client, CHECK, target="action")
    assert page.status_code == 200
    assert "Already redriven by Ann Āboliņa" in says(page)


def test_the_front_of_the_queue_is_said_of_the_moment_only(
    client: Client, valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead_letters(valkey.client).redrive_entries(REFS[:1], by=ANN, operation="op-1")
    monkeypatch.setattr("joobq_admin.pages.slip.JUST_NOW", timedelta(0))
    page = get(client, CHECK)
    assert "Redriven by Ann Āboliņa" in says(page)
    assert "next to run" not in says(page)


@pytest.mark.parametrize("query", ["entry=x&action=redrive", f"entry={DIED}-{'a' * 64}&action=restore", "entry="])
def test_what_cannot_be_checked_is_refused(client: Client, query: str) -> None:
    assert get(client, f"/operations/op-1/?{query}").status_code == 400
