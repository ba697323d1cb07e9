"""Exactly the bytes that were reviewed are released or discarded; the loser of a race is told who was faster."""

from collections.abc import Callable
from functools import partial

import pytest
from django.http import HttpResponse
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.audit import AuditLog
from joobq_admin.joobq.delivery import Admission, AdmissionOutcome, Ledger, State, steps
from tests.support.dashboard import Dashboard, signed_in
from tests.support.database import changed, contents
from tests.support.elsewhere import redis_at
from tests.support.eventually import eventually
from tests.support.html import elements, get, hidden, link, says
from tests.support.ledgers import (
    agrees,
    answered_again,
    at,
    clock,
    ledger_of,
    mend,
    set_aside,
    spoil_header,
    stored,
    until,
)
from tests.support.operators import ANN, at_once
from tests.support.servers import Proxy, Server
from tests.support.wire import ask

REQUEST, WHY = at("request/", id="a"), "half a record after the disk fault"
SLIP = {"HX-Request": "true", "HX-Target": "quarantined"}
TOKEN = "t" * 32  # a token is whatever the browser's own cookie holds
LOG = {keys.AUDIT, keys.AUDIT_INDEX}


@pytest.fixture
def ledger(client: Client, valkey: Server) -> Ledger:
    return ledger_of(valkey.client)


def put_right(ledger: Ledger) -> None:
    """A record in quarantine whose bytes are those that were written again."""
    ledger.admit("a", b"payload")
    header, _ = stored(ledger, "a")
    spoil_header(ledger, "a")
    mend(ledger)
    ledger.redis.hset(ledger.records_key, "a", header)


def release(client: Client, page: HttpResponse, htmx: bool = True) -> HttpResponse:
    return client.post(at("release", id="a"), hidden(page), headers=SLIP if htmx else {})


def discard(client: Client, page: HttpResponse, htmx: bool = True, reason: str = WHY) -> HttpResponse:
    form = hidden(page) | {"confirmed": "1", "reason": reason}
    return client.post(at("discard", id="a"), form, headers=SLIP if htmx else {})


def log_of(ledger: Ledger) -> list[tuple[str, str, str, str]]:
    return [(record.action, record.name, record.reason, record.fields.get("request", ""))
            for record in AuditLog(ledger.redis).page().records]  # fmt: skip


@pytest.mark.parametrize("htmx", [True, False])
def test_a_sound_one_is_released_and_recorded(client: Client, ledger: Ledger, htmx: bool) -> None:
    put_right(ledger)
    page = get(client, REQUEST)
    assert "It decodes now Every byte is checked, and fits" in says(page)
    before = contents(ledger.redis)
    answer = release(client, page, htmx)
    assert changed(before, contents(ledger.redis)) == LOG | {ledger.quarantine_key.encode(), ledger.ready_key.encode()}
    assert agrees(ledger)
    assert log_of(ledger) == [("release", "dev", "", "a")]
    if htmx:
        assert answer.status_code == 200
        assert "Released. It is under the indexes again" in says(answer)
        assert elements(answer, "h2", tabindex="-1")
        assert link(answer, "Open the request") == REQUEST
    else:
        assert answer.status_code == 303
        assert get(client, answer["Location"]).status_code == 200


@pytest.mark.parametrize("htmx", [True, False])
def test_a_discard_asks_why_and_then_is_for_good(client: Client, ledger: Ledger, htmx: bool) -> None:
    reviewed = set_aside(ledger)
    page = get(client, REQUEST)
    assert hidden(page)["digest"] == reviewed
    before = contents(ledger.redis)
    for given in ({}, {"confirmed": "1", "reason": " "}):
        asked = client.post(at("discard", id="a"), hidden(page) | given, headers=SLIP if htmx else {})
        assert "Discard the record of a?" in says(asked)
        assert bool(elements(asked, "dialog", id="discard-dialog")) == htmx
        assert ("A discard needs a reason" in says(asked)) == bool(given)
        assert hidden(asked)["digest"] == reviewed
    assert contents(ledger.redis) == before
    answer = discard(client, asked, htmx)
    assert answer.status_code == (200 if htmx else 303)
    kinds = (ledger.records_key, ledger.payloads_key, ledger.quarantine_key)
    assert changed(before, contents(ledger.redis)) == LOG | {key.encode() for key in kinds}
    assert log_of(ledger) == [("discard", "dev", WHY, "a")]
    assert not htmx or "Discarded. Record and copy are gone" in says(answer)


def test_whose_gate_is_closed_is_told_on_each_of_these_pages(client: Client, ledger: Ledger) -> None:
    set_aside(ledger)
    ledger.close_gate(ANN, "moving house")
    page = get(client, REQUEST)
    for each in (page, client.post(at("discard", id="a"), hidden(page)), release(client, page, htmx=False)):
        assert "by Ann Āboliņa: “moving house”. The ledger" in says(each)


def test_what_does_not_decode_is_not_released(client: Client, ledger: Ledger) -> None:
    set_aside(ledger)
    before = contents(ledger.redis)
    answer = release(client, get(client, REQUEST))
    assert answer.status_code == 422
    assert "It does not decode Nothing was done. Once its bytes are put right" in says(answer)
    assert contents(ledger.redis) == before


@pytest.mark.parametrize("act", [release, discard])
def test_other_bytes_than_the_reviewed_ones_stay(
    client: Client, ledger: Ledger, act: Callable[..., HttpResponse]
) -> None:
    set_aside(ledger)
    page = get(client, REQUEST)
    ledger.redis.hset(ledger.payloads_key, "a", b"payloae")
    before = contents(ledger.redis)
    answer = act(client, page)
    assert answer.status_code == 409
    assert "Changed since you reviewed it" in says(answer)
    assert link(answer, "Look at what stands there now") == REQUEST
    assert contents(ledger.redis) == before


@pytest.mark.parametrize("act", [release, discard])
def test_the_loser_is_told_who_and_what_is_newer_stays(
    client: Client, ledger: Ledger, act: Callable[..., HttpResponse]
) -> None:
    """Another operator has discarded it, and its producer has brought it again."""
    reviewed = set_aside(ledger)
    page = get(client, REQUEST)
    ledger.discard("a", reviewed, ANN)
    answer = act(client, page)
    assert answer.status_code == 409
    assert "It is not in quarantine any more Somebody else was faster: there is no record of who." in says(answer)
    AuditLog(ledger.redis).note("discard", ANN, "why", digest=reviewed, namespace="shop", queue="emails", request="a")
    assert "Discarded already by Ann Āboliņa at " in says(act(client, page))
    ledger.admit("a", b"payload")
    before = contents(ledger.redis)
    answer = act(client, page, htmx=False)
    assert answer.status_code == 409
    assert "Since then the id was admitted again, at " in says(answer)
    assert "that record is untouched." in says(answer)
    assert contents(ledger.redis) == before
    assert ledger.claim("w").payload == b"payload"


def test_of_who_was_faster_nothing_is_told_by_the_same_bytes_of_another_request(client: Client, ledger: Ledger) -> None:
    for name in ("a", "b"):
        ledger.admit(name, b"payload")
        ledger.redis.hset(ledger.records_key, name, "rubbish")
    mend(ledger)
    page, other = get(client, REQUEST), get(client, at("request/", id="b"))
    assert hidden(page)["digest"] == hidden(other)["digest"]
    assert client.post(at("discard", id="b"), hidden(other) | {"confirmed": "1", "reason": WHY}).status_code == 303
    ledger.discard("a", hidden(page)["digest"], ANN)
    assert "Somebody else was faster: there is no record of who." in says(discard(client, page))


def test_what_was_admitted_before_the_discard_was_recorded_is_told_as_new(client: Client, ledger: Ledger) -> None:
    reviewed = set_aside(ledger)
    page = get(client, REQUEST)
    ledger.discard("a", reviewed, ANN)
    ledger.admit("a", b"payload")
    until(ledger.redis, clock(ledger.redis) + 1)
    AuditLog(ledger.redis).note("discard", ANN, "why", digest=reviewed, namespace="shop", queue="emails", request="a")
    text = says(discard(client, page))
    assert "Discarded already by Ann Āboliņa at " in text
    assert "Since then the id was admitted again, at " in text


def test_where_the_audit_log_cannot_be_read_the_loser_is_told_all_the_same(client: Client, ledger: Ledger) -> None:
    reviewed = set_aside(ledger)
    page = get(client, REQUEST)
    ledger.discard("a", reviewed, ANN)
    ledger.redis.set(keys.AUDIT, "no stream")
    ledger.redis.set(keys.AUDIT_INDEX, "no set")
    answer = discard(client, page)
    assert answer.status_code == 409
    assert "Somebody else was faster: there is no record of who. Your press did nothing." in says(answer)


def test_two_operators_and_a_producer_at_once(new_dashboard: Callable[..., Dashboard], valkey: Server) -> None:
    """Again and again: one of the two does it, the other is told; what the producer brings is whole, and stays."""
    dashboard, ledger = new_dashboard(valkey.url, auth="proxy"), ledger_of(valkey.client)

    def press(who: str, act: str) -> int:
        headers = signed_in(who, "admin") | {"Cookie": f"csrf={TOKEN}"} | SLIP
        form = {"digest": reviewed, "operation": f"{who}-1", "confirmed": "1", "reason": "why"}
        return ask(dashboard.url + at(act, id="a"), headers, "POST", form | {"csrfmiddlewaretoken": TOKEN}).status

    def brings() -> Admission | None:
        said = ledger.admit("a", b"anew")
        return said if said.outcome is not AdmissionOutcome.CONFLICT else None

    for n in range(12):
        valkey.client.flushall()
        reviewed = set_aside(ledger)
        *statuses, brought = at_once(
            partial(press, "ada", "discard"),
            partial(press, "otto", ("discard", "release")[n % 2]),
            partial(eventually, brings, every=0),
        )
        assert sorted(statuses) in ([200, 409], [200, 422])  # a release that comes first does nothing
        assert brought.outcome is AdmissionOutcome.ACCEPTED
        record = ledger.resolve("a")
        assert (record.payload, record.state, record.admitted_at) == (b"anew", State.READY, brought.record.admitted_at)
        assert not valkey.client.exists(ledger.quarantine_key)
        assert agrees(ledger)
        assert [action for action, *_ in log_of(ledger)] == ["discard"]


def test_after_a_lost_answer_it_may_be_done_and_the_next_look_says_so(
    client: Client,
    ledger: Ledger,
    valkey: Server,
    new_proxy: Callable[[Server], Proxy],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_aside(ledger)
    page, proxy = get(client, REQUEST), new_proxy(valkey)
    valkey.client.script_load(steps.DISCARD.text)
    answered_again(proxy, monkeypatch)
    with redis_at(proxy.url):
        proxy.swallow()
        lost = discard(client, page)
    assert lost.status_code == 503
    assert "Outcome unknown The connection to Redis was lost after it was sent." in says(lost)
    assert link(lost, "Look again") == REQUEST
    assert log_of(ledger) == [("discard", "dev", WHY, "a")]
    again = discard(client, page)
    assert again.status_code == 409
    assert "A press by you at " in says(again)
    assert "whose answer was lost, may have done it." in says(again)


def test_when_it_cannot_be_recorded_that_is_said(client: Client, ledger: Ledger) -> None:
    ledger.redis.set(keys.AUDIT, "no stream")
    for htmx in (True, False):
        set_aside(ledger)
        answer = discard(client, get(client, REQUEST), htmx)
        assert answer.status_code == 200
        assert "It is in no record: the audit log does not take one. Redis said AUDIT_BROKEN." in says(answer)


@pytest.mark.parametrize("wrong", [{"digest": "1" * 63}, {"digest": ""}, {"operation": ""}, {"operation": "a b"}])
def test_a_form_that_no_page_wrote_is_refused(client: Client, ledger: Ledger, wrong: dict[str, str]) -> None:
    set_aside(ledger)
    form = hidden(get(client, REQUEST)) | {"confirmed": "1", "reason": WHY} | wrong
    before = contents(ledger.redis)
    for act in ("release", "discard"):
        assert client.post(at(act, id="a"), form).status_code == 400
        assert client.post(at(act), form).status_code == 400
    assert contents(ledger.redis) == before
