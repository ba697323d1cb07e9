"""A placeholder and bytes that are no job say what they are, show the original text, and what can be done."""

import json

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from tests.support.html import elements, get, says
from tests.support.letters import DIED, digest, jid, letter, real_letters
from tests.support.servers import Server


def page_of(client: Client, valkey: Server, raw: bytes) -> str:
    valkey.client.zadd(keys.DEAD, {raw: DIED})
    page = get(client, f"/dead-letters/{DIED}-{digest(raw)[:16]}/")
    assert page.status_code == 200
    return says(page)


def placeholder(text: object, length: int | str | None = None, job: str = "unparseable_1") -> bytes:
    error = {"message": "Job could not be parsed", "error_class": "JSON::Error"}
    if length is not None:
        error |= {"system_context": {"original_job_data_length": str(length)}}
    own = {"jid": job, "queue": "emails", "status": "Dead", "error": error, "original_job_data": text}
    return json.dumps(own).encode()


def test_a_placeholder_of_a_text_that_was_cut(client: Client, valkey: Server) -> None:
    text = letter(1).decode()
    words = page_of(client, valkey, placeholder(text[:50], len(text)))
    for word in (
        "Placeholder in emails cannot be redriven",
        f"Original text, as far as JoobQ kept it Copy {text[:50]}",
        f"The first 50 of {len(text):,} characters. What was cut is gone for good:"
        " only where the job came from can it be made whole.",
        "Its jid is one that JoobQ made up: nothing in the text looks like one.",
        "Copy the original text, mend it and enqueue it anew. Then purge this.",
    ):
        assert word in words


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('"just a string"', "All of it. What this dashboard finds wrong with it: it is JSON, but no object."),
        ("not json", "finds wrong with it: reading stops with “invalid literal, expected 'null' at byte 0”."),
        (letter(1, retries="3").decode(), 'finds wrong with it: retries is "3", no 32-bit integer.'),
        (
            letter(1).decode().replace(":3,", ":03,"),
            "reading stops with “number with leading zero is not allowed at byte",
        ),
        (letter(1, status="nonsense").decode(), "status is"),
        (letter(1).decode(), "All of it. Its jid"),
    ],
)
def test_what_is_wrong_with_the_text_of_a_placeholder(client: Client, valkey: Server, text: str, said: str) -> None:
    assert said in page_of(client, valkey, placeholder(text, len(text), jid(1)))


def test_a_jid_that_was_found_in_the_text_may_be_anothers(client: Client, valkey: Server) -> None:
    words = page_of(client, valkey, placeholder("{", 1, jid(1)))
    assert "Its jid is the first thing in the text that looks like one: it may be another job's." in words


@pytest.mark.parametrize("length", ["²", "٣", "", "-5", "9" * 5_000])
def test_a_length_that_is_no_number_is_not_told(client: Client, valkey: Server, length: str) -> None:
    assert "All of it. What this dashboard finds wrong" in page_of(client, valkey, placeholder("{", length))


def test_a_placeholder_without_a_text(client: Client, valkey: Server) -> None:
    assert "JoobQ kept no text of this job." in page_of(client, valkey, placeholder(None))


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"not json", "reading stops with “invalid literal, expected 'null' at byte 0”."),
        (b'["a","list"]', "it is JSON, but no object."),
        (letter(1)[:150], "reading stops with “unexpected end of data at byte 150”."),
        (b"\xff\xfe{}", "reading stops with"),
    ],
)
def test_bytes_that_are_no_job(client: Client, valkey: Server, raw: bytes, why: str) -> None:
    words = page_of(client, valkey, raw)
    for word in (
        "Malformed entry without a queue name cannot be redriven",
        "Text of these bytes Copy",
        f"No job can be read from them, nor a jid or a queue: {why}",
        "Keep a copy of the exact bytes, then purge it.",
        f"000000 {raw[:8].hex(' ')}",
    ):
        assert word in words
    assert "Fields" not in words


def test_what_is_copied_is_the_text_itself(client: Client, valkey: Server) -> None:
    text = 'a "quoted" & <b>ü\u202e\n{"password":"hunter2"}'
    for raw in (text.encode(), placeholder(text)):
        valkey.client.zadd(keys.DEAD, {raw: DIED})
        page = get(client, f"/dead-letters/{DIED}-{digest(raw)[:16]}/")
        (shown,) = elements(page, "pre", id="args-raw")
        assert shown["data-exact"] == text.replace("hunter2", "*******")
        assert "hunter2" not in page.content.decode()
    valkey.client.zadd(keys.DEAD, {b"\xff": DIED})
    page = get(client, f"/dead-letters/{DIED}-{digest(bytes([255]))[:16]}/")
    assert "data-exact" not in elements(page, "pre", id="args-raw")[0]


def test_the_real_ones(client: Client, valkey: Server) -> None:
    odd = [real.raw for real in real_letters() if real.refusal == "PLACEHOLDER"]
    assert len(odd) == 8
    for raw in odd:
        assert "Original text, as far as JoobQ kept it" in page_of(client, valkey, raw)
