"""Where a redriven job is now: at the front, being processed, delayed, dead again, or nowhere that was looked at.

A worker is played by moving the job from list to list as JoobQ does.
"""

import re
from datetime import timedelta

import pytest
from django.http import HttpResponse
from django.test import Client

from joobq_admin.connection import audit_log
from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import EntryRef
from joobq_admin.joobq.queues import LOOK
from tests.support.elsewhere import redis_at
from tests.support.html import elements, get, hidden, link, press, says
from tests.support.letters import DIED, ERROR, NO_TIME, digest, jid, letter
from tests.support.operators import ANN, dead_letters
from tests.support.servers import Server
from tests.support.trips import sends

LETTER, OTHER = letter(1, queue="invoices"), letter(2, queue="invoices", about=jid(1))
REF = EntryRef(DIED, digest(LETTER), jid(1))
ENTRY = f"/dead-letters/{DIED}-{digest(LETTER)[:16]}/?jid={jid(1)}"
PROCESSING = "joobq:processing:invoices"
OPERATION = "/operations/op-1/"
LATER = 4 * 10**12  # unix ms; a death after any redrive


@pytest.fixture(autouse=True)
def redriven(client: Client, valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    assert dead_letters(valkey.client).redrive_entries([REF], by=ANN, operation="op-1").done


def poll(client: Client) -> HttpResponse:
    """As the slip asks again."""
    return get(client, OPERATION, target="follow")


def goes_on(answer: HttpResponse) -> bool:
    (box,) = elements(answer, "div", id="follow")
    return "hx-trigger" in box


def steps(answer: HttpResponse) -> list[str]:
    return [given.get("data-s", "") for given in elements(answer, "li") if "data-k" not in given]


def takes(valkey: Server) -> bytes:
    job = valkey.client.lmove("invoices", PROCESSING, "RIGHT", "LEFT")
    assert job
    return job


def dies_again(valkey: Server, score: int = LATER, **error: str) -> bytes:
    raw = letter(1, queue="invoices", error=ERROR | {"failed_at": "2099-01-01T00:00:00Z"} | error)
    valkey.client.zadd(keys.DEAD, {raw: score})
    return raw


def test_at_the_front(client: Client, valkey: Server) -> None:
    valkey.client.lpush("invoices", OTHER)
    answer = poll(client)
    assert answer.status_code == 200
    assert b"<html" not in answer.content
    words = says(answer)
    assert words.startswith("front of invoices being processed not waiting, no further trace ")
    assert re.search(r"Next to run in invoices, 2 waiting, at \d\d:\d\d:\d\d\.$", words)
    assert steps(answer) == ["now", "", ""]


def test_others_were_put_in_front(client: Client, valkey: Server) -> None:
    valkey.client.rpush("invoices", OTHER, OTHER)
    assert "3rd from the front of invoices, 3 waiting, at" in says(poll(client))


def test_being_processed(client: Client, valkey: Server) -> None:
    takes(valkey)
    answer = poll(client)
    words = says(answer)
    assert re.search(rf"In {PROCESSING} at \d\d:\d\d:\d\d: a worker has it, or left it behind\.", words)
    assert steps(answer) == ["done", "now", ""]
    assert goes_on(answer)


def test_no_further_trace(client: Client, valkey: Server) -> None:
    valkey.client.rpush("invoices", OTHER)
    valkey.client.lrem("invoices", 1, valkey.client.lindex("invoices", 0))
    answer = poll(client)
    assert re.search(
        r"Not waiting in invoices, not being processed, not dead, at \d\d:\d\d:\d\d\. "
        r"Redis keeps no record of jobs that ended well\.",
        says(answer),
    )
    assert steps(answer) == ["done", "", "now"]
    assert elements(answer, "div", id="follow")[0]["data-say"] == "not waiting, no further trace"


@pytest.mark.parametrize(("score", "until"), [(LATER, "2 Oct 2096"), (5, "a time that is not told")])
def test_delayed(client: Client, valkey: Server, score: int, until: str) -> None:
    valkey.client.zadd(keys.DELAYED, {takes(valkey): score})
    valkey.client.delete(PROCESSING)
    words = says(poll(client))
    assert f"delayed until {until}" in words
    assert "In joobq:delayed_jobs at" in words


@pytest.mark.parametrize("score", [LATER, NO_TIME])
def test_dead_again_it_leads_to_the_new_entry_and_ends(client: Client, valkey: Server, score: int) -> None:
    takes(valkey)
    valkey.client.delete(PROCESSING)
    new = dies_again(valkey, score, error_class="IO::TimeoutError", message="Read timed out")
    answer = poll(client)
    assert "It died again: IO::TimeoutError, Read timed out." in says(answer)
    assert "died again" in elements(answer, "div", id="follow")[0]["data-say"]
    assert steps(answer) == ["done", "", "bad"]
    assert not goes_on(answer)
    assert digest(new)[:16] in link(answer, "Open the new entry")
    assert get(client, link(answer, "Open the new entry")).status_code == 200


def test_dead_again_without_a_time_below_many_others(client: Client, valkey: Server) -> None:
    valkey.client.delete("invoices")
    valkey.client.zadd(keys.DEAD, {letter(10 + n): LATER + n for n in range(LOOK + 1)})
    dies_again(valkey, NO_TIME)
    assert "It died again" in says(poll(client))


def test_dead_again_within_the_second_of_the_redrive(client: Client, valkey: Server) -> None:
    """JoobQ writes failed_at in whole seconds."""
    (record,) = audit_log().of_operation("op-1")
    assert record.at
    valkey.client.delete("invoices")
    dies_again(valkey, NO_TIME, failed_at=f"{record.at:%Y-%m-%dT%H:%M:%SZ}")
    assert "It died again" in says(poll(client))


def test_deaths_of_before_are_no_new_ones(client: Client, valkey: Server) -> None:
    valkey.client.delete("invoices")
    valkey.client.zadd(keys.DEAD, {letter(1, queue="invoices", death=9): DIED - 1})
    words = says(poll(client))
    assert "not being processed, not dead again, at" in words
    assert "It died again" not in words


def test_what_lies_deeper_is_not_called_gone(client: Client, valkey: Server) -> None:
    valkey.client.rpush("invoices", *[OTHER] * LOOK)
    words = says(poll(client))
    assert f"Not seen among the nearest {LOOK} (or the nearest MiB) of invoices, {PROCESSING} and" in words
    assert "no further trace" not in words
    assert "Not waiting" not in words


def test_of_many_newer_deaths_only_the_nearest_are_spoken_of(client: Client, valkey: Server) -> None:
    valkey.client.delete("invoices")
    valkey.client.zadd(keys.DEAD, {letter(10 + n): LATER + n for n in range(LOOK + 1)})
    assert f"not dead among the newest {LOOK} entries, at" in says(poll(client))


def test_without_a_jid_it_cannot_be_followed(client: Client, valkey: Server) -> None:
    raw = b'{"queue":"invoices","retries":0,"max_retries":3,"expires":5,"status":"dead","error":null}'
    valkey.client.zadd(keys.DEAD, {raw: DIED})
    entry = f"/dead-letters/{DIED}-{digest(raw)[:16]}/"
    answer = press(client, entry, hidden(get(client, entry)))
    assert answer.status_code == 200
    assert "It has no jid, so it cannot be followed." in says(answer)
    assert not goes_on(answer)


def test_the_slip_asks_for_a_minute_and_no_longer(
    client: Client, valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert goes_on(poll(client))
    monkeypatch.setattr("joobq_admin.pages.follow.FOR", timedelta(seconds=-1))
    answer = poll(client)
    assert not goes_on(answer)
    assert "Next to run in invoices" in says(answer)


def test_a_slip_of_many_redrives_follows_its_own(client: Client, valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, {OTHER: DIED})
    own = hidden(get(client, f"/dead-letters/{DIED}-{digest(OTHER)[:16]}/?jid={jid(2)}"))
    answer = press(client, f"/dead-letters/{DIED}-{digest(OTHER)[:16]}/", own | {"operation": "op-1"})
    (box,) = elements(answer, "div", id="follow")
    assert "Next to run in invoices, 2 waiting" in says(get(client, box["hx-get"], target="follow"))
    assert poll(client).status_code == 404
    first = f"{OPERATION}?action=redrive&entry={DIED}-{digest(LETTER)}-{jid(1)}"
    assert "2nd from the front of invoices" in says(get(client, first, target="follow"))


@pytest.mark.parametrize("url", [f"/jobs/{jid(1)}/", ENTRY, OPERATION])
def test_what_became_of_it_tells_it_once(client: Client, url: str) -> None:
    page = get(client, url)
    assert "Next to run in invoices, 1 waiting, at" in says(page)
    assert not goes_on(page)


def test_already_redriven_tells_it_once(client: Client, valkey: Server) -> None:
    form = {"score": str(DIED), "digest": digest(LETTER), "jid": jid(1), "operation": "op-2"}
    takes(valkey)
    answer = press(client, ENTRY, form)
    assert answer.status_code == 409
    assert f"In {PROCESSING} at" in says(answer)
    assert not goes_on(answer)


def test_a_poll_speaks_to_redis_twice(client: Client, valkey: Server) -> None:
    with redis_at(valkey.url):
        poll(client)
        with sends(audit_log().redis) as count:
            poll(client)
            assert count() == 2


def test_redis_that_does_not_answer_ends_it_in_words(client: Client, valkey: Server) -> None:
    with redis_at("redis://127.0.0.1:1/0"):
        answer = poll(client)
    assert answer.status_code == 503
    assert "Where the job is now is not known: Redis did not answer, at" in says(answer)
    assert "HX-Redirect" not in answer
    assert not goes_on(answer)


def test_a_redrive_that_is_not_recorded_any_more(client: Client, valkey: Server) -> None:
    valkey.client.delete(keys.AUDIT, keys.AUDIT_INDEX)
    assert poll(client).status_code == 404
