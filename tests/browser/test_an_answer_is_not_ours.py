"""What answers a press is no slip: a sign-in that is over, a mistake of ours, a page of the proxy. Told as it is."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from joobq_admin.joobq import keys
from tests.support.dashboard import Dashboard, signed_in
from tests.support.letters import DIED, digest, jid, letter
from tests.support.servers import Server

LETTER = letter(1, queue="invoices")
PRESS, CHECK = "**/redrive", "**/operations/*/?action=*"
A_500 = r"status of 500|htmx:(responseError|afterRequest)|Response Status Error Code"
PROXYS = "<!doctype html><title>no</title><h1>Not now</h1>"


def opened(dashboard: Dashboard, valkey: Server, page: Page) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    page.goto(f"{dashboard.url}/jobs/{jid(1)}/")


def heading(page: Page, text: str) -> None:
    expect(page.locator("#action h2")).to_contain_text(text)
    expect(page.locator("#action h2")).to_be_focused()
    expect(page.locator("#live")).to_contain_text(text)


def test_signed_out_the_press_did_nothing(guarded: Dashboard, valkey: Server, new_page: Callable[..., Page]) -> None:
    page = new_page(headers=signed_in("mara"), expects=A_500)
    opened(guarded, valkey, page)
    page.set_extra_http_headers({"X-JoobQ-Admin-Proxy-Secret": "no longer"})
    page.get_by_role("button", name="Redrive to invoices").click()
    heading(page, "You are signed out. Your press did nothing")
    assert valkey.client.zscore(keys.DEAD, LETTER) == DIED
    page.set_extra_http_headers(signed_in("mara"))
    page.get_by_role("link", name="Load the page again").click()
    expect(page.get_by_role("button", name="Redrive to invoices")).to_be_visible()


def test_signed_out_while_checking_it_does_not_say_that_nothing_was_done(
    dashboard: Dashboard, valkey: Server, new_page: Callable[..., Page]
) -> None:
    page = new_page(expects=f"{A_500}|net::ERR|htmx:sendError")
    opened(dashboard, valkey, page)
    page.route(PRESS, lambda route: route.abort("connectionreset"))
    page.get_by_role("button", name="Redrive to invoices").click()
    heading(page, "Outcome unknown")
    page.route(CHECK, lambda route: route.fulfill(status=401, body="401: nobody is signed in"))
    page.get_by_role("link", name="Check again").click()
    expect(page.locator("body")).to_have_text("401: nobody is signed in")


def test_a_mistake_of_ours_leaves_it_open_and_can_be_checked(
    dashboard: Dashboard, valkey: Server, new_page: Callable[..., Page]
) -> None:
    page = new_page(expects=A_500)
    opened(dashboard, valkey, page)
    operation = page.locator("#action [name=operation]").input_value()
    page.route(PRESS, lambda route: route.fulfill(status=500, body='<section id="action">no'))
    page.get_by_role("button", name="Redrive to invoices").click()
    heading(page, "This dashboard made a mistake")
    expect(page.locator("#action")).to_contain_text("it may or may not be done")
    assert page.locator("#action [name=operation]").input_value() == operation
    page.get_by_role("link", name="Check again").click()
    heading(page, "Not done as of")


@pytest.mark.parametrize("status", [200, 403, 413, 502, 503])
def test_a_page_of_the_proxy_is_no_answer(
    dashboard: Dashboard, valkey: Server, new_page: Callable[..., Page], status: int
) -> None:
    page = new_page(expects=rf"status of {status}|{A_500}")
    opened(dashboard, valkey, page)
    page.route(PRESS, lambda route: route.fulfill(status=status, body=PROXYS, content_type="text/html"))
    page.get_by_role("button", name="Redrive to invoices").click()
    heading(page, "Outcome unknown")
    expect(page).not_to_have_title("no")


def test_in_place_of_the_list_such_a_page_is_loaded_whole(
    dashboard: Dashboard, valkey: Server, new_page: Callable[..., Page]
) -> None:
    page = new_page(expects=A_500)
    valkey.client.zadd(keys.DEAD, {letter(n, queue="invoices"): DIED + n for n in range(60)})
    page.goto(f"{dashboard.url}/dead-letters/")
    page.route("**/dead-letters/?after=*", lambda route: route.fulfill(body=PROXYS, content_type="text/html"))
    page.get_by_role("link", name="Older").click()
    expect(page).to_have_title("no")


def test_a_page_without_slips_for_it_presses_by_the_browser_itself(
    dashboard: Dashboard, valkey: Server, new_page: Callable[..., Page]
) -> None:
    page = new_page(expects=rf"status of 502|{A_500}")
    opened(dashboard, valkey, page)
    operation = page.locator("#action [name=operation]").input_value()
    page.goto(f"{dashboard.url}/operations/{operation}/?action=redrive&entry={DIED}-{digest(LETTER)}-{jid(1)}")
    page.route(PRESS, lambda route: route.fulfill(status=502, body=PROXYS, content_type="text/html"), times=1)
    page.get_by_role("button", name="Press Redrive again").click()
    expect(page.get_by_role("heading", name="Redriven. The job is next to run in invoices").first).to_be_visible()
    assert valkey.client.llen("invoices") == 1
