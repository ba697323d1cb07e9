"""Purge, pressed on the page of an entry: it asks, the entry goes into the bin, and Undo brings exactly it back."""

from datetime import timedelta

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import EntryRef
from tests.support.database import changed, contents
from tests.support.html import elements, get, hidden, link, press, says
from tests.support.letters import DIED, Real, digest, jid, letter, real_letters
from tests.support.operators import ANN, dead_letters
from tests.support.purging import HTMX, WHY, answered, asked, purge, their_time_is_over, undo, undo_form
from tests.support.servers import Server

LETTER, OTHER = letter(1, queue="invoices"), letter(2, queue="invoices")
ENTRY = f"/dead-letters/{DIED}-{digest(LETTER)[:16]}/?jid={jid(1)}"
REF = EntryRef(DIED, digest(LETTER), jid(1))
LOGS = {keys.AUDIT, keys.AUDIT_INDEX, keys.BIN, keys.BIN_TIMES}


@pytest.fixture(autouse=True)
def letters(valkey: Server) -> None:
    dead_letters(valkey.client).add(DIED, [LETTER, OTHER])
    valkey.client.rpush("invoices", "other")


@pytest.mark.parametrize("htmx", [True, False])
def test_it_asks_first_and_nothing_moves(client: Client, valkey: Server, htmx: bool) -> None:
    get(client, ENTRY)
    before = contents(valkey.client)
    question = asked(client, ENTRY, htmx)
    assert question.status_code == 200
    words = says(question)
    assert "Purge 1 dead letter?" in words
    assert "What is purged will not run. Only the version you reviewed is removed." in words
    assert "invoices Error 1" in words
    assert "A copy stays in the bin for 24 h, until" in words
    assert "Keep it" in words
    assert ("HX-Retarget" in question) == htmx
    assert bool(elements(question, "dialog", id="purge-dialog")) == htmx
    assert changed(before, contents(valkey.client)) == set()


@pytest.mark.parametrize("reason", ["", "  \n "])
def test_without_a_reason_it_asks_again(client: Client, valkey: Server, reason: str) -> None:
    again = answered(client, asked(client, ENTRY), reason)
    assert "A purge needs a reason" in says(again)
    assert again["HX-Retarget"] == "#dialog"
    assert valkey.client.zcard(keys.DEAD) == 2


def test_a_reason_that_no_page_sends_is_not_understood(client: Client, valkey: Server) -> None:
    assert answered(client, asked(client, ENTRY), "x" * 1_001).status_code == 400
    assert valkey.client.zcard(keys.DEAD) == 2


def test_purged_says_until_when_and_nothing_else_moved(client: Client, valkey: Server) -> None:
    question, before = asked(client, ENTRY), contents(valkey.client)
    answer = answered(client, question)
    assert answer.status_code == 200
    words = says(answer)
    assert "Purged. This job will not run" in words
    assert "A copy is in the bin until" in words
    assert "(23 h 59 min left), then it is gone for good." in words
    assert f"Reason: {WHY}." in words
    assert "Purged by you" in words
    assert changed(before, contents(valkey.client)) == LOGS | {keys.DEAD, keys.COUNTS}
    assert valkey.client.zrange(keys.DEAD, 0, -1) == [OTHER]
    ((_, record),) = valkey.client.xrange(keys.AUDIT)
    assert (record[b"action"], record[b"by"], record[b"reason"]) == (b"purge", b"dev", WHY.encode())


@pytest.mark.parametrize("htmx", [True, False])
def test_undone_set_scores_and_counts_are_as_before(client: Client, valkey: Server, htmx: bool) -> None:
    get(client, ENTRY)
    before = contents(valkey.client)
    answer = purge(client, ENTRY, htmx=htmx)
    if not htmx:
        assert answer.status_code == 303
        answer = get(client, answer["Location"])
    back = undo(client, answer, htmx)
    if not htmx:
        assert back.status_code == 303
        back = get(client, back["Location"])
    assert back.status_code == 200
    assert "Restored" in says(back)
    after = contents(valkey.client)
    assert changed(before, after) <= {keys.AUDIT, keys.AUDIT_INDEX, keys.BIN}
    assert valkey.client.hgetall(keys.BIN) == {b"bytes": b"0"}
    assert get(client, ENTRY).status_code == 200


def test_the_slip_of_an_undo_leads_back_to_the_entry(client: Client) -> None:
    back = undo(client, purge(client, ENTRY))
    assert "Restored. The entry is back in dead letters" in says(back)
    assert "Same bytes, same death time. It was in the bin for" in says(back)
    assert get(client, link(back, "Review it")).status_code == 200
    assert "Restored by you" in says(back)


@pytest.mark.parametrize("real", real_letters(), ids=lambda real: digest(real.raw)[:8])
def test_each_real_entry_goes_and_comes_back(client: Client, valkey: Server, real: Real) -> None:
    valkey.client.flushall()
    raw, score = real.raw, float(real.score)
    valkey.client.zadd(keys.DEAD, {raw: score})
    answer = purge(client, f"/dead-letters/{score:.0f}-{digest(raw)[:16]}/")
    assert answer.status_code == 200
    assert valkey.client.zcard(keys.DEAD) == 0
    assert undo(client, answer).status_code == 200
    assert valkey.client.zrange(keys.DEAD, 0, -1, withscores=True) == [(raw, score)]


def test_undo_of_one_that_was_added_again_is_told_and_it_counts_once(client: Client, valkey: Server) -> None:
    answer = purge(client, ENTRY)
    dead_letters(valkey.client).add(DIED + 5, [LETTER])
    words = says(undo(client, answer))
    assert "It was in dead letters again already" in words
    assert "nothing was added, and it counts once" in words
    assert valkey.client.zscore(keys.DEAD, LETTER) == DIED + 5
    assert valkey.client.hgetall(keys.COUNTS) == {b"invoices": b"2"}


def test_undone_twice_it_came_back_once(client: Client, valkey: Server) -> None:
    answer = purge(client, ENTRY)
    for _ in range(2):
        assert "Restored. The entry is back in dead letters" in says(undo(client, answer))
    assert valkey.client.hgetall(keys.COUNTS) == {b"invoices": b"2"}
    other = client.post("/bin/restore", undo_form(answer) | {"operation": "another"}, headers=HTMX)
    assert other.status_code == 409
    assert "Already restored by you" in says(other)
    assert valkey.client.xlen(keys.AUDIT) == 2


def test_undone_after_its_time_it_is_told(client: Client, valkey: Server) -> None:
    answer = purge(client, ENTRY)
    assert their_time_is_over(valkey.client) == 1
    before = contents(valkey.client)
    late = undo(client, answer)
    assert late.status_code == 409
    assert "It is gone for good. It cannot be brought back." in says(late)
    assert changed(before, contents(valkey.client)) == set()


def test_what_another_purge_took_since_is_left_to_its_own_undo(client: Client, valkey: Server) -> None:
    answer = purge(client, ENTRY)
    queue = dead_letters(valkey.client)
    assert queue.restore([REF.digest], by=ANN, operation="ann-1").done
    assert queue.purge_entries([REF], by=ANN, operation="ann-2").done
    late = undo(client, answer)
    assert late.status_code == 409
    assert "Already purged by Ann Āboliņa" in says(late)
    assert valkey.client.zrange(keys.DEAD, 0, -1) == [OTHER]


def test_an_undo_of_what_never_was_is_told(client: Client) -> None:
    answer = client.post("/bin/restore", {"undo": "nothing", "operation": "op"})
    assert answer.status_code == 409
    assert "Nothing to undo" in says(answer)


@pytest.mark.parametrize("htmx", [True, False])
def test_already_purged_and_changed_say_that_nothing_was_purged(client: Client, valkey: Server, htmx: bool) -> None:
    question, late = asked(client, ENTRY), asked(client, ENTRY)
    assert answered(client, question).status_code == 200
    answer = answered(client, late, htmx=htmx)
    assert answer.status_code == 409
    assert "Already purged by you" in says(answer)
    valkey.client.flushall()
    valkey.client.zadd(keys.DEAD, {letter(1, queue="invoices", death=3600): DIED + 9})
    changed_ = answered(client, late, htmx=htmx)
    assert changed_.status_code == 409
    assert "Changed since you reviewed it" in says(changed_)
    assert "Nothing was purged." in says(changed_)


def test_pressed_again_it_was_done_once(client: Client, valkey: Server) -> None:
    question = asked(client, ENTRY)
    for _ in range(2):
        assert "Purged. This job will not run" in says(answered(client, question))
    assert valkey.client.xlen(keys.AUDIT) == 1
    assert valkey.client.hlen(keys.BIN) == 2


def test_a_full_bin_refuses_and_says_so(client: Client, valkey: Server) -> None:
    valkey.client.hset(keys.BIN, "bytes", 256 << 20)
    question, before = asked(client, ENTRY), contents(valkey.client)
    answer = answered(client, question)
    assert answer.status_code == 422
    assert "Refused: the bin is full" in says(answer)
    assert "256 MB of purged entries are kept. Nothing was purged." in says(answer)
    assert hidden(answer)["reason"] == WHY
    assert changed(before, contents(valkey.client)) == set()


@pytest.mark.parametrize("key", [keys.BIN, keys.BIN_TIMES])
def test_a_broken_bin_refuses_and_says_so(client: Client, valkey: Server, key: bytes) -> None:
    valkey.client.set(key, "no bin")
    answer = purge(client, ENTRY)
    assert answer.status_code == 422
    assert "Refused: the bin cannot be written" in says(answer)
    assert valkey.client.zcard(keys.DEAD) == 2


def test_an_entry_that_cannot_be_redriven_can_be_purged(client: Client, valkey: Server) -> None:
    raw = b"not \xff json"
    valkey.client.zadd(keys.DEAD, {raw: DIED})
    answer = purge(client, f"/dead-letters/{DIED}-{digest(raw)}/")
    assert answer.status_code == 200
    assert valkey.client.zscore(keys.DEAD, raw) is None
    assert undo(client, answer).status_code == 200
    assert valkey.client.zscore(keys.DEAD, raw) == DIED


def test_the_tombstone_has_undo_while_the_bin_has_it(client: Client, valkey: Server) -> None:
    purge(client, ENTRY)
    stone = get(client, ENTRY)
    assert stone.status_code == 410
    assert "Purged by you" in says(stone)
    assert "A copy is in the bin until" in says(stone)
    assert undo_form(stone)
    valkey.client.delete(keys.BIN, keys.BIN_TIMES)
    stone = get(client, ENTRY)
    assert "It is gone for good. It cannot be brought back." in says(stone)
    assert undo_form(stone) == {}


def test_a_viewer_reads_that_there_is_a_copy_and_has_no_undo(client: Client, valkey: Server) -> None:
    queue = dead_letters(valkey.client)
    assert queue.purge_entries([REF, EntryRef(DIED, digest(OTHER), jid(2))], by=ANN, operation="two").done
    for role, has_undo in (("operator", True), ("viewer", False)):
        client.post("/auth/dev-role", {"role": role})
        for url in (ENTRY, "/operations/two/"):
            page = get(client, url)
            assert "in the bin until" in says(page)
            assert bool(elements(page, "form", action="/bin/restore")) == has_undo


def test_an_undo_from_the_tombstone_leads_to_what_it_did(client: Client, valkey: Server) -> None:
    purge(client, ENTRY)
    back = undo(client, get(client, ENTRY), htmx=False)
    assert back.status_code == 303
    assert "Restored by you" in says(get(client, back["Location"]))
    assert valkey.client.zcard(keys.DEAD) == 2


def test_after_its_keep_a_copy_is_told_to_be_at_its_end(client: Client, valkey: Server) -> None:
    queue = dead_letters(valkey.client, keep=timedelta(days=3))
    assert queue.purge_entries([REF], by=ANN, operation="op-1").done
    value = valkey.client.hget(keys.BIN, REF.digest).split(b" ", 2)
    value[1] = b"%d" % DIED
    valkey.client.hset(keys.BIN, REF.digest, b" ".join(value))
    words = says(get(client, "/operations/op-1/"))
    assert "A copy is" in words


def test_after_a_refused_redrive_it_can_be_purged(client: Client, valkey: Server) -> None:
    valkey.client.set("invoices-x", "no list")
    raw = letter(3, queue="invoices-x")
    valkey.client.zadd(keys.DEAD, {raw: DIED})
    entry = f"/dead-letters/{DIED}-{digest(raw)[:16]}/"
    refused = press(client, entry, hidden(get(client, entry)))
    assert refused.status_code == 422
    address = elements(refused, "button", id="purge")[0]["formaction"]
    question = client.post(address, hidden(refused), headers=HTMX)
    assert answered(client, question).status_code == 200
    assert valkey.client.zscore(keys.DEAD, raw) is None
