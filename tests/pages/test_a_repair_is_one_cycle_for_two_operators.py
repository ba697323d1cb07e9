"""A repair by its page: a dry run first, then steps; whoever begins it too goes on with the same cycle."""

from collections.abc import Callable
from copy import copy

import pytest
from django.http import HttpResponse
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.audit import AuditLog, Record
from joobq_admin.joobq.delivery import Ledger
from joobq_admin.pages import repairs
from tests.support.database import changed, contents
from tests.support.elsewhere import redis_at
from tests.support.html import elements, get, hidden, says
from tests.support.ledgers import agrees, at, ledger_of, spoil_header
from tests.support.operators import ANN, at_once
from tests.support.servers import Proxy, Server

LEDGER, REPAIR = at("ledger/"), at("repair")
PANEL = {"HX-Request": "true", "HX-Target": "repair"}
LOG, CYCLE = {keys.AUDIT, keys.AUDIT_INDEX}, keys.repair("shop", "emails")
MANY = 500
FOUND = "Leases ended 0 Index entries mended 40 Quarantined 3"


@pytest.fixture
def ledger(client: Client, valkey: Server) -> Ledger:
    """40 index entries lie, three records are corrupt."""
    ledger = ledger_of(valkey.client)
    ledger.admit_many((str(n), b"1") for n in range(MANY))
    valkey.client.zadd(ledger.ready_key, {f"ghost {n}": 1 for n in range(40)})
    for n in range(3):
        spoil_header(ledger, str(n))
    return ledger


@pytest.fixture
def short_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repairs, "SECONDS", 0)


@pytest.fixture
def one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repairs, "SECONDS", 60)


def forms(page: HttpResponse) -> list[dict[str, str]]:
    return elements(page, "form", action=REPAIR)


def fields(page: HttpResponse, label: str) -> dict[str, str]:
    """Hidden fields of the form whose button says this."""
    text = page.content.decode()
    (form,) = [part for part in text.split("<form")[1:] if f'action="{REPAIR}"'.replace("&", "&amp;") in part
               and label in part.partition("</form>")[0]]  # fmt: skip
    return hidden(HttpResponse(f"<form{form.partition('</form>')[0]}"))


def press(client: Client, page: HttpResponse, label: str, htmx: bool = True) -> HttpResponse:
    return client.post(REPAIR, fields(page, label), headers=PANEL if htmx else {})


def to_the_end(client: Client, page: HttpResponse, label: str = "Next page") -> tuple[HttpResponse, int]:
    steps = 0
    while label in says(page):
        assert [form for form in forms(page) if "load delay:" in form.get("hx-trigger", "")]
        page, steps = press(client, page, label), steps + 1
    return page, steps


def records(ledger: Ledger) -> list[Record]:
    return list(AuditLog(ledger.redis).page().records)


@pytest.mark.parametrize("htmx", [True, False])
def test_a_dry_run_says_what_it_would_mend_and_changes_nothing(
    client: Client, ledger: Ledger, short_steps: None, htmx: bool
) -> None:
    before = contents(ledger.redis)
    page = press(client, get(client, LEDGER), "See what it would mend", htmx)
    assert "Looking, nothing is changed: records" in says(page)
    assert bool(elements(page, "main")) != htmx
    page, steps = to_the_end(client, page)
    assert steps > 3
    text = says(page)
    assert "A repair would mend this Looked at " in text
    assert f"{MANY} records read, {MANY + 40} ids in ready and leases checked" in text
    assert "Leases over 0 Index entries that lie 40 Corrupt 3" in text
    assert contents(ledger.redis) == before
    page, _ = to_the_end(client, press(client, page, "Repair now"))
    assert FOUND in says(page)
    assert "Nothing to mend" in says(to_the_end(client, press(client, page, "See what it would mend"))[0])


@pytest.mark.parametrize("htmx", [True, False])
def test_it_goes_page_by_page_to_its_end_and_is_recorded(
    client: Client, ledger: Ledger, short_steps: None, htmx: bool
) -> None:
    before = contents(ledger.redis)
    page = press(client, get(client, LEDGER), "Start a cycle", htmx)
    assert "Repairing: records Page by page while this page is open." in says(page)
    assert [(record.action, record.by) for record in records(ledger)] == [("begin repair", "dev")]
    page, steps = to_the_end(client, page)
    assert steps > 3
    text = says(page)
    assert "Repaired, one whole cycle Finished at " in text
    assert f"{MANY} records and both indexes, begun by you at " in text
    assert FOUND in text
    assert agrees(ledger)
    moved = {ledger.ready_key.encode(), ledger.quarantine_key.encode(), CYCLE}
    assert changed(before, contents(ledger.redis)) == LOG | moved
    ended, _ = records(ledger)
    numbers = {name: ended.fields[name] for name in ("scanned", "expired", "mended", "quarantined")}
    assert (ended.action, ended.by) == ("repair", "dev")
    assert numbers == {"scanned": str(2 * MANY - 3 + 40), "expired": "0", "mended": "40", "quarantined": "3"}
    assert "Repaired, one whole cycle" in says(get(client, LEDGER))


def test_in_one_step_it_is_one_record(client: Client, ledger: Ledger, one_step: None) -> None:
    press(client, get(client, LEDGER), "Start a cycle")
    assert [record.action for record in records(ledger)] == ["repair"]


def test_two_who_start_it_go_on_with_one_cycle(
    client: Client, ledger: Ledger, valkey: Server, short_steps: None
) -> None:
    pages = [get(client, LEDGER) for _ in range(3)]
    others = [copy(client) for _ in pages]
    began = at_once(*(lambda n=n: press(others[n], pages[n], "Start a cycle") for n in range(3)))
    assert [page.status_code for page in began] == [200] * 3
    ended = at_once(*(lambda n=n: to_the_end(others[n], began[n])[0] for n in range(3)))
    for page in ended:
        assert FOUND in says(page)
        assert f"{MANY} records read" in says(page)
    assert [record.action for record in records(ledger)] == ["repair", "begin repair"]
    assert len({record.operation for record in records(ledger)}) == 1


def test_who_comes_later_sees_who_began_it_and_can_go_on(client: Client, ledger: Ledger, short_steps: None) -> None:
    ledger.begin_cycle("op-1", ANN, 0)
    page = get(client, LEDGER)
    text = says(page)
    assert "Repairing: records Begun by Ann Āboliņa at " in text
    assert "It goes on while somebody's page does: its last step was at " in text
    assert not [form for form in forms(page) if "load" in form.get("hx-trigger", "")]
    page, _ = to_the_end(client, press(client, page, "Go on with it"))
    assert "begun by Ann Āboliņa at " in says(page)
    (ended,) = records(ledger)
    assert (ended.action, ended.by, ended.operation) == ("repair", ANN.id, "op-1")


def test_one_that_stood_still_for_too_long_is_begun_anew(client: Client, ledger: Ledger, short_steps: None) -> None:
    ledger.begin_cycle("op-1", ANN, 0)
    page = get(client, LEDGER)
    ledger.redis.delete(CYCLE)
    answer = press(client, page, "Go on with it")
    assert answer.status_code == 409
    assert "No cycle goes on How far it came is kept in Redis for an hour" in says(answer)
    assert "Start a cycle" in says(answer)
    assert records(ledger) == []


@pytest.mark.parametrize("fields", [None, {"x": "y"}, {"operation": "op-1", "ended": ""}])
def test_what_is_no_cycle_stops_neither_page_nor_repair(
    client: Client, ledger: Ledger, one_step: None, fields: dict[str, str] | None
) -> None:
    ledger.redis.hset(CYCLE, mapping=fields) if fields else ledger.redis.set(CYCLE, "rubbish")
    page = get(client, LEDGER)
    assert page.status_code == 200
    assert press(client, page, "See what it would mend", htmx=False).status_code == 200
    assert FOUND in says(press(client, page, "Start a cycle", htmx=False))
    assert agrees(ledger)


def test_a_viewer_sees_how_far_it_is_and_cannot_press(client: Client, ledger: Ledger, short_steps: None) -> None:
    ledger.begin_cycle("op-1", ANN, 0)
    client.post("/auth/dev-role", {"role": "viewer"})
    page = get(client, LEDGER)
    assert "Repairing: records Begun by Ann Āboliņa" in says(page)
    assert forms(page) == []
    assert client.post(REPAIR, {"operation": "op-1"}).status_code == 403


def test_when_an_answer_is_lost_it_stops_and_can_go_on(
    client: Client, ledger: Ledger, valkey: Server, new_proxy: Callable[[Server], Proxy], short_steps: None
) -> None:
    page, proxy = press(client, get(client, LEDGER), "Start a cycle"), new_proxy(valkey)
    with redis_at(proxy.url):
        proxy.swallow()
        lost = press(client, page, "Next page")
    assert lost.status_code == 503
    assert "Outcome unknown" in says(lost)
    assert "What is mended is mended; it can go on from here." in says(lost)
    assert not [form for form in forms(lost) if "load" in form.get("hx-trigger", "")]
    ledger.redis.hset(CYCLE, "until", 1)  # or five seconds later
    page, _ = to_the_end(client, press(client, lost, "Go on with it"))
    assert "Repaired, one whole cycle" in says(page)
    assert "The answer of a step was lost: more may be mended than is counted." in says(page)
    assert records(ledger)[0].fields["answer"] == "lost"
    assert agrees(ledger)


def test_when_it_cannot_be_recorded_that_is_said(client: Client, ledger: Ledger, one_step: None) -> None:
    ledger.redis.set(keys.AUDIT, "no stream")
    page = press(client, get(client, LEDGER), "Start a cycle")
    assert FOUND in says(page)
    assert "It is in no record: the audit log does not take one. Redis said AUDIT_BROKEN." in says(page)


@pytest.mark.parametrize(
    "wrong", [{"cursor": "0"}, {"cursor": "x:1"}, {"look": "2"}, {"mended": "a"}, {"operation": ""}]
)
def test_a_form_that_no_page_wrote_is_refused(client: Client, ledger: Ledger, wrong: dict[str, str]) -> None:
    before = contents(ledger.redis)
    assert client.post(REPAIR, {"operation": "op-1", "look": "1"} | wrong).status_code == 400
    assert contents(ledger.redis) == before
