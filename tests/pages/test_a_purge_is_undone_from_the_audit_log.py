"""Undo beside a record of a purge, while the bin has what it took: the whole purge comes back, told above the log."""

import re
from html import unescape

import pytest
from django.http import HttpResponse
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import EntryRef
from joobq_admin.pages import audit_rows
from joobq_admin.pages import bin as bin_page
from tests.support.dashboard import Dashboard, signed_in
from tests.support.database import changed, contents
from tests.support.html import elements, get, says
from tests.support.letters import DIED, digest, jid, letter
from tests.support.operators import ANN, BOB, dead_letters
from tests.support.servers import Server
from tests.support.ticking import form
from tests.support.wire import ask

REFS = [EntryRef(DIED, digest(letter(n)), jid(n)) for n in range(14)]
HTMX = {"HX-Request": "true", "HX-Target": "records"}


@pytest.fixture(autouse=True)
def purged(valkey: Server) -> None:
    """Ann purged twelve entries at once, and Bob one."""
    queue = dead_letters(valkey.client)
    queue.add(DIED, [letter(n) for n in range(14)])
    assert len(queue.purge_entries(REFS[:12], by=ANN, reason="Load test", operation="twelve").done) == 12
    assert queue.purge_entries(REFS[12:13], by=BOB, operation="one").done


def buttons(page: HttpResponse) -> dict[str, str]:
    """What each Undo says, by the purge that it undoes."""
    found = re.findall(
        r'<button[^>]* name="undo" value="([^"]*)"[^>]*>(.*?)</button>', page.content.decode(), re.DOTALL
    )
    return {unescape(purge): re.sub("<[^>]*>", "", words) for purge, words in found}


def undo(client: Client, page: HttpResponse, purge: str, htmx: bool = True) -> HttpResponse:
    return client.post("/bin/restore", form(page, "/bin/restore") | {"undo": purge}, headers=HTMX if htmx else {})


@pytest.mark.parametrize("htmx", [True, False])
def test_all_twelve_come_back_and_the_log_stays_where_it_was(client: Client, valkey: Server, htmx: bool) -> None:
    page = get(client, "/audit/?by=ann&limit=5")
    assert buttons(page) == {"twelve": "Undo all 12"}
    for _ in range(2):
        answer = undo(client, page, "twelve", htmx)
        assert answer.status_code == 200
        assert "Restored 12" in says(answer)
        assert len(elements(answer, "section", id="records")) == 1
        assert (b"<html" in answer.content) != htmx
        assert "Load test" in says(answer)
        assert "Bob" not in says(answer)
        assert len(elements(answer, "td", data_l="Who")) == 5
        assert buttons(answer) == {}
    assert valkey.client.zcard(keys.DEAD) == 13
    assert valkey.client.hgetall(keys.COUNTS) == {b"emails": b"13"}
    assert valkey.client.xlen(keys.AUDIT) == 13 + 12


def test_each_purge_has_one_button_beside_its_newest_record(client: Client) -> None:
    page = get(client, "/audit/")
    assert buttons(page) == {"twelve": "Undo all 12", "one": "Undo"}
    rows = page.content.decode().split("<tr>")[2:]
    assert ['name="undo"' in row for row in rows] == [True, True] + [False] * 11
    assert form(undo(client, page, "one"), "/bin/restore")["operation"] != form(page, "/bin/restore")["operation"]


def test_what_the_bin_has_no_more_has_no_button_and_is_told(client: Client, valkey: Server) -> None:
    page = get(client, "/audit/")
    assert dead_letters(valkey.client).restore([REFS[0].digest], by=BOB).done
    assert buttons(get(client, f"/audit/?q={jid(0)}")) == {}
    answer = undo(client, page, "twelve")
    assert "Restored 11 of 12" in says(answer)
    assert "Restored by Bob." in says(answer)
    valkey.client.delete(keys.BIN, keys.BIN_TIMES)
    assert buttons(get(client, "/audit/")) == {}
    assert "Restored 0 of 1" in says(undo(client, page, "one"))


def test_the_button_counts_what_is_there_still(client: Client, valkey: Server) -> None:
    assert dead_letters(valkey.client).restore([ref.digest for ref in REFS[:5]], by=BOB).done
    assert buttons(get(client, "/audit/"))["twelve"] == "Undo all 7"
    assert dead_letters(valkey.client).restore([ref.digest for ref in REFS[5:11]], by=BOB).done
    assert buttons(get(client, "/audit/"))["twelve"] == "Undo"


@pytest.mark.parametrize("htmx", [True, False])
def test_of_a_large_purge_each_press_brings_the_next_ones_back(
    client: Client, valkey: Server, monkeypatch: pytest.MonkeyPatch, htmx: bool
) -> None:
    for module in (audit_rows, bin_page):
        monkeypatch.setattr(module, "MOST", 5)
    monkeypatch.setattr("joobq_admin.joobq.bin.LOOK_STEP", 5)
    page = get(client, "/audit/")
    assert buttons(page) == {"twelve": "Undo 5 at a time", "one": "Undo"}
    answer, headers = undo(client, page, "twelve", htmx), HTMX if htmx else {}
    for done, left in ((5, "7 more of this purge are in the bin."), (5, "2 more of this purge are in the bin.")):
        assert f"Restored {done} " in says(answer)
        assert left in says(answer)
        again = pressed_again(answer)
        answer = client.post("/bin/restore", again, headers=headers)
    assert "Restored 2 " in says(answer)
    assert "more of this purge" not in says(answer)
    before = contents(valkey.client)
    assert "Restored 2 " in says(client.post("/bin/restore", again, headers=headers))
    assert changed(before, contents(valkey.client)) == set()
    assert valkey.client.zcard(keys.DEAD) == 13


def pressed_again(answer: HttpResponse) -> dict[str, str]:
    """What the button of the tally sends."""
    (tally,) = re.findall(r'<form method="post" action="/bin/restore".*?</form>', answer.content.decode(), re.DOTALL)[
        :1
    ]
    found = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', tally)
    return {name: unescape(value) for name, value in found}


@pytest.mark.parametrize("key", [keys.BIN, keys.AUDIT_INDEX])
def test_a_bin_that_cannot_be_read_leaves_the_log_as_it_is(client: Client, valkey: Server, key: bytes) -> None:
    valkey.client.delete(key)
    valkey.client.set(key, "of another type")
    page = get(client, "/audit/")
    assert page.status_code == 200
    assert len(elements(page, "td", data_l="Who")) == 13
    assert buttons(page) == {}


def test_a_place_in_the_log_that_no_page_sends_is_refused_before_anything_is_done(
    client: Client, valkey: Server
) -> None:
    for sought in ("since=ever", "before=nowhere", "by=a&by=b"):
        fields = {"undo": "one", "operation": "op", "sought": sought}
        assert client.post("/bin/restore", fields).status_code == 400
    assert valkey.client.zcard(keys.DEAD) == 1


def test_a_viewer_has_no_button(valkey: Server, guarded: Dashboard) -> None:
    seen = ask(f"{guarded.url}/audit/", signed_in("vera", "viewer"))
    assert "Load test" in seen.text
    assert 'name="undo"' not in seen.text
    assert 'name="undo"' in ask(f"{guarded.url}/audit/", signed_in("otto")).text
