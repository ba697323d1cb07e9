from collections.abc import Callable

from playwright.sync_api import Page, expect

from joobq_admin.joobq import keys
from tests.support.chromium import PHONE
from tests.support.dashboard import Dashboard
from tests.support.letters import DIED, letter
from tests.support.servers import Server


def test_list_entry_press_answer_reload(dashboard: Dashboard, valkey: Server, new_page: Callable[..., Page]) -> None:
    valkey.client.zadd(keys.DEAD, {letter(1, queue="invoices"): DIED, letter(2, queue="emails"): DIED})
    page = new_page(PHONE, javascript=False)
    page.goto(f"{dashboard.url}/dead-letters/")
    page.locator("#queue-choice summary").click()
    page.locator("#queue-choice").get_by_role("link", name="invoices").click()
    expect(page.locator(".rows .open")).to_have_count(1)
    page.locator(".rows .open").click()
    page.get_by_role("link", name="Exact bytes").click()
    expect(page.locator("#payload")).to_contain_text("000000")
    page.get_by_role("button", name="Redrive to invoices").click()
    expect(page.get_by_role("heading", name="Redriven. The job is next to run in invoices").first).to_be_visible()
    assert "/operations/" in page.url
    page.reload()
    expect(page.get_by_role("heading", name="Redriven. The job is next to run in invoices").first).to_be_visible()
    page.go_back()
    assert valkey.client.llen("invoices") == 1
