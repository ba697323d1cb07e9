"""One request: its state and whose it is, until when; its payload without secrets; its dead letter or job in JoobQ."""

import json
import re

import pytest
from django.http import HttpResponse
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.delivery import Ledger, State
from joobq_admin.joobq.entry import to_bytes
from tests.support.database import contents
from tests.support.elsewhere import redis_at
from tests.support.html import elements, get, link, says
from tests.support.ledgers import (
    HOUR,
    MS,
    TRACE,
    at,
    held,
    ledger_of,
    mend,
    run_out,
    set_aside,
    spoil_header,
    spoil_payload,
)
from tests.support.letters import DIED, digest, jid, letter
from tests.support.operators import ANN
from tests.support.servers import Server


@pytest.fixture
def ledger(client: Client, valkey: Server) -> Ledger:
    return ledger_of(valkey.client)


def page(client: Client, request_id: str = "a", target: str = "") -> HttpResponse:
    return get(client, at("request/", id=request_id), target)


def test_one_that_waits(client: Client, ledger: Ledger) -> None:
    ledger.admit("a", b"1", 2 * HOUR, TRACE)
    before = contents(ledger.redis)
    text = says(page(client))
    assert contents(ledger.redis) == before
    assert "a READY Waits for its time" in text
    assert "State READY in the ready index too, as it should be" in text
    assert "Attempt 0 claims so far Owner nobody never held, or its lease ran out" in text
    assert re.search(r"Due at [\d:, A-Za-z]+ UTC in 2 h", text)
    assert f"traceparent {TRACE}" in text
    assert "Checksum agrees header and 1 byte of payload, checked as read" in text
    assert "The next worker that asks after that may claim it, as attempt 1." in text
    ledger.admit("b", b"1")
    assert "b READY Due, and waits for a worker" in says(page(client, "b"))


def test_one_that_is_leased_and_for_how_long(client: Client, ledger: Ledger) -> None:
    held(ledger, owner="worker-3", lease=HOUR)
    answer = page(client)
    text = says(answer)
    assert "a LEASED A worker holds it, first claim" in text
    assert "State LEASED in the leases index too, as it should be" in text
    assert re.search(r"Lease ends in read [\d:]+ UTC · no answer since (1 h|60 min|59 min)", text)
    assert "Held by worker-3. If it neither renews nor settles by then, the request is due again" in text
    assert "may be claimed as attempt 2." in text
    (bar,) = elements(answer, "progress")
    assert 3590 <= int(bar["value"]) <= int(bar["max"]) == 3600
    run_out(ledger, held(ledger, "b", lease=MS))
    text = says(page(client, "b"))
    assert "Its worker did not come back in time, first claim" in text
    assert "w neither renewed nor settled." in text


def test_what_a_closed_gate_means_for_it(client: Client, ledger: Ledger) -> None:
    run_out(ledger, held(ledger, "over", lease=MS))
    assert ledger.expire() == 1
    run_out(ledger, ledger.claim("w", MS))
    held(ledger, lease=HOUR)
    ledger.close_gate(ANN, "because")
    assert "While the gate is closed it cannot be renewed." in says(page(client))
    text = says(get(client, at("ledger/")))
    assert "the last lease ends at" in text
    ledger.expire()
    answer = page(client, "over")
    assert "over READY Due, and waits for a worker, claimed 2 times before" in says(answer)
    assert "The next worker when the gate is open again may claim it, as attempt 3." in says(answer)
    assert "Owner nobody never held, or its lease ran out" in says(answer)
    assert len(elements(answer, "li", aria_current="step")) == 1
    assert "Due now 1 waiting for the gate" in says(get(client, at("ledger/")))


def test_of_a_job_that_nobody_can_look_for_it_is_said(client: Client, ledger: Ledger) -> None:
    ledger.admit("a", b"any")
    ledger.redis.set(keys.DEAD, "?")
    answer = page(client)
    assert answer.status_code == 200
    assert "Dead letter not known WRONGTYPE Operation" in says(answer)


def test_a_secret_in_an_owner_is_hidden(client: Client, ledger: Ledger) -> None:
    claim = held(ledger, owner="w token=Zq7Secr3t", lease=HOUR)
    for show in (lambda: page(client), lambda: get(client, at("ledger/")), lambda: page(client, target="lease")):
        assert "w token=hidden" in says(show())
        assert "Zq7Secr3t" not in show().content.decode()
    ledger.settle(claim)
    assert "Settled by w token=hidden" in says(page(client))
    assert "Zq7Secr3t" not in page(client).content.decode()


@pytest.mark.parametrize(("state", "word"), [(State.COMPLETED, "completed"), (State.DEAD, "dead")])
def test_one_that_is_settled(client: Client, ledger: Ledger, state: State, word: str) -> None:
    ledger.settle(held(ledger, owner="worker-3"), state)
    answer = page(client)
    text = says(answer)
    assert f"a {state} Ended by its worker as {word}, first claim" in text
    assert f"State {state} final: in neither index Attempt 1 claim in all Owner worker-3 who settled it" in text
    assert "Settled by worker-3 with attempt 1." in text
    assert f"{state} is final. A new delivery needs a new request id." in text
    assert not elements(answer, "section", id="lease", hx_trigger="every 5s")  # nothing can change any more


def test_what_changes_is_asked_for_again_and_comes_alone(client: Client, ledger: Ledger) -> None:
    claim = held(ledger)
    (slip,) = elements(page(client), "section", id="lease")
    assert (slip["hx-get"], slip["hx-trigger"]) == (at("request/", id="a"), "every 5s")
    ledger.settle(claim)
    live = page(client, target="lease")
    assert live.status_code == 200
    assert {each["id"] for each in elements(live, "section")} == {"lease", "record"}
    assert elements(live, "header", id="request-head", hx_swap_oob="true")
    assert "COMPLETED" in says(live)
    assert "Payload" not in says(live)
    ledger.redis.delete(ledger.records_key)
    gone = page(client, target="lease")
    assert "It stands otherwise now" in says(gone)
    assert [each["id"] for each in elements(gone, "section")] == ["lease"]
    with redis_at("redis://127.0.0.1:1/0"):
        assert page(client, target="lease").status_code == 503
        assert "Redis does not answer" in says(page(client))


def test_an_index_that_lies_is_told(client: Client, ledger: Ledger) -> None:
    held(ledger)
    ledger.redis.zrem(ledger.leases_key, "a")
    assert "the indexes do not say so (it is in neither): a repair mends them" in says(page(client))
    ledger.redis.zadd(ledger.ready_key, {"a": 1})
    ledger.redis.zadd(ledger.leases_key, {"a": 2})
    assert "(it is in ready and leases)" in says(page(client))


def test_its_payload_is_shown_as_entries_are(client: Client, ledger: Ledger) -> None:
    payload = {"token": "hush-4711", "n": 9007199254740993, "note": "<script>window.evil=1</script>\u202e", "é": [1]}
    ledger.admit("a", json.dumps(payload, ensure_ascii=False))
    answer = page(client)
    text = says(answer)
    assert "hush" not in answer.content.decode()
    assert "hidden, 9 characters" in text
    assert "9007199254740993" in text
    assert "<script>window.evil=1</script>" in text
    assert "U+202E" in text
    assert "token is hidden by this dashboard. The record itself is untouched." in text
    for n, body in enumerate((b"", b"\xff\x00 no json", b"[1,", b"x" * 500_000)):
        ledger.admit(f"odd {n}", body)
        assert page(client, f"odd {n}").status_code == 200
    assert "434,464 more bytes are not shown." in says(page(client, "odd 3"))


IDS = ['"><svg onload=evil=1>', "a/b?c#d&e=f", "é \u202e", "a\r\nb\0", b"\xff\xfe".decode("utf-8", "surrogateescape")]


@pytest.mark.parametrize("name", [*IDS, "x" * 512])
def test_an_id_may_be_anything(client: Client, ledger: Ledger, name: str) -> None:
    ledger.admit(name, b"1")
    listed = get(client, at("ledger/"))
    (url,) = [a["href"] for a in elements(listed, "a") if a.get("href", "").startswith("/deliveries/request/?")]
    shown = get(client, url)
    assert shown.status_code == 200
    assert "READY" in says(shown)
    (slip,) = elements(shown, "section", id="lease")
    assert get(client, slip["hx-get"], target="lease").status_code == 200
    spoil_header(ledger, to_bytes(name))
    mend(ledger)
    (form,) = [f for f in elements(get(client, url), "form") if "/deliveries/release" in f.get("action", "")]
    found = ledger.look(name).quarantined
    answer = client.post(form["action"], {"operation": "op-1", "digest": found.digest})
    assert answer.status_code == 422
    assert "It does not decode" in says(answer)


# -- its job


def test_the_dead_letter_of_its_id_or_of_the_jid_in_its_payload(client: Client, ledger: Ledger) -> None:
    raw = letter(1, queue="emails")
    ledger.redis.zadd(keys.DEAD, {raw: DIED})
    ledger.admit(jid(1), b"any")
    ledger.admit("order-1", raw)
    for name, of in ((jid(1), "by this id as jid"), ("order-1", "by the jid in the payload")):
        answer = page(client, name)
        assert re.search(rf"Dead letter [\w:]+ {of}, died ", says(answer))
        assert link(answer, "Open the dead letter") == f"/dead-letters/{DIED}-{digest(raw)[:16]}/?jid={jid(1)}"
        assert "Redriving it does not change this record." in says(answer)
    ledger.redis.zadd(keys.DEAD, {letter(1, queue="emails", retries=1): DIED + 1})
    assert ", 2 deaths" in says(page(client, jid(1)))
    assert link(page(client, jid(1)), "Open the dead letter") == f"/jobs/{jid(1)}/"


def test_a_job_that_waits_and_none_at_all(client: Client, ledger: Ledger) -> None:
    ledger.redis.rpush("emails", letter(2, queue="emails"))
    ledger.admit(jid(2), b"any")
    assert "Job Front of emails Next to run in emails, 1 waiting" in says(page(client, jid(2)))
    ledger.admit("alone", b"any")
    assert (
        "No dead letter, by this id as jid, among all 0 entries. "
        "Nor does such a job wait in emails, run, or wait to be retried."
    ) in says(page(client, "alone"))


# -- what is no whole record


def test_one_that_is_set_aside_is_shown_byte_for_byte(client: Client, ledger: Ledger) -> None:
    reviewed = set_aside(ledger, payload=b'{"token":"hush-4711"}')
    ledger.close_gate(ANN, "because")
    answer = page(client)
    text = says(answer)
    assert "a QUARANTINED The stored record fails its checksum" in text
    assert f"SHA-256 of all {reviewed}" in text
    assert re.search(r"\d{3}:21:jl1", text)
    assert "The header's checksum does not fit At least one byte is not the one that was written." in text
    assert "hush" not in answer.content.decode()
    assert "token is replaced by * here, byte for byte: hidden by this dashboard." in text
    assert "The gate of this ledger is closed since" in text
    assert "Release if it decodes now" in text
    client.post("/auth/dev-role", {"role": "operator"})
    text = says(page(client))
    assert "Your role is Operator. Releasing or discarding a record needs Admin." in text
    assert not [f for f in elements(page(client), "button") if "release" in f.get("hx-post", "")]


def test_one_that_is_damaged_and_not_yet_set_aside(client: Client, ledger: Ledger) -> None:
    ledger.admit("a", b"1")
    spoil_payload(ledger, "a")
    text = says(page(client))
    assert "a CORRUPT The stored record fails its checksum" in text
    assert "It cannot be read. The next claim or a repair sets it aside" in text


def test_one_that_is_not_there(client: Client, ledger: Ledger) -> None:
    ledger.close_gate(ANN, "because")
    answer = page(client, "none")
    assert answer.status_code == 404
    assert "The gate of this ledger is closed since" in says(answer)
    assert "Nothing is kept under none in this ledger" in says(answer)
    assert link(answer, "Look in all ledgers") == "/deliveries/request/?id=none"
    assert get(client, link(answer, "Look for a job of this id")).status_code == 404
