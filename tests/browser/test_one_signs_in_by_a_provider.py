"""In a browser, below a prefix and behind what ends TLS: from a link by way of the provider to its page, in two tabs at
once, again in the middle, and out.
"""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from joobq_admin.joobq import keys
from tests.support import chromium
from tests.support.chromium import DESKTOP, PHONE
from tests.support.dashboard import Dashboard
from tests.support.letters import DIED, jid, letter
from tests.support.provider import Provider
from tests.support.servers import Server
from tests.support.signing_in import environment
from tests.support.tls import Terminator


@dataclass
class Guarded:
    """A dashboard at `url`, and who signs people in."""

    url: str
    provider: Provider


@pytest.fixture(scope="module")
def guarded(running: Callable[[str], Server]) -> Iterator[Guarded]:
    provider, before = Provider(), Terminator()
    url = f"https://127.0.0.1:{before.port}/dlq"
    more = {"JOOBQ_ADMIN_ENVIRONMENT": "production", "JOOBQ_ADMIN_SUPPORT_CONTACT": "#queue-ops"}
    public = {"JOOBQ_ADMIN_PUBLIC_URL": url}
    with Dashboard(running("valkey").url, "proxy", **environment(provider), **more, **public) as dashboard:
        before.behind = dashboard.port
        yield Guarded(url, provider)
    before.close()
    provider.close()


@pytest.fixture(autouse=True)
def two_dead_letters(valkey: Server) -> None:
    for n in (1, 2):
        valkey.client.zadd(keys.DEAD, {letter(n, queue="invoices"): DIED})


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    return new_page(ignore_https_errors=True)


def redriven(page: Page) -> None:
    page.get_by_role("button", name="Redrive to").click()
    expect(page.locator("#action h2")).to_contain_text("Redriven.")


def test_two_tabs_at_the_same_instant_each_get_to_their_page_and_both_can_press(
    guarded: Guarded, valkey: Server, page: Page
) -> None:
    tabs = [page, page.context.new_page()]
    together = threading.Barrier(2)
    guarded.provider.waits = lambda: together.wait(10)
    for n, tab in enumerate(tabs, 1):
        tab.evaluate(f"setTimeout(() => location.assign('{guarded.url}/jobs/{jid(n)}/?x=%26{n}'))")
    for n, tab in enumerate(tabs, 1):
        expect(tab).to_have_url(f"{guarded.url}/jobs/{jid(n)}/?x=%26{n}")
    guarded.provider.waits = lambda: None
    for tab in tabs:
        redriven(tab)
    assert valkey.client.llen("invoices") == 2
    cookies = {cookie["name"]: cookie for cookie in page.context.cookies()}
    for name in ("__Host-session", "__Host-csrf"):
        assert (cookies[name]["secure"], cookies[name]["httpOnly"], cookies[name]["path"]) == (True, True, "/")


def signed_in(page: Page, guarded: Guarded, path: str) -> BrowserContext:
    page.goto(guarded.url + path)
    expect(page).to_have_url(guarded.url + path)
    return page.context


def test_when_it_ends_in_the_middle_nothing_is_done_and_one_comes_back_to_the_very_page(
    guarded: Guarded, valkey: Server, page: Page
) -> None:
    context = signed_in(page, guarded, "/dead-letters/?queue=invoices&limit=1")
    context.clear_cookies(name="__Host-session")
    with page.expect_navigation(url=f"{guarded.url}/dead-letters/?queue=invoices&limit=1"):
        page.get_by_role("link", name="Older", exact=True).first.click()
    page.goto(f"{guarded.url}/jobs/{jid(1)}/?x=1")
    context.clear_cookies(name="__Host-session")
    page.get_by_role("button", name="Redrive to").click()
    expect(page.locator("h1")).to_have_text("You are signed out. Your press did nothing")
    assert valkey.client.zcard(keys.DEAD) == 2
    page.get_by_role("link", name="Sign in").click()
    expect(page).to_have_url(f"{guarded.url}/jobs/{jid(1)}/?x=1")
    redriven(page)


def test_one_signs_out_by_a_button_and_of_the_provider_by_a_link(guarded: Guarded, page: Page) -> None:
    signed_in(page, guarded, "/dead-letters/")
    page.locator(".account summary").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading")).to_have_text("Signed out here")
    page.get_by_role("link", name="Sign out of").click()
    expect(page).to_have_url(f"{guarded.url}/auth/signed-out")
    page.get_by_role("link", name="Sign in again").click()
    expect(page).to_have_url(f"{guarded.url}/dead-letters/")


def test_axe_finds_nothing_before_the_door(guarded: Guarded, new_page: Callable[..., Page]) -> None:
    page = new_page(bypass_csp=True, ignore_https_errors=True)
    for path, size, scheme in product(["login?pressed=1", "callback"], (DESKTOP, PHONE), ("light", "dark")):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.goto(f"{guarded.url}/auth/{path}")
        assert chromium.violations(page) == [], (path, size, scheme)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path, size, "scrolls sideways")
