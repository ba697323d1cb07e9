"""axe-core, WCAG 2.2 AA and its best practices: 0 violations before unredacted bytes."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from joobq_admin.joobq import keys
from tests.support.chromium import DESKTOP, PHONE, violations
from tests.support.dashboard import Dashboard
from tests.support.screens import Prepared, opened
from tests.support.servers import Server


def unconfirmed(dashboard: Dashboard, server: Server, page: Page) -> None:
    opened(dashboard, server, page)
    page.get_by_role("button", name="Download unredacted bytes…").click()
    expect(page.get_by_role("heading", name="Confirm that it is you")).to_be_visible()


def unconfirmed_on_a_page(dashboard: Dashboard, server: Server, page: Page) -> None:
    opened(dashboard, server, page)
    page.evaluate("document.querySelector('form[action$=unredacted]').submit()")
    expect(page.get_by_role("heading", name="Confirm that it is you")).to_be_visible()


def asked(dashboard: Dashboard, server: Server, page: Page) -> None:
    unconfirmed(dashboard, server, page)
    page.get_by_role("button", name="Confirm").click()
    page.get_by_role("button", name="Download unredacted bytes…").click()
    expect(page.get_by_label("Reason")).to_be_focused()


def refused(dashboard: Dashboard, server: Server, page: Page) -> None:
    asked(dashboard, server, page)
    server.client.set(keys.AUDIT, "no log")
    page.get_by_label("Reason").fill("SUP-4471")
    page.get_by_role("button", name="Download", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Refused: the audit log cannot be written.")


@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desk", "phone"])
@pytest.mark.parametrize("prepared", [unconfirmed, unconfirmed_on_a_page, asked, refused])
def test_on(
    dashboard: Dashboard,
    valkey: Server,
    new_page: Callable[..., Page],
    prepared: Prepared,
    size: tuple[int, int],
    scheme: str,
) -> None:
    page = new_page(size, scheme)
    prepared(dashboard, valkey, page)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == size[0]
