import re

from playwright.sync_api import Page, expect

from joobq_admin.joobq import keys
from tests.support.dashboard import Dashboard
from tests.support.letters import DIED, letter
from tests.support.servers import Server


def test_older_newer_and_back(dashboard: Dashboard, valkey: Server, page: Page) -> None:
    valkey.client.zadd(keys.DEAD, {letter(n, queue="invoices"): DIED + n for n in range(120)})
    page.goto(f"{dashboard.url}/dead-letters/")
    newest = page.locator(".rows .open").first.get_attribute("href")
    page.get_by_role("link", name="Older").click()
    expect(page.locator(".toolbar")).to_contain_text("51–100 of 120")
    expect(page.locator(".rows .open").first).to_be_focused()
    expect(page.locator("#live")).to_have_text("120 dead letters")
    assert re.search(r"\?after=\d+~", page.url)
    page.reload()
    expect(page.locator(".toolbar")).to_contain_text("51–100 of 120")
    page.get_by_role("link", name="Older").click()
    expect(page.locator(".toolbar")).to_contain_text("101–120 of 120")
    page.get_by_role("link", name="Newer").click()
    expect(page.locator(".toolbar")).to_contain_text("51–100 of 120")
    for shown in ("101–120 of 120", "51–100 of 120", "1–50 of 120"):
        page.go_back()
        expect(page.locator(".toolbar")).to_contain_text(shown)
        page.wait_for_load_state()  # going back loads the page of then
    expect(page.locator(".rows .open").first).to_have_attribute("href", str(newest))
