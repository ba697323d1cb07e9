"""What cannot be redriven says so before the press, what Redis refuses after it: each in words of its own."""

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.outcome import Refusal, Refused
from joobq_admin.pages import words
from tests.support.database import changed, contents
from tests.support.html import elements, get, hidden, press, says
from tests.support.letters import DIED, digest, jid, letter, real_letters
from tests.support.servers import Server

BEFORE = {
    "not a JSON object": b"not json",
    "a worker could not read it": letter(1).replace(b'"retries":0', b'"retries":01'),
    "a placeholder": b'{"jid":"x","queue":"q","status":"Dead","error":null,"original_job_data":"{"}',
    'retries is "3", no 32-bit integer': letter(1, retries="3"),
    "its jid is no UUID": letter("no-uuid"),
    "it names no queue": letter(1, queue=""),
    "its queue is one of JoobQ's own keys": letter(1, queue="joobq:dead_letter"),
    "its queue's name cannot be used": letter(1, queue="a\x01b"),
}
AGAIN = "It would come back as a placeholder"
WHY = {
    "not a JSON object": "These bytes do not read as one JSON object. No worker could run them and they name no queue.",
    "a worker could not read it": f"{AGAIN}, cut at 1,000 characters.",
    "a placeholder": "JoobQ could not parse this job and kept the first 1,000 characters of its text. "
    "Sent as it is, it would be lost or run as an empty job.",
    'retries is "3", no 32-bit integer': "A worker wants retries and max_retries as 32-bit integers, expires as an "
    f"integer and a status it knows. {AGAIN}.",
    "its jid is no UUID": "A worker logs such a job and drops it: it would be lost, with no dead letter.",
    "it names no queue": "A job goes to its own queue and nowhere else, and this one has none.",
    "its queue is one of JoobQ's own keys": "It names the queue joobq:dead_letter. "
    "Nothing is ever sent to a name that begins with joobq:",
    "its queue's name cannot be used": "The name holds a control character or is longer than 512 bytes.",
}
LETTER = letter(1, queue="invoices")
ENTRY = f"/dead-letters/{DIED}-{digest(LETTER)[:16]}/?jid={jid(1)}"


def address(raw: bytes) -> str:
    return f"/dead-letters/{DIED}-{digest(raw)[:16]}/"


@pytest.mark.parametrize(("heading", "raw"), BEFORE.items())
def test_before_the_press_there_is_no_button(client: Client, valkey: Server, heading: str, raw: bytes) -> None:
    valkey.client.zadd(keys.DEAD, {raw: DIED})
    page = get(client, address(raw))
    assert page.status_code == 200
    assert f"Cannot be redriven: {heading}" in says(page)
    assert WHY[heading] in says(page)
    assert elements(page, "button", id="redrive") == []
    assert "cannot be redriven" in says(get(client, "/dead-letters/"))


@pytest.mark.parametrize(("heading", "raw"), BEFORE.items())
def test_pressed_all_the_same_nothing_happens(client: Client, valkey: Server, heading: str, raw: bytes) -> None:
    valkey.client.zadd(keys.DEAD, {raw: DIED})
    before = contents(valkey.client)
    form = {"score": str(DIED), "digest": digest(raw), "operation": "op-1"}
    answer = press(client, address(raw), form)
    assert answer.status_code == 422
    assert f"Refused: {heading}" in says(answer)
    assert "operation op-1" in says(answer)
    assert changed(before, contents(valkey.client)) == set()


def test_the_nine_real_ones_say_why(client: Client, valkey: Server) -> None:
    refused = [real for real in real_letters() if real.refusal]
    assert len(refused) == 9
    for real in refused:
        valkey.client.zadd(keys.DEAD, {real.raw: float(real.score)})
        page = get(client, f"/dead-letters/{float(real.score):.0f}-{digest(real.raw)[:16]}/")
        assert str(real.refusal) in says(page)


def test_a_placeholder_shows_its_original_text_to_copy(client: Client, valkey: Server) -> None:
    raw = BEFORE["a placeholder"]
    valkey.client.zadd(keys.DEAD, {raw: DIED})
    page = get(client, address(raw))
    assert "Original text, as far as JoobQ kept it" in says(page)
    assert "Copy original text" in says(page)
    assert elements(page, "pre", id="args-raw")


def broken(valkey: Server, key: str) -> None:
    valkey.client.hset(key, "a", "b")


@pytest.mark.parametrize("htmx", [True, False])
@pytest.mark.parametrize(
    ("key", "heading", "text"),
    [
        (
            "invoices",
            "queue invoices is not a list",
            "The Redis key for this queue holds a hash, so a job cannot be added to it. "
            "The entry is still here, unchanged. This needs an engineer.",
        ),
        (
            "joobq:admin:audit",
            "the audit log cannot be written",
            "The key joobq:admin:audit is of another type. "
            "Nothing is changed without a record, so nothing was. This needs an engineer.",
        ),
    ],
)
def test_a_key_of_another_type_is_named(
    client: Client, valkey: Server, key: str, heading: str, text: str, htmx: bool
) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    form = hidden(get(client, ENTRY))
    broken(valkey, key)
    before = contents(valkey.client)
    answer = press(client, ENTRY, form, htmx=htmx)
    assert answer.status_code == 422
    assert f"Refused: {heading}" in says(answer)
    assert text in says(answer)
    assert changed(before, contents(valkey.client)) == set()


def test_once_the_key_is_mended_the_same_slip_can_be_pressed(client: Client, valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    form = hidden(get(client, ENTRY))
    broken(valkey, "invoices")
    again = hidden(press(client, ENTRY, form))
    assert again == form
    valkey.client.delete("invoices")
    assert press(client, ENTRY, again).status_code == 200
    assert valkey.client.llen("invoices") == 1


@pytest.mark.parametrize("reason", [reason for reason in Refusal if reason.by_server])
def test_what_the_server_refuses_is_said_in_its_word(reason: Refusal) -> None:
    said = words.refusal(Refused("x", reason), "emails")
    assert (said.heading, said.again) == ("Redis takes no changes now", True)
    assert said.text == f"Redis said {reason.value}. Nothing was changed."


@pytest.mark.parametrize("reason", Refusal)
@pytest.mark.parametrize("detail", ["", "{queue} {0} %s"])
def test_every_reason_has_words(reason: Refusal, detail: str) -> None:
    said = words.refusal(Refused("x", reason, detail), "{detail}")
    assert said.heading
    assert said.text


def test_the_bin_says_how_much_it_keeps() -> None:
    said = words.refusal(Refused("x", Refusal.BIN_FULL), "emails")
    assert (said.text, said.next) == (
        "256 MB of purged entries are kept. Nothing was purged.",
        "An admin can purge for good, or empty the bin.",
    )


@pytest.mark.parametrize(
    ("detail", "said"),
    [
        ("", "Another death of it was tried; this one is still here."),
        ("The death of 02:17:09 was redriven", "The death of 02:17:09 was redriven; this one is still here."),
    ],
)
def test_of_one_job_one_copy_is_sent(detail: str, said: str) -> None:
    told = words.refusal(Refused("x", Refusal.SAME_JOB, detail), "emails")
    assert told.text == f"One action sends one copy of a job. {said}"
