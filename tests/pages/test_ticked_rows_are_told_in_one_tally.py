"""Rows ticked on the list, redriven or purged: each by its exact bytes, told in one line that adds up."""

import re
from collections.abc import Callable
from unittest.mock import patch

import pytest
from django.http import HttpResponse
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import EntryRef
from joobq_admin.joobq.outcome import Unreachable
from tests.support.dashboard import Dashboard, signed_in
from tests.support.database import changed, contents
from tests.support.elsewhere import redis_at
from tests.support.eventually import eventually
from tests.support.html import elements, get, rows, says
from tests.support.letters import DIED, digest, jid, letter, real_letters
from tests.support.operators import ANN, dead_letters
from tests.support.purging import their_time_is_over
from tests.support.servers import Proxy, Server
from tests.support.ticking import HTMX, form, purge, redrive, ticked, ticks
from tests.support.wire import ask

PLACEHOLDER = next(real.raw for real in real_letters() if real.refusal == "PLACEHOLDER")


def fifty(valkey: Server) -> None:
    """45 jobs of one death, one of four, a placeholder."""
    queue = dead_letters(valkey.client)
    for n in range(45):
        queue.add(DIED + n, [letter(n)])
    queue.add(DIED + 100, [letter(99, death=n) for n in range(4)])
    queue.add(DIED + 200, [PLACEHOLDER])


def happens_meanwhile(valkey: Server) -> None:
    """3 change, 2 are gone: one redriven by Ann, one by another tool."""
    queue = dead_letters(valkey.client)
    for n in range(3):
        valkey.client.zrem(keys.DEAD, letter(n))
        queue.add(DIED + 1_000, [letter(n, death=7)])
    assert queue.redrive_entries([EntryRef(DIED + 3, digest(letter(3)), jid(3))], by=ANN).done
    valkey.client.zrem(keys.DEAD, letter(4))
    valkey.client.delete("emails", keys.COUNTS, keys.PROVED)


def adds_up(answer: HttpResponse) -> int:
    """The number that the parts make; AssertionError when they do not."""
    (line,) = re.findall(r"((?:\d+ [a-z ]+ \+ )*\d+ [a-z ]+) = (\d+)", says(answer))
    parts = [int(part) for part in re.findall(r"\d+", line[0])]
    assert sum(parts) == int(line[1]), line
    return int(line[1])


@pytest.mark.parametrize("htmx", [True, False])
def test_fifty_of_which_some_changed_went_or_cannot_be_sent(client: Client, valkey: Server, htmx: bool) -> None:
    fifty(valkey)
    fields = ticked(client)
    assert len(fields["entry"]) == 50
    happens_meanwhile(valkey)
    answer = redrive(client, fields, htmx)
    assert answer.status_code == 200
    words = says(answer)
    assert "Redrove 41 of 50" in words
    assert "41 done + 3 changed + 2 already gone + 4 refused = 50" in words
    assert adds_up(answer) == 50
    assert words.count("Another version of it is here: nothing was redriven.") == 3
    assert words.count("Redriven by Ann Āboliņa.") == 1
    assert words.count("No record says by whom.") == 1
    assert words.count("One action, one copy.") == 3
    assert words.count("A placeholder.") >= 1
    assert valkey.client.llen("emails") == 41
    assert len(set(valkey.client.lrange("emails", 0, -1))) == 41
    assert valkey.client.zcard(keys.DEAD) == 3 + 3 + 1
    assert len(rows(answer)) == 7


def test_the_bar_says_what_will_be_sent(client: Client, valkey: Server) -> None:
    fifty(valkey)
    words = says(get(client, "/dead-letters/"))
    assert re.search(r"Acts on the versions shown at \d\d:\d\d:\d\d\. Anything changed since is skipped\.", words)
    assert "skipped. Of one job, one copy is sent." in words
    assert "Will be sent: retries to their maximum · past expiry → in 3 days · error cleared · status" in words


def test_each_row_that_was_not_done_has_a_link_that_leads_somewhere(client: Client, valkey: Server) -> None:
    fifty(valkey)
    fields = ticked(client)
    happens_meanwhile(valkey)
    answer = redrive(client, fields)
    html = answer.content.decode()
    told = html[html.index('class="outcome"') : html.index('class="toolbar"')]
    addresses = re.findall(r'<li>.*?href="([^"]*)"', told)
    assert len(addresses) == 9
    assert {get(client, address.replace("&amp;", "&")).status_code for address in addresses} <= {200, 404, 410}


@pytest.mark.parametrize("press", [redrive, purge])
def test_pressed_again_it_changes_nothing(client: Client, valkey: Server, press: Callable[..., HttpResponse]) -> None:
    fifty(valkey)
    fields = ticked(client)
    first, before = press(client, fields), contents(valkey.client)
    again = press(client, fields)
    assert changed(before, contents(valkey.client)) <= {keys.COUNTS, keys.PROVED}
    assert valkey.client.llen("emails") == (46 if press is redrive else 0)
    assert re.findall(r"(?:Redrove|Purged) \d+(?: of \d+)?", says(first))[0] in says(again)


def test_the_answer_is_the_list_with_the_tally_on_top(client: Client, valkey: Server) -> None:
    fifty(valkey)
    answer = redrive(client, ticked(client))
    assert len(elements(answer, "section", id="results")) == 1
    assert elements(answer, "h2", id="tally-h")[0]["tabindex"] == "-1"
    assert b"<html" not in answer.content
    assert form(answer)["operation"] != form(get(client, "/dead-letters/"))["operation"]


def test_it_stays_on_the_page_that_was_shown(client: Client, valkey: Server) -> None:
    queue = dead_letters(valkey.client)
    queue.add(DIED, [letter(n) for n in range(5)] + [letter(9, queue="reports")])
    page = get(client, "/dead-letters/?queue=emails&limit=3")
    answer = redrive(client, form(page) | {"entry": ticks(page)[:1]}, htmx=False)
    assert "Redrove 1" in says(answer)
    assert len(rows(answer)) == 3
    assert "4 dead letters in emails" in says(answer)


def test_a_purge_asks_with_number_queues_and_reason(client: Client, valkey: Server) -> None:
    fifty(valkey)
    before = contents(valkey.client)
    question = client.post("/dead-letters/purge", ticked(client), headers=HTMX)
    words = says(question)
    assert "Purge 50 dead letters?" in words
    assert "emails Error 49" in words
    assert "Only the versions you reviewed are removed." in words
    assert "Copies stay in the bin for 24 h" in words
    assert "Keep them" in words
    assert question["HX-Retarget"] == "#dialog"
    assert changed(before, contents(valkey.client)) <= {keys.PROVED, keys.COUNTS}


@pytest.mark.parametrize("htmx", [True, False])
def test_purged_and_undone_set_scores_and_counts_are_as_before(client: Client, valkey: Server, htmx: bool) -> None:
    fifty(valkey)
    page = get(client, "/dead-letters/")
    before = valkey.client.zrange(keys.DEAD, 0, -1, withscores=True), valkey.client.hgetall(keys.COUNTS)
    answer = purge(client, form(page) | {"entry": ticks(page)[:12]}, htmx=htmx)
    assert "Purged 12" in says(answer)
    assert "Purged 12 Undo for 24 h Undo" in says(answer)
    assert valkey.client.zcard(keys.DEAD) == 38
    assert len(elements(answer, "div", id="toasts")) == 1
    toast = form(answer, "/bin/restore")
    back = client.post("/bin/restore", toast, headers=HTMX if htmx else {})
    assert back.status_code == 200
    assert "Restored 12" in says(back)
    after = valkey.client.zrange(keys.DEAD, 0, -1, withscores=True), valkey.client.hgetall(keys.COUNTS)
    assert after == before
    assert form(back, "/bin/restore") == {}
    assert "Restored 12" in says(client.post("/bin/restore", toast, headers=HTMX))
    again = client.post("/bin/restore", toast | {"operation": "another"}, headers=HTMX)
    assert "Restored 0 of 12" in says(again)
    assert says(again).count("Restored by you.") == 12
    assert valkey.client.zcard(keys.DEAD) == 50


def test_the_page_of_the_operation_has_undo_while_the_bin_has_copies(client: Client, valkey: Server) -> None:
    dead_letters(valkey.client).add(DIED, [letter(n) for n in range(3)])
    fields = ticked(client)
    purge(client, fields)
    page = get(client, f"/operations/{fields['operation']}/")
    assert "3 copies are in the bin until" in says(page)
    back = client.post("/bin/restore", form(page, "/bin/restore"))
    assert "Restored 3" in says(back)
    assert valkey.client.zcard(keys.DEAD) == 3
    page = get(client, f"/operations/{fields['operation']}/")
    assert "None of its copies is in the bin: they were restored, or are gone for good." in says(page)
    assert form(page, "/bin/restore") == {}


def test_one_that_was_added_again_is_told_and_counts_once(client: Client, valkey: Server) -> None:
    dead_letters(valkey.client).add(DIED, [letter(n) for n in range(12)])
    answer = purge(client, ticked(client))
    dead_letters(valkey.client).add(DIED + 5, [letter(1)])
    back = client.post("/bin/restore", form(answer, "/bin/restore"), headers=HTMX)
    assert "Restored 12" in says(back)
    assert "1 of them had been added again and counts once" in says(back)
    assert valkey.client.zcard(keys.DEAD) == 12
    assert valkey.client.hgetall(keys.COUNTS) == {b"emails": b"12"}
    assert valkey.client.zscore(keys.DEAD, letter(1)) == DIED + 5


def test_after_its_time_an_undo_is_told(client: Client, valkey: Server) -> None:
    dead_letters(valkey.client).add(DIED, [letter(n) for n in range(12)])
    answer = purge(client, ticked(client))
    assert their_time_is_over(valkey.client) == 12
    back = client.post("/bin/restore", form(answer, "/bin/restore"), headers=HTMX)
    assert "Restored 0 of 12" in says(back)
    assert "12 already gone" in says(back)
    assert says(back).count("Purged by you.") == 12
    assert valkey.client.zcard(keys.DEAD) == 0


def test_a_full_bin_refuses_each(client: Client, valkey: Server) -> None:
    dead_letters(valkey.client).add(DIED, [letter(n) for n in range(3)])
    fields = ticked(client)
    valkey.client.hset(keys.BIN, "bytes", 256 << 20)
    answer = purge(client, fields)
    assert "Purged 0 of 3" in says(answer)
    assert says(answer).count("The bin is full.") == 3
    assert form(answer, "/bin/restore") == {}
    assert valkey.client.zcard(keys.DEAD) == 3


@pytest.mark.parametrize("entries", [[], ["nonsense"], [f"{DIED}-{n:064x}" for n in range(101)]])
def test_what_no_page_sends_is_not_understood(client: Client, valkey: Server, entries: list[str]) -> None:
    dead_letters(valkey.client).add(DIED, [letter(1)])
    fields = ticked(client) | {"entry": entries}
    for address in ("/dead-letters/redrive", "/dead-letters/purge"):
        assert client.post(address, fields).status_code == 400
    assert client.post("/dead-letters/redrive", ticked(client) | {"back": "after=nowhere"}).status_code == 400
    assert valkey.client.zcard(keys.DEAD) == 1


def test_a_lost_answer_can_be_pressed_again_and_nothing_runs_twice(
    client: Client, valkey: Server, new_proxy: Callable[[Server], Proxy]
) -> None:
    dead_letters(valkey.client).add(DIED, [letter(n) for n in range(3)])
    redrive(client, ticked(client))  # the scripts are loaded
    valkey.client.delete("emails")
    dead_letters(valkey.client).add(DIED, [letter(n, death=1) for n in range(3)])
    proxy = new_proxy(valkey)
    with redis_at(proxy.url):
        fields = ticked(client)
        proxy.cut()
        answer = redrive(client, fields)
        assert answer.status_code == 200
        assert "Redrove 0 of 3" in says(answer)
        assert "3 unknown" in says(answer)
        assert form(answer) == fields
        proxy.passes()
        eventually(lambda: valkey.client.llen("emails") == 3)
        assert "Redrove 3" in says(redrive(client, form(answer)))
    assert valkey.client.llen("emails") == 3


def test_when_the_list_cannot_be_read_any_more_the_tally_stands_alone(client: Client, valkey: Server) -> None:
    dead_letters(valkey.client).add(DIED, [letter(1)])
    fields = ticked(client)
    with patch("joobq_admin.pages.listing.read", side_effect=Unreachable):
        answer = redrive(client, fields)
        page = redrive(client, fields, htmx=False)
    for each in (answer, page):
        assert each.status_code == 200
        assert "Redrove 1" in says(each)
        assert "The list cannot be read just now." in says(each)
        assert len(elements(each, "section", id="results")) == 1
    assert b"<html" not in answer.content


def test_when_redis_is_silent_nothing_was_sent(
    client: Client, valkey: Server, new_proxy: Callable[[Server], Proxy]
) -> None:
    dead_letters(valkey.client).add(DIED, [letter(1)])
    fields = ticked(client)
    proxy = new_proxy(valkey)
    proxy.close()
    with redis_at(proxy.url):
        answer = redrive(client, fields, htmx=False)
    assert answer.status_code == 503
    assert "Nothing was sent, so nothing was done." in says(answer)


def test_a_viewer_has_no_boxes(valkey: Server, guarded: Dashboard) -> None:
    dead_letters(valkey.client).add(DIED, [letter(1)])
    assert 'name="entry"' not in ask(f"{guarded.url}/dead-letters/", signed_in("vera", "viewer")).text
    assert 'name="entry"' in ask(f"{guarded.url}/dead-letters/", signed_in("otto")).text
