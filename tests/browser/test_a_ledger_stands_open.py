"""A ledger that stands open: its numbers change, and nothing that its reader does is lost; presses stay on the page."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from joobq_admin.joobq.delivery import Ledger
from tests.support.dashboard import Dashboard
from tests.support.eventually import eventually
from tests.support.ledgers import HOUR, agrees, at, held, ledger_of, set_aside, spoil_header
from tests.support.operators import BOB
from tests.support.servers import Server

COUNT_LOOKS_HELD_BACK = """
    held = 0;
    document.addEventListener("htmx:beforeRequest", (event) => { held += event.defaultPrevented; });
"""


@pytest.fixture
def ledger(valkey: Server) -> Ledger:
    ledger = ledger_of(valkey.client)
    ledger.admit_many((f"order-{n}", b"1") for n in range(30))
    return ledger


def opened(dashboard: Dashboard, page: Page, view: str = "ledger/", **query: str) -> None:
    page.clock.install()
    page.goto(dashboard.url + at(view, **query))


def a_look_later(page: Page) -> None:
    page.clock.fast_forward(5_000)


def looked_until(page: Page, box: str, text: str) -> None:
    """As often as it takes: a look that is due while another is under way is left out."""
    eventually(lambda: a_look_later(page) or text in page.locator(box).inner_text())


def test_numbers_and_gate_change_and_focus_stays(dashboard: Dashboard, ledger: Ledger, page: Page) -> None:
    opened(dashboard, page)
    numbers, gate = page.locator("#numbers"), page.locator("#gate")
    expect(numbers).to_contain_text("30 records")
    tops = "() => [...document.querySelectorAll('#requests a')].map((a) => a.href + a.getBoundingClientRect().top)"
    page.get_by_role("button", name="Close the gate…").focus()
    before = page.evaluate(tops)
    held(ledger, "order-0")
    ledger.admit("one more", b"1")
    looked_until(page, "#numbers", "31 records")
    expect(page.locator("#gate-button")).to_be_focused()
    assert page.evaluate(tops) == before
    ledger.close_gate(BOB, "another shard")
    looked_until(page, "#gate", "by Bob")
    expect(gate).to_contain_text("No lease was given or renewed since: of the 1 leased record")
    expect(page.get_by_role("button", name="Open the gate")).to_be_focused()
    page.get_by_role("link", name="Read again").click()
    expect(page.locator("#requests")).to_contain_text("LEASED")


def test_it_does_not_look_while_somebody_selects_answers_or_is_away(
    dashboard: Dashboard, ledger: Ledger, page: Page
) -> None:
    opened(dashboard, page)
    page.evaluate(COUNT_LOOKS_HELD_BACK)
    ledger.admit("one more", b"1")
    for begin, end in (
        ("getSelection().selectAllChildren(document.querySelector('#requests'))", "getSelection().empty()"),
        ("document.querySelector('#keys').showModal()", "document.querySelector('#keys').close()"),
        ("Object.defineProperty(document, 'hidden', { value: true, configurable: true })", "delete document.hidden"),
    ):
        page.evaluate(begin)
        before = page.evaluate("held")
        eventually(lambda before=before: a_look_later(page) or page.evaluate("held") > before)
        expect(page.locator("#numbers")).to_contain_text("30 records")
        page.evaluate(end)
    looked_until(page, "#numbers", "31 records")


def test_where_no_answer_comes_what_was_read_stays_and_says_so(
    dashboard: Dashboard, ledger: Ledger, new_page: Callable[..., Page]
) -> None:
    page = new_page(expects=r"net::ERR|htmx:|Response Status Error Code|status of 502")
    held(ledger, "order-0", lease=HOUR)
    for view, query, box in (("ledger/", {}, "#numbers"), ("request/", {"id": "order-0"}, "#lease")):
        opened(dashboard, page, view, **query)
        url = page.url
        for answer in (
            lambda route: route.abort("connectionreset"),
            lambda route: route.fulfill(status=503),
            lambda route: route.fulfill(status=502, body="<html>a proxy's own page</html>"),
        ):
            page.route("**/deliveries/**", answer)
            unanswered = page.locator(f"{box} .unanswered")
            eventually(lambda said=unanswered: a_look_later(page) or said.is_visible())
            assert page.url == url
            page.unroute("**/deliveries/**")
            eventually(lambda said=unanswered: a_look_later(page) or said.is_hidden())


def test_a_press_without_an_answer_is_made_again_plainly(
    dashboard: Dashboard, ledger: Ledger, new_page: Callable[..., Page]
) -> None:
    """The same operation: it cannot be done twice."""

    def lose(route: Route) -> None:
        if "hx-request" in route.request.headers:
            route.abort("connectionreset")
        else:
            route.continue_()

    page = new_page(expects=r"net::ERR|htmx:")
    page.goto(dashboard.url + at("ledger/"))
    page.route("**/deliveries/repair*", lose)
    page.get_by_role("button", name="Start a cycle").click()
    expect(page.locator("#rep-h")).to_have_text("Repaired, one whole cycle")
    assert ledger.cycle().ended_at


def test_a_repair_goes_on_by_itself_and_its_end_is_read_out(dashboard: Dashboard, ledger: Ledger, page: Page) -> None:
    ledger.admit_many((str(n), b"x" * 500) for n in range(5_000))
    spoil_header(ledger, "7")
    ledger.redis.zremrangebyrank(ledger.ready_key, 0, 49)
    page.goto(dashboard.url + at("ledger/"))
    page.get_by_role("button", name="Start a cycle").click()
    expect(page.locator("#rep-h")).to_contain_text("Repairing: ")
    expect(page.locator("#rep-h")).to_have_text("Repaired, one whole cycle", timeout=20_000)
    expect(page.locator("#rep-h")).to_be_focused()
    expect(page.locator("#live")).to_have_text("Repaired, one whole cycle")
    assert agrees(ledger)


def test_a_lease_counts_down_and_its_end_is_shown(dashboard: Dashboard, ledger: Ledger, page: Page) -> None:
    claim = held(ledger, "order-0", lease=HOUR)
    opened(dashboard, page, "request/", id="order-0")
    expect(page.locator("#lease")).to_contain_text("Held by w.")
    ledger.settle(claim)
    looked_until(page, "#lease", "COMPLETED is final.")
    expect(page.locator("#request-head")).to_contain_text("COMPLETED")
    expect(page.locator("#record")).to_contain_text("who settled it")
    assert page.locator("#lease[hx-get]").count() == 0


def test_a_dialog_that_is_left_gives_focus_back(dashboard: Dashboard, ledger: Ledger, page: Page) -> None:
    set_aside(ledger, "bad")
    page.goto(dashboard.url + at("request/", id="bad"))
    button = page.get_by_role("button", name="Discard…")
    button.click()
    expect(page.get_by_label("Reason")).to_be_focused()
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    assert ledger.look("bad").quarantined
