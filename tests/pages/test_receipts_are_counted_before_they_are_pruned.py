"""Old receipts: counted, asked about, and deleted in steps by an admin; leases that are over end at a press."""

import re
from collections.abc import Callable

import pytest
from django.http import HttpResponse
from django.test import Client
from redis import exceptions

from joobq_admin.joobq import keys
from joobq_admin.joobq.audit import AuditLog
from joobq_admin.joobq.delivery import Ledger, State
from joobq_admin.pages import upkeep
from tests.support.database import changed, contents
from tests.support.elsewhere import redis_at
from tests.support.html import elements, get, hidden, says
from tests.support.ledgers import HOUR, MS, agrees, at, held, ledger_of, run_out, until
from tests.support.servers import Proxy, Server

LEDGER, PRUNE, EXPIRE, WHY = at("ledger/"), at("prune"), at("expire"), "the year is over"
LOG = {keys.AUDIT, keys.AUDIT_INDEX}
MANY = 700
NO_RECORD = "It is in no record: the audit log does not take one. Redis said AUDIT_BROKEN."


@pytest.fixture
def ledger(client: Client, valkey: Server) -> Ledger:
    """Many receipts, one request that waits, one that is leased."""
    ledger = ledger_of(valkey.client)
    ledger.admit_many((str(n), b"1") for n in range(MANY))
    while claims := ledger.claim_many("w"):
        ledger.settle_many((claim, State.COMPLETED) for claim in claims)
    held(ledger, "leased")
    ledger.admit("waits", b"1")
    until(valkey.client, ledger.stats().at)
    return ledger


@pytest.fixture
def short_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "SECONDS", 0)


@pytest.fixture
def one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "SECONDS", 60)


def post(client: Client, form: dict[str, str], htmx: bool = True, target: str = "prune") -> HttpResponse:
    headers = {"HX-Request": "true", "HX-Target": target} if htmx else {}
    return client.post(at(target), form, headers=headers)


def fields(page: HttpResponse) -> dict[str, str]:
    """Hidden fields of the form that prunes."""
    part = page.content.decode().split(f'action="{PRUNE}"'.replace("&", "&amp;"))[1].partition("</form>")[0]
    return hidden(HttpResponse(f"<form {part}"))


def counted(client: Client, days: int = 0, htmx: bool = True) -> HttpResponse:
    page = post(client, fields(get(client, LEDGER)) | {"days": str(days)}, htmx)
    while "Next page" in says(page):
        page = post(client, fields(page), htmx)
    return page


def answered(client: Client, question: HttpResponse, n: object, reason: str = WHY, htmx: bool = True) -> HttpResponse:
    return post(client, fields(question) | {"reason": reason, "count": str(n)}, htmx)


@pytest.mark.parametrize("htmx", [True, False])
def test_they_are_counted_first_and_nothing_moves(
    client: Client, ledger: Ledger, short_steps: None, htmx: bool
) -> None:
    before = contents(ledger.redis)
    first = post(client, fields(get(client, LEDGER)) | {"days": "0"}, htmx)
    assert "Counting, nothing is changed" in says(first)
    assert f"of about {MANY + 2} records read" in says(first)
    page = counted(client, 0, htmx)
    assert f"{MANY} receipts can be pruned Receipts of any age." in says(page)
    assert "nothing is changed yet." in says(page)
    assert elements(page, "input", type="number", value="0")  # another age can be asked for
    assert not elements(first, "input", type="number", name="days")
    assert "No receipt is that old Receipts that have not changed for 30 days." in says(counted(client, 30, htmx))
    question = post(client, fields(page), htmx)
    assert bool(elements(question, "dialog", id="prune-dialog")) == htmx
    for words in (f"Prune {MANY} receipts of shop / emails?", f"Type {MANY} to prune for good", "This is for good."):
        assert words in says(question)
    for n, reason in ((MANY - 1, WHY), ("", WHY), (MANY, " ")):
        again = answered(client, question, n, reason, htmx)
        assert f"Type {MANY} to prune for good" in says(again)
        assert (f"That was not {MANY}, so nothing was pruned." in says(again)) == (n != MANY)
    assert contents(ledger.redis) == before


@pytest.mark.parametrize("htmx", [True, False])
def test_they_go_in_steps_nothing_else_does_and_it_is_recorded(
    client: Client, ledger: Ledger, short_steps: None, htmx: bool
) -> None:
    question = post(client, fields(counted(client, 0, htmx)), htmx)
    before = contents(ledger.redis)
    page, steps = answered(client, question, MANY, htmx=htmx), 0
    assert "Pruning: " in says(page)
    while "Next page" in says(page):
        page, steps = post(client, fields(page), htmx), steps + 1
    assert steps > 1
    assert f"Pruned {MANY} receipts They are gone for good" in says(page)
    kinds = {ledger.records_key.encode(), ledger.payloads_key.encode()}
    assert changed(before, contents(ledger.redis)) == LOG | kinds
    assert set(ledger.redis.hkeys(ledger.records_key)) == {b"leased", b"waits"}
    assert agrees(ledger)
    last, first = AuditLog(ledger.redis).page().records
    assert (first.action, last.action) == ("begin prune", "prune")
    assert (first.reason, last.reason, last.fields["pruned"], last.fields["older_than"]) == (WHY, WHY, str(MANY), "0 d")
    assert first.operation == last.operation


def test_two_who_prune_what_both_have_counted_are_told_what_each_did(
    client: Client, ledger: Ledger, short_steps: None
) -> None:
    """And whoever prunes more than was counted, as more has grown as old, is told too."""
    questions = [post(client, fields(counted(client))) for _ in range(2)]
    pages = [answered(client, question, MANY) for question in questions]
    while any("Next page" in says(page) for page in pages):
        pages = [post(client, fields(page)) if "Next page" in says(page) else page for page in pages]
    gone = [int(re.search(r"Pruned (\d+) receipt", says(page))[1]) for page in pages]
    assert sum(gone) == MANY
    assert [f"Counted before: {MANY}." in says(page) for page in pages] == [n != MANY for n in gone]
    assert [int(record.fields["pruned"]) for record in reversed(AuditLog(ledger.redis).page().records)
            if record.action == "prune"] == gone  # fmt: skip
    ledger.settle(ledger.claim("w"))
    until(ledger.redis, ledger.stats().at)
    question = post(client, fields(counted(client)))
    ledger.settle(held(ledger, "grown as old"))
    until(ledger.redis, ledger.stats().at)
    text = says(answered(client, question, 1))
    assert "Pruned 2 receipts" in text
    assert "Counted before: 1." in text


def test_a_lost_answer_stops_it_and_it_goes_on_from_there(
    client: Client, ledger: Ledger, valkey: Server, new_proxy: Callable[[Server], Proxy], short_steps: None
) -> None:
    question, proxy = post(client, fields(counted(client))), new_proxy(valkey)
    page = answered(client, question, MANY)
    with redis_at(proxy.url):
        proxy.swallow()
        lost = post(client, fields(page))
    assert lost.status_code == 503
    assert "Outcome unknown" in says(lost)
    assert "Gone until now: at least " in says(lost)
    assert not elements(lost, "form", hx_trigger="submit, load delay:50ms")
    while "Next page" in says(lost) or "Continue" in says(lost):
        lost = post(client, fields(lost))
    assert "Pruned at least " in says(lost)
    assert set(ledger.redis.hkeys(ledger.records_key)) == {b"leased", b"waits"}
    assert AuditLog(ledger.redis).page().records[0].fields["answer"] == "lost"


def test_what_is_in_no_record_is_said_from_the_first_step_on(client: Client, ledger: Ledger, short_steps: None) -> None:
    question = post(client, fields(counted(client)))
    ledger.redis.set(keys.AUDIT, "no stream")
    page = answered(client, question, MANY)
    assert "Pruning: " in says(page)
    assert NO_RECORD in says(page)
    while "Next page" in says(page):
        page = post(client, fields(page))
    assert f"Pruned {MANY} receipts" in says(page)
    assert NO_RECORD in says(page)


def test_what_was_done_before_redis_refused_counts(
    client: Client, ledger: Ledger, one_step: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the same step: the next one meets the refusal, and says how many are gone."""
    question, prune, pages = post(client, fields(counted(client))), Ledger.prune, []

    def refused_at_third(*args: object) -> object:
        if len(pages) == 2:
            raise exceptions.ReadOnlyError("READONLY You can't write against a read only replica.")
        pages.append(prune(*args))
        return pages[-1]

    monkeypatch.setattr(Ledger, "prune", refused_at_third)
    page = answered(client, question, MANY)
    assert page.status_code == 200
    gone = sum(page.pruned for page in pages)
    assert f"Pruning: {gone} receipts gone" in says(page)
    stopped = post(client, fields(page))
    assert stopped.status_code == 503
    assert f"{sum(page.scanned for page in pages)} of about {MANY + 2} records read" in says(stopped)
    assert f"Gone until now: {gone} receipts. It can go on from here." in says(stopped)
    monkeypatch.setattr(Ledger, "prune", prune)
    page = post(client, fields(stopped))
    assert f"Pruned {MANY} receipts" in says(page)
    assert [record.action for record in AuditLog(ledger.redis).page().records] == ["prune", "begin prune"]


@pytest.mark.parametrize("days", ["", "-1", "1.5", "x", "36501", "٣", "1" * 9])
def test_an_age_that_is_none_is_refused(client: Client, ledger: Ledger, days: str) -> None:
    before = contents(ledger.redis)
    for more in ({"count_first": "1"}, {"confirmed": "1", "reason": WHY, "count": "0"}):
        assert client.post(PRUNE, {"operation": "op-1", "days": days} | more).status_code == 400
    assert contents(ledger.redis) == before


def test_an_operator_may_not_prune(client: Client, ledger: Ledger) -> None:
    client.post("/auth/dev-role", {"role": "operator"})
    before = contents(ledger.redis)
    assert not elements(get(client, LEDGER), "form", action=PRUNE)
    assert client.post(PRUNE, {"operation": "op-1", "days": "0", "count_first": "1"}).status_code == 403
    assert contents(ledger.redis) == before


# -- leases that are over


def expire(client: Client, htmx: bool = True) -> HttpResponse:
    (form,) = elements(get(client, LEDGER), "form", action=EXPIRE)
    return post(client, {"operation": "op-1"}, htmx, "expire") if form else None


@pytest.mark.parametrize("htmx", [True, False])
def test_leases_that_are_over_end(client: Client, valkey: Server, one_step: None, htmx: bool) -> None:
    ledger = ledger_of(valkey.client)
    held(ledger, "live", lease=HOUR)
    ledger.admit_many((str(n), b"1") for n in range(300))
    claims = [claim for _ in range(3) for claim in ledger.claim_many("w", 100, MS)]
    run_out(ledger, claims[-1])
    before = contents(valkey.client)
    answer = expire(client, htmx)
    assert answer.status_code == 200
    assert "Ended 300 leases Their requests are due again; their attempts are kept." in says(answer)
    assert bool(elements(answer, "main")) != htmx
    kinds = {key.encode() for key in (ledger.records_key, ledger.ready_key, ledger.leases_key)}
    assert changed(before, contents(valkey.client)) == LOG | kinds
    assert agrees(ledger)
    assert ledger.stats().due == 300
    (record,) = AuditLog(valkey.client).page().records
    assert (record.action, record.by, record.fields["expired"]) == ("expire", "dev", "300")


def test_when_none_is_over_nothing_is_done_nor_recorded(client: Client, valkey: Server) -> None:
    held(ledger_of(valkey.client))
    before = contents(valkey.client)
    assert "No lease is over None was ended." in says(expire(client))
    assert contents(valkey.client) == before


def test_more_than_a_moment_allows_end_at_the_next_press(client: Client, valkey: Server, short_steps: None) -> None:
    ledger = ledger_of(valkey.client)
    ledger.admit_many((str(n), b"1") for n in range(200))
    claims = [claim for _ in range(2) for claim in ledger.claim_many("w", 100, MS)]
    run_out(ledger, claims[-1])
    answer = expire(client)
    assert "Ended 128 leases" in says(answer)
    assert "More of them are over." in says(answer)
    assert "End more of them" in says(answer)


def test_those_behind_index_entries_that_lie_end_too(client: Client, valkey: Server, one_step: None) -> None:
    ledger = ledger_of(valkey.client)
    run_out(ledger, held(ledger, "over", lease=MS))
    valkey.client.zadd(ledger.leases_key, {f"ghost {n}": 1 for n in range(300)})
    assert "Ended 1 lease Their requests are due again" in says(expire(client))
    assert ledger.stats().due == 1


def test_where_redis_refuses_that_is_said(client: Client, valkey: Server, new_server: Callable[..., Server]) -> None:
    get(client, LEDGER)
    with redis_at(new_server(replica_of=new_server()).url):
        answer = post(client, {"operation": "op-1"}, target="expire")
        assert answer.status_code == 503
        assert "Redis takes no changes now Redis said READONLY." in says(answer)
