"""The screens of ledgers, brought up in a browser as those of screens.py are."""

from playwright.sync_api import Page, expect

from joobq_admin.joobq.audit import AuditLog
from joobq_admin.joobq.delivery import Ledger
from tests.support.dashboard import Dashboard
from tests.support.ledgers import HOUR, MS, at, held, ledger_of, run_out, set_aside
from tests.support.operators import ANN
from tests.support.servers import Server

LONG = "order-" + "4" * 200


def filled(server: Server) -> Ledger:
    """Something in each state, and of each kind of trouble."""
    ledger = ledger_of(server.client)
    set_aside(ledger, "bad")
    held(ledger, LONG, owner="worker-" + "x" * 80, lease=HOUR)
    ledger.settle(held(ledger, "done"))
    run_out(ledger, held(ledger, "over", lease=MS))
    ledger.admit("due", b'{"token":"hush","n":1}')
    ledger.admit("later", b"1", HOUR)
    return ledger


def all_ledgers(dashboard: Dashboard, server: Server, page: Page) -> None:
    filled(server)
    Ledger(server.client, "n" * 60, "q" * 120).close_gate(ANN, "warehouse migration " * 20)
    page.goto(f"{dashboard.url}/deliveries/")
    expect(page.locator("#ledgers tbody tr")).to_have_count(2)


def a_ledger(dashboard: Dashboard, server: Server, page: Page) -> None:
    filled(server)
    page.goto(dashboard.url + at("ledger/"))


def asks_to_close(dashboard: Dashboard, server: Server, page: Page) -> None:
    """By an admin who has confirmed lately."""
    a_ledger(dashboard, server, page)
    page.get_by_role("button", name="Close the gate…").click()
    page.get_by_role("button", name="Confirm", exact=True).click()
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.get_by_role("button", name="Close the gate…").click()
    expect(page.get_by_label("Reason")).to_be_focused()


def a_closed_gate(dashboard: Dashboard, server: Server, page: Page) -> None:
    asks_to_close(dashboard, server, page)
    page.get_by_label("Reason").fill("Warehouse migration")
    page.get_by_role("button", name="Close the gate", exact=True).click()
    expect(page.locator("#gate-h")).to_be_focused()
    expect(page.locator("#gate-h")).to_contain_text("by you")


def a_dry_run(dashboard: Dashboard, server: Server, page: Page) -> None:
    a_ledger(dashboard, server, page)
    page.get_by_role("button", name="See what it would mend").click()
    expect(page.locator("#rep-h")).to_have_text("A repair would mend this")
    expect(page.locator("#rep-h")).to_be_focused()


def a_repair(dashboard: Dashboard, server: Server, page: Page) -> None:
    a_dry_run(dashboard, server, page)
    page.get_by_role("button", name="Repair now").click()
    expect(page.locator("#rep-h")).to_have_text("Repaired, one whole cycle")


def asks_to_prune(dashboard: Dashboard, server: Server, page: Page) -> None:
    a_ledger(dashboard, server, page)
    page.get_by_label("Older than").fill("0")
    page.get_by_role("button", name="Count them").click()
    expect(page.locator("#pr-h")).to_be_focused()
    page.get_by_role("button", name="Prune 1…").click()
    expect(page.get_by_label("Reason")).to_be_focused()


def a_request(dashboard: Dashboard, server: Server, page: Page) -> None:
    filled(server).close_gate(ANN, "warehouse migration")
    page.goto(dashboard.url + at("request/", id=LONG))
    expect(page.locator("#lease")).to_contain_text("Held by worker-")


def asks_to_discard(dashboard: Dashboard, server: Server, page: Page) -> None:
    filled(server)
    page.goto(dashboard.url + at("request/", id="bad"))
    page.get_by_role("button", name="Discard…").click()
    expect(page.get_by_label("Reason")).to_be_focused()


def discarded(dashboard: Dashboard, server: Server, page: Page) -> None:
    asks_to_discard(dashboard, server, page)
    page.get_by_label("Reason").fill("Half a record")
    page.get_by_role("button", name="Discard for good").click()
    expect(page.locator("#quarantined h2")).to_be_focused()
    expect(page.locator("#quarantined h2")).to_have_text("Discarded. Record and copy are gone")


def no_request(dashboard: Dashboard, server: Server, page: Page) -> None:
    page.goto(dashboard.url + at("request/", id="none"))
    expect(page.get_by_role("heading", name="No record of this request")).to_be_visible()


def what_an_operation_did(dashboard: Dashboard, server: Server, page: Page) -> None:
    log = AuditLog(server.client)
    for action in ("begin repair", "repair"):
        log.note(action, ANN, "why", "op-1", namespace="shop", queue="emails", expired="1", mended="2", quarantined="0")
    page.goto(f"{dashboard.url}/operations/op-1/")
    expect(page.get_by_role("link", name="Open the ledger")).to_be_visible()


PAGES = [
    all_ledgers, asks_to_close, a_closed_gate, a_repair, asks_to_prune, a_request, asks_to_discard, discarded,
    no_request, what_an_operation_did,
]  # fmt: skip
