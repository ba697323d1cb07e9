"""/dead-letters/groups/: each error once, with how many, where, since when and how many died again."""

from collections.abc import Iterator
from datetime import UTC, datetime
from unittest.mock import patch

import pytest
from django.http import HttpResponse
from django.test import Client

from joobq_admin import connection
from joobq_admin.joobq import background, keys
from joobq_admin.triage import search as searching
from joobq_admin.triage.fingerprint import Fingerprint
from joobq_admin.triage.groups import Group, Groups
from tests.support.background import nobody_counts
from tests.support.database import changed, contents
from tests.support.eventually import eventually
from tests.support.html import elements, get, link, rows, says
from tests.support.letters import ERROR, NO_TIME, letter
from tests.support.servers import Server

NOW = int(datetime.now(UTC).timestamp() * 1000)
HOUR = 3_600_000
REFUSED = ERROR | {"message": "Connection to 'gateway:443' refused", "error_class": "Socket::ConnectError"}
EVIL = ERROR | {"message": "<b>no</b> such key \u202e", "error_class": "<script>", "failed_at": None}
URL = "/dead-letters/groups/"


@pytest.fixture(autouse=True)
def letters(valkey: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(background, "LINGER", 0.3)
    monkeypatch.setattr(background, "PAUSE", 0.01)
    monkeypatch.setattr(searching, "SECONDS", 10.0)
    refused = {letter(n, "emails" if n % 3 else "invoices", error=REFUSED): NOW - 3 * HOUR // 2 for n in range(6)}
    others = {letter(20, "\udcff", error=EVIL): NO_TIME, b"not json": NOW - 40 * HOUR}
    again = {letter(0, "invoices", error=REFUSED | {"failed_at": "2026-11-29T12:29:51Z"}): NOW}
    valkey.client.zadd(keys.DEAD, refused | again | others)
    yield
    nobody_counts()


def counted(client: Client, entries: int = 9) -> HttpResponse:
    """The page once so many are counted, and proved to be right."""

    def sure() -> HttpResponse | None:
        page = get(client, URL)
        return page if f"in {entries} dead letters" in says(page) and "set aside · at " in says(page) else None

    page = eventually(sure)
    assert page is not None
    return page


def test_each_with_its_numbers(client: Client) -> None:
    page = counted(client)
    assert "3 errors in 9 dead letters" in says(page)
    text = says(page)
    assert "7 Socket::ConnectError 2 died again, 28 % Connection to text refused emails 4 invoices 3" in text
    assert "peak 6 an hour" in text
    assert "1 Malformed cannot be redriven Not a JSON object no queue name 1 none in 24 h 1 d ago" in text
    assert "1 <script> <b>no</b> such key" in text
    assert "\\xff 1" in text
    assert "not known" in text, "an entry without any time"
    (first, *_) = elements(page, "svg", class_="spark")
    assert first["aria-label"].startswith("7 died in the last 24 h, most from ")
    assert first["aria-label"].endswith(": 6")
    assert "hx-trigger" not in elements(page, "section", id="groups")[0]


def test_it_opens_as_a_list_of_its_entries(client: Client) -> None:
    page = counted(client)
    listed = get(client, link(page, "Review 7 Socket::ConnectError"))
    assert len(rows(listed)) == 7
    assert "7 dead letters: Socket::ConnectError" in says(listed)
    assert "Connection to (text) refused · emails 4 · invoices 3 · 2 died again · " in says(listed)
    assert link(listed, "By error") == URL
    few = get(client, f"{link(page, 'Review 7 Socket::ConnectError')}&limit=2")
    assert "7 dead letters: Socket::ConnectError" in says(few), "by the tally: the page does not hold all"
    assert "1–2 of 7" in says(few)


def test_as_far_as_it_is_counted(client: Client) -> None:
    """A page asks again until all is counted."""
    nothing_yet = Groups((), 0, 1_284, 1_204, datetime(2026, 11, 29, 2, 21, 40, tzinfo=UTC))
    with patch.object(type(connection.grouping()), "groups", return_value=nothing_yet):
        page, fragment = get(client, URL), get(client, URL, target="groups")
    assert "Errors in 1,284 dead letters" in says(page)
    assert "counted 1,204 of 1,284" in says(page)
    for each in (page, fragment):
        (section,) = elements(each, "section", id="groups")
        assert (section["hx-get"], section["hx-trigger"], section["hx-swap"]) == (URL, "every 1s", "outerHTML")
    assert "<html" not in fragment.content.decode()


def test_counted_while_entries_were_changing(client: Client) -> None:
    at = datetime(2026, 11, 29, 2, 21, 40, tzinfo=UTC)
    with patch.object(type(connection.grouping()), "groups", return_value=Groups((), 12, 12, 12, at, complete=True)):
        page = get(client, URL)
    assert "as read while entries were changing, 02:21:40 UTC" in says(page)
    assert "and 12 entries of other errors" in says(page)


@pytest.mark.parametrize(("n", "told"), [(1, "1 error in 7 dead letters"), (1_200, "1,200 errors in 7 dead letters")])
def test_one_error_or_more_than_a_thousand(client: Client, n: int, told: str) -> None:
    at = datetime(2026, 11, 29, 2, 21, 40, tzinfo=UTC)
    one = Group(Fingerprint("1-0123456789abcdef", None, "KeyError", ()), 7, (), None, None, 0, (0,) * 24)
    with patch.object(type(connection.grouping()), "groups", return_value=Groups((one,) * n, 0, 7, 7, at, True, True)):
        assert told in says(get(client, URL))


def test_only_so_many_are_shown_and_the_rest_is_told(client: Client, valkey: Server) -> None:
    words = ("".join(chr(97 + n // 26**k % 26) for k in range(3)) for n in range(105))
    for n, word in enumerate(words):
        valkey.client.zadd(keys.DEAD, {letter(100 + n, error=ERROR | {"message": f"failed as {word}"}): NOW})
    page = counted(client, 114)
    assert len(elements(page, "svg", class_="spark")) == 100
    assert "108 errors in 114 dead letters" in says(page)
    assert "and 8 entries of 8 other errors" in says(page)


def test_there_is_no_filter_here(client: Client) -> None:
    page = get(client, f"{URL}?queue=emails")
    assert page.status_code == 400
    assert "There is no filter “queue” by error. Nothing was looked for." in says(page)
    assert link(page, "By error") == URL


def test_looking_changes_nothing(client: Client, valkey: Server) -> None:
    counted(client)
    before = contents(valkey.client)
    counted(client)
    assert changed(before, contents(valkey.client)) == set()


def test_nothing_is_dead(client: Client, valkey: Server) -> None:
    valkey.client.flushall()
    page = counted(client, 0)
    assert "0 errors in 0 dead letters" in says(page)
    assert not elements(page, "table")
