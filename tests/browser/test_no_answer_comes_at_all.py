"""The dashboard itself does not answer a press: the slip that says so lies in the page, and 'Check again' finds out."""

from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

from joobq_admin.joobq import keys
from tests.support.dashboard import Dashboard
from tests.support.letters import DIED, jid, letter
from tests.support.servers import Server

PRESS = "**/redrive"


def opened(dashboard: Dashboard, valkey: Server, page: Page) -> None:
    valkey.client.zadd(keys.DEAD, {letter(1, queue="invoices"): DIED})
    page.goto(f"{dashboard.url}/jobs/{jid(1)}/")


def lose_the_answer(route: Route) -> None:
    route.fetch()
    route.abort("connectionreset")


def test_it_was_done(dashboard: Dashboard, valkey: Server, new_page: Callable[..., Page]) -> None:
    page = new_page(expects=r"net::ERR|htmx:(sendError|afterRequest)")
    opened(dashboard, valkey, page)
    page.route(PRESS, lose_the_answer)
    page.get_by_role("button", name="Redrive to invoices").click()
    expect(page.locator("#action h2")).to_contain_text("Outcome unknown")
    expect(page.locator("#action h2")).to_be_focused()
    page.get_by_role("link", name="Check again").click()
    expect(page.locator("#action h2")).to_contain_text("by you")
    expect(page.locator("#action")).to_contain_text("Your first press arrived, only its answer was lost.")
    assert valkey.client.llen("invoices") == 1


def test_it_was_not_done_and_the_same_operation_is_pressed_again(
    dashboard: Dashboard, valkey: Server, new_page: Callable[..., Page]
) -> None:
    page = new_page(expects=r"net::ERR|htmx:(sendError|afterRequest)")
    opened(dashboard, valkey, page)
    operation = page.locator("#action [name=operation]").input_value()
    page.route(PRESS, lambda route: route.abort("connectionreset"))
    page.get_by_role("button", name="Redrive to invoices").click()
    page.get_by_role("link", name="Check again").click()
    expect(page.locator("#action h2")).to_contain_text("Not done as of")
    assert page.locator("#action [name=operation]").input_value() == operation
    page.unroute(PRESS)
    page.get_by_role("button", name="Press Redrive again").click()
    expect(page.locator("#action h2")).to_contain_text("Redriven. The job is next to run in invoices")
    assert valkey.client.llen("invoices") == 1
