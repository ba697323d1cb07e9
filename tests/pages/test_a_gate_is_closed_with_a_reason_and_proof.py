"""An admin closes the gate of a ledger with a reason, and opens it; the page proves that it holds; races are told."""

import threading

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.audit import AuditLog
from joobq_admin.joobq.delivery import Claim, Gate, Ledger, SettlementOutcome, State
from joobq_admin.pages import gate_panel
from joobq_admin.sso.roles import Role, User
from joobq_admin.triage import gates
from tests.support.database import changed, contents
from tests.support.eventually import eventually
from tests.support.gates import GATE, LEDGER, WHY, close, form, gate_of, opens
from tests.support.html import elements, get, says
from tests.support.ledgers import HOUR, MS, at, held, ledger_of, mend, spoil_header, until
from tests.support.operators import ANN, BOB
from tests.support.servers import Server

LOG = {keys.AUDIT, keys.AUDIT_INDEX}


@pytest.fixture
def ledger(client: Client, valkey: Server) -> Ledger:
    """Somebody who signed in lately looks at it."""
    client.post("/auth/confirm", {"next": "/"})
    return ledger_of(valkey.client)


@pytest.mark.parametrize("htmx", [True, False])
def test_it_asks_why_first_and_says_what_that_stops(client: Client, ledger: Ledger, htmx: bool) -> None:
    held(ledger, lease=HOUR)
    ledger.admit_many([("b", b"1"), ("c", b"1")])
    before = contents(ledger.redis)
    asked = form(get(client, LEDGER), "close-gate")
    for given in ({}, {"confirmed": "1", "reason": " "}):
        question = client.post(at("close-gate"), asked | given, headers=GATE if htmx else {})
        text = says(question)
        assert question.status_code == 200
        assert bool(elements(question, "dialog", id="gate-dialog")) == htmx
        assert question.get("HX-Retarget") == ("#dialog" if htmx else None)
        assert "Close the gate of shop / emails?" in text
        assert (
            "From that instant on no request is claimed and no lease is renewed. "
            "Work in flight may finish and settle. Admissions go on."
        ) in text
        assert "In flight now 1 Due now, will wait 2 Last lease ends, if not settled before in " in text
        assert ("A closed gate needs a reason" in text) == bool(given)
        assert "Shown to everyone on this page, with your name and the time." in text
        assert "Closed for long, leases run out: a worker that is still busy then loses its claim" in text
    assert contents(ledger.redis) == before


@pytest.mark.parametrize("htmx", [True, False])
def test_it_is_closed_recorded_and_everybody_sees_whose_it_is(client: Client, ledger: Ledger, htmx: bool) -> None:
    held(ledger)
    before = contents(ledger.redis)
    answer = close(client, htmx=htmx)
    assert answer.status_code == (200 if htmx else 303)
    page = answer if htmx else get(client, answer["Location"])
    assert changed(before, contents(ledger.redis)) == LOG | {ledger.gate_key.encode()}
    gate = ledger.gate()
    assert gate == Gate("dev", "dev", WHY, gate.closed_at)
    (record,) = AuditLog(ledger.redis).page().records
    assert (record.action, record.by, record.reason) == ("close gate", "dev", WHY)
    assert (record.fields["namespace"], record.queue) == ("shop", "emails")
    assert gate_of(page).startswith("Gate closed since ")
    assert "by you" in gate_of(page)
    assert WHY in gate_of(page)
    assert elements(page, "h2", id="gate-h", tabindex="-1")
    ledger.open_gate(ANN)
    ledger.close_gate(BOB, "another reason")
    for url in (LEDGER, at("request/", id="a"), "/deliveries/"):
        assert "by Bob" in says(get(client, url))
        assert "another reason" in says(get(client, url))


def test_the_proof_is_told_by_what_was_counted(client: Client, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    claims = [held(ledger, name, lease=HOUR) for name in ("a", "b", "c")]
    close(client)
    assert "No lease was given or renewed since: of the 3 leased records the newest change is from " in gate_of(
        get(client, LEDGER)
    )
    assert "Work in flight may finish: the last lease ends at" in gate_of(get(client, LEDGER))
    monkeypatch.setattr(gates, "MOST", 2)
    assert "of the last 2 leased records of 3 ids the newest change is from " in gate_of(get(client, LEDGER))
    monkeypatch.undo()
    assert [ledger.settle(claim).outcome for claim in claims] == [SettlementOutcome.APPLIED] * 3
    text = gate_of(get(client, LEDGER))
    assert "Nothing is in flight: 0 ids in the leases index, read " in text
    assert "and none can be added while the gate is closed." in text
    assert "What was in flight at " in text
    ledger.redis.zadd(ledger.leases_key, {"a": 1})
    assert "1 id in the leases index, and no record of them is leased" in gate_of(get(client, LEDGER))
    assert "1 lease is over: nobody can settle there any more." in gate_of(get(client, LEDGER))
    ledger.redis.zadd(ledger.leases_key, {f"ghost {n}": 1 for n in range(gates.MOST)})
    assert "501 ids in the leases index, and no record of the last 500 of them is leased" in gate_of(
        get(client, LEDGER)
    )


def test_nothing_is_proved_of_a_gate_that_was_opened_meanwhile(client: Client, ledger: Ledger) -> None:
    ledger.close_gate(ANN, WHY)
    stats = ledger.stats()
    assert gates.prove(ledger, stats)
    ledger.open_gate(ANN)
    assert gates.prove(ledger, stats) is None
    ledger.close_gate(BOB, WHY)
    assert gates.prove(ledger, stats) is None


def test_a_gate_that_does_not_hold_is_not_called_one_that_does(client: Client, ledger: Ledger) -> None:
    close(client)
    gate = ledger.redis.get(ledger.gate_key)
    ledger.redis.delete(ledger.gate_key)
    until(ledger.redis, int(gate.split()[0]))
    held(ledger)
    ledger.redis.set(ledger.gate_key, gate)
    text = gate_of(get(client, LEDGER))
    assert "Leases were given or renewed since: 1 of the 1 leased record, the last at " in text
    assert "What must not run, stop where it runs. To prove it anew, open the gate and close it again." in text
    assert elements(get(client, LEDGER), "p", class_="proof", data_holds="no")
    ledger.redis.set(ledger.gate_key, "closed by hand")
    text = gate_of(get(client, LEDGER))
    assert text.startswith("Gate closed When it was closed is not known, so nothing is proved: of the 1 leased record")
    assert "To have it proved, open the gate and close it here." in text
    opens(client, get(client, LEDGER))
    close(client)
    assert "No lease was given or renewed since: of the 1 leased record" in gate_of(get(client, LEDGER))


def test_a_record_that_cannot_be_read_proves_nothing(client: Client, ledger: Ledger) -> None:
    held(ledger, lease=HOUR)
    held(ledger, "b", lease=HOUR)
    spoil_header(ledger, "a")
    close(client)
    assert "Nothing is proved: 1 corrupt record in the leases index cannot tell. A repair" in gate_of(
        get(client, LEDGER)
    )
    assert elements(get(client, LEDGER), "p", class_="proof", data_holds="no")
    mend(ledger)
    assert "No lease was given or renewed since: of the 1 leased record" in gate_of(get(client, LEDGER))


def test_what_settles_between_two_reads_was_not_passed_over(client: Client, ledger: Ledger) -> None:
    claims = [held(ledger, name, lease=HOUR) for name in ("a", "b")]
    ledger.close_gate(ANN, WHY)
    stats = ledger.stats()
    ledger.settle(claims[0])
    shown = gate_panel.panel(ledger, stats, User("dev", "dev", Role.ADMIN))
    assert "of the 1 leased record the newest change is from" in shown.proof


class Worker(threading.Thread):
    """Claims, settles most at once, and the rest when it is told to stop."""

    def __init__(self, server: Server, over: threading.Event) -> None:
        super().__init__()
        self.ledger, self.over = ledger_of(server.connect()), over
        self.claimed_at, self.outcomes = list[int](), set[SettlementOutcome]()

    def run(self) -> None:
        kept = list[Claim]()
        while not self.over.is_set():
            claims = self.ledger.claim_many(self.name, 5, HOUR)
            self.claimed_at += (claim.lease_until - HOUR // MS for claim in claims)
            kept += claims[:1]
            self.settle(claims[1:])
        self.settle(kept)

    def settle(self, claims: list[Claim]) -> None:
        self.outcomes |= {done.outcome for done in self.ledger.settle_many((c, State.COMPLETED) for c in claims)}


def test_under_load_no_claim_comes_after_it_and_work_in_flight_settles(
    client: Client, valkey: Server, ledger: Ledger
) -> None:
    ledger.admit_many((str(n), b"1") for n in range(20_000))
    over = threading.Event()
    workers = [Worker(valkey, over) for _ in range(3)]
    for worker in workers:
        worker.start()
    try:
        eventually(lambda: min(len(worker.claimed_at) for worker in workers) > 100)
        assert close(client).status_code == 200
        closed_at = ledger.gate().closed_at
        until(ledger.redis, closed_at + 300)
        proof = gate_of(get(client, LEDGER))
    finally:
        over.set()
        for worker in workers:
            worker.join()
    claimed = [at for worker in workers for at in worker.claimed_at]
    assert max(claimed) <= closed_at
    assert len(claimed) < 20_000
    assert "No lease was given or renewed since: of the " in proof
    assert {outcome for worker in workers for outcome in worker.outcomes} == {SettlementOutcome.APPLIED}
    assert "Nothing is in flight: 0 ids in the leases index" in gate_of(get(client, LEDGER))
    assert ledger.stats().due == 20_000 - len(claimed)


# -- races


def test_the_second_who_closes_it_is_told_who_was_first(client: Client, ledger: Ledger) -> None:
    page = get(client, LEDGER)
    gate = ledger.close_gate(BOB, "mine").gate
    before = contents(ledger.redis)
    for htmx in (True, False):
        answer = close(client, page=page, htmx=htmx)
        assert answer.status_code == 409
        assert "Closed already since " in says(answer)
        assert "by Bob Your press did nothing: it stays as it was. mine " in says(answer)
    assert contents(ledger.redis) == before
    assert ledger.gate() == gate


def test_it_is_opened_and_recorded(client: Client, ledger: Ledger) -> None:
    ledger.close_gate(BOB, "mine")
    before = contents(ledger.redis)
    answer = opens(client, get(client, LEDGER))
    assert answer.status_code == 200
    assert "Gate opened It was closed since " in says(answer)
    assert "by Bob. Leases are given again." in says(answer)
    assert changed(before, contents(ledger.redis)) == LOG | {ledger.gate_key.encode()}
    (record,) = AuditLog(ledger.redis).page().records
    assert (record.action, record.by) == ("open gate", "dev")
    assert elements(answer, "form", action=at("close-gate"))
    ledger.close_gate(BOB, "mine")
    assert opens(client, get(client, LEDGER), htmx=False)["Location"] == LEDGER


def test_another_gate_than_the_one_that_was_seen_stays(client: Client, ledger: Ledger) -> None:
    ledger.close_gate(BOB, "mine")
    page = get(client, LEDGER)
    first = ledger.open_gate(BOB).gate
    until(ledger.redis, first.closed_at)
    gate = ledger.close_gate(ANN, "now the other shard").gate
    before = contents(ledger.redis)
    answer = opens(client, page)
    assert answer.status_code == 409
    told = "by Ann Āboliņa The one that you saw was opened meanwhile. Nothing was done. now the other shard "
    assert "Another gate is closed now since " in says(answer)
    assert told in says(answer)
    assert contents(ledger.redis) == before
    assert opens(client, answer).status_code == 200  # now it was seen
    assert ledger.gate() is None
    assert gate


def test_another_one_of_the_same_millisecond_stays_too(client: Client, ledger: Ledger) -> None:
    ledger.close_gate(BOB, "mine")
    page = get(client, LEDGER)
    ledger.redis.set(ledger.gate_key, ledger.redis.get(ledger.gate_key).replace(b"mine", b"yours"))
    before = contents(ledger.redis)
    assert "Another gate is closed now" in says(opens(client, page))
    assert contents(ledger.redis) == before


def test_who_opens_it_second_is_told_who_was_first(client: Client, ledger: Ledger) -> None:
    ledger.close_gate(BOB, "mine")
    page = get(client, LEDGER)
    ledger.open_gate(ANN)
    assert "Opened already Your press did nothing" in says(opens(client, page))
    AuditLog(ledger.redis).note("open gate", ANN, namespace="shop", queue="texts")
    AuditLog(ledger.redis).note("open gate", ANN, namespace="shop", queue="emails")
    answer = opens(client, page)
    assert answer.status_code == 409
    assert "Opened already by Ann Āboliņa at " in says(answer)
    assert elements(answer, "form", action=at("close-gate"))


@pytest.mark.parametrize("view", ["close-gate", "open-gate"])
def test_it_needs_a_sign_in_that_is_not_old(client: Client, valkey: Server, view: str) -> None:
    before = contents(valkey.client)
    answer = client.post(at(view), {"operation": "op-1", "confirmed": "1", "reason": WHY}, headers=GATE)
    assert answer.status_code == 403
    assert answer["HX-Retarget"] == "#dialog"
    assert "Confirm that it is you" in says(answer)
    assert contents(valkey.client) == before
