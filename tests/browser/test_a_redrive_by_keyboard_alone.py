"""From the list to the answer without a mouse. No single key acts by itself."""

from playwright.sync_api import Page, expect

from joobq_admin.joobq import keys
from tests.support.dashboard import Dashboard
from tests.support.letters import DIED, jid, letter
from tests.support.servers import Server


def test_from_the_list_to_the_answer(dashboard: Dashboard, valkey: Server, page: Page) -> None:
    valkey.client.zadd(keys.DEAD, {letter(1, queue="invoices"): DIED, letter(2, queue="invoices"): DIED + 1})
    page.goto(f"{dashboard.url}/dead-letters/")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(page.locator(".rows .open").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Dead letter in invoices")).to_be_visible()
    page.keyboard.press("r")
    button = page.get_by_role("button", name="Redrive to invoices")
    expect(button).to_be_focused()
    assert valkey.client.llen("invoices") == 0
    page.keyboard.press("Enter")
    heading = page.locator("#action h2")
    expect(heading).to_contain_text("Redriven. The job is next to run in invoices")
    expect(heading).to_be_focused()
    expect(page.locator("#live")).to_have_text("Redriven. The job is next to run in invoices")
    assert valkey.client.llen("invoices") == 1
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#action")).to_contain_text("What will be sent")


def test_from_an_alert_to_the_next_entry(dashboard: Dashboard, valkey: Server, page: Page) -> None:
    """Its link, what went wrong, whether it will again, the press, and on; then one of several deaths, left alone."""
    deaths = {letter(1, queue="invoices"): DIED, letter(2, queue="invoices", death=1): DIED - 1}
    valkey.client.zadd(keys.DEAD, deaths | {letter(2, queue="invoices", death=2): DIED - 2})
    page.goto(f"{dashboard.url}/jobs/{jid(1)}/")
    expect(page.get_by_role("heading", name="Dead letter in invoices")).to_be_visible()
    expect(page.locator("#error")).to_contain_text("SMTP 550")
    expect(page.get_by_role("group", name="Will it die again?")).to_contain_text("No sign of a worker")
    page.keyboard.press("r")
    expect(page.get_by_role("button", name="Redrive to invoices")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#action h2")).to_contain_text("Redriven. The job is next to run in invoices")
    assert valkey.client.llen("invoices") == 1
    page.keyboard.press("n")
    expect(page.locator("#deaths [aria-current]")).to_contain_text("this entry")
    expect(page.locator("#jid")).to_have_text(jid(2))
    page.goto(f"{dashboard.url}/jobs/{jid(2)}/")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Redrive to invoices")).to_be_visible()
    page.keyboard.press("p")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Purge 1 dead letter?")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Purge…")).to_be_focused()
    page.keyboard.press("n")
    expect(page.locator("#live")).to_have_text("No older entry")
    assert valkey.client.zcard(keys.DEAD) == 2


def test_keys_can_be_turned_off(dashboard: Dashboard, valkey: Server, page: Page) -> None:
    valkey.client.zadd(keys.DEAD, {letter(1, queue="invoices"): DIED})
    page.goto(f"{dashboard.url}/dead-letters/")
    first, single_keys = page.locator(".rows .open").first, page.get_by_role("group", name="Single-key shortcuts")
    page.locator(".account summary").click()
    single_keys.get_by_role("button", name="Off").click()
    expect(single_keys.get_by_role("button", name="Off")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("j")
    expect(first).not_to_be_focused()
    page.reload()
    page.keyboard.press("j")
    expect(first).not_to_be_focused()
    page.get_by_role("button", name="keyboard shortcuts").click()
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_contain_text("They are off now.")
    page.keyboard.press("Escape")
    page.locator(".account summary").click()
    single_keys.get_by_role("button", name="On").click()
    expect(single_keys.get_by_role("button", name="On")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("j")
    expect(first).to_be_focused()


def test_a_key_leads_to_the_search_and_there_letters_are_letters(
    dashboard: Dashboard, valkey: Server, page: Page
) -> None:
    valkey.client.zadd(keys.DEAD, {letter(1): DIED})
    page.goto(f"{dashboard.url}/dead-letters/")
    page.keyboard.press("/")
    page.keyboard.type("j?p/")
    expect(page.get_by_role("searchbox", name="Search")).to_have_value("j?p/")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_keys_are_told(dashboard: Dashboard, page: Page) -> None:
    page.goto(f"{dashboard.url}/dead-letters/")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_hidden()
