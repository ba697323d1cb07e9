"""axe-core, WCAG 2.2 AA and its best practices: 0 violations on every page and every answer, on a desk and a phone.

Each in both widths and both themes; `make lab` looks at every width in every theme.
"""

from collections.abc import Callable, Iterator
from itertools import product

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support import chromium, entry_screens, ledger_screens, list_screens, purge_screens, screens
from tests.support.chromium import DESKTOP, PHONE
from tests.support.dashboard import Dashboard
from tests.support.screens import Prepared
from tests.support.servers import Server
from tests.support.trials import LAB

LOOKS = list(product((DESKTOP, PHONE), ("light", "dark"))) if LAB else [(DESKTOP, "light"), (PHONE, "dark")]
PAGES = [
    page for module in (screens, list_screens, entry_screens, purge_screens, ledger_screens) for page in module.PAGES
]

NO_CHANGES = "Redis takes no changes now. It said NOREPLICAS. Load this page again to see whether it does."


@pytest.fixture(scope="module")
def watched(browser: Browser) -> Iterator[tuple[Page, chromium.Watch]]:
    # axe is a script of ours, not of the page: only here the page's policy does not bind
    expects = r"net::ERR|status of 500|htmx:|Response Status Error Code"
    context, watch = chromium.new_context(browser, bypass_csp=True, expects=expects)
    yield context.new_page(), watch
    context.close()


@pytest.fixture
def one_page(watched: tuple[Page, chromium.Watch], dashboard: Dashboard) -> Iterator[Page]:
    """The same each time, since a process of its own costs as much as axe; what was before is forgotten."""
    page, watch = watched
    page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    yield page
    page.unroute_all()
    page.context.clear_cookies()
    page.goto(f"{dashboard.url}/healthz")
    page.evaluate("localStorage.clear(); sessionStorage.clear()")
    problems, watch.problems = watch.problems, []
    assert problems == []


@pytest.mark.parametrize("prepared", PAGES, ids=lambda prepared: prepared.__name__)
def test_on(prepared: Prepared, dashboard: Dashboard, valkey: Server, one_page: Page) -> None:
    prepared(dashboard, valkey, one_page)
    nothing_is_found(one_page)


def nothing_is_found(page: Page) -> None:
    for size, scheme in LOOKS:
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        assert chromium.violations(page) == [], (size, scheme)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (size, "scrolls sideways")


def test_on_redis_that_takes_no_changes_and_then_does_not_answer(
    new_server: Callable[..., Server], new_dashboard: Callable[..., Dashboard], new_page: Callable[..., Page]
) -> None:
    server = new_server()
    dashboard = new_dashboard(server.url)
    page = new_page(bypass_csp=True)
    screens.ready(dashboard, server, page)
    server.client.config_set("min-replicas-to-write", 1)
    page.reload()
    expect(page.get_by_role("button", name="Redrive to invoices")).to_have_accessible_description(NO_CHANGES)
    nothing_is_found(page)
    server.close()
    page.goto(f"{dashboard.url}/dead-letters/")
    expect(page.get_by_role("heading", name="Redis does not answer")).to_be_visible()
    nothing_is_found(page)
