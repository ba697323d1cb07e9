"""A theme is there at once and on the next page; the zone of the device is offered, and taken only when one says so."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from joobq_admin.joobq import keys
from tests.support.chromium import PHONE
from tests.support.dashboard import Dashboard
from tests.support.letters import DIED, letter
from tests.support.servers import Server


def test_a_theme_without_leaving_the_page(dashboard: Dashboard, valkey: Server, page: Page) -> None:
    valkey.client.zadd(keys.DEAD, {letter(1): DIED})
    page.goto(f"{dashboard.url}/dead-letters/")
    page.locator("input[name=entry]").check()
    page.locator(".account summary").click()
    page.get_by_role("button", name="Dark").click()
    expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("input[name=entry]")).to_be_checked()
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_the_zone_of_the_device_is_offered(dashboard: Dashboard, valkey: Server, page: Page) -> None:
    valkey.client.zadd(keys.DEAD, {letter(1): DIED})
    page.add_init_script("Intl.DateTimeFormat = () => ({ resolvedOptions: () => ({ timeZone: 'Asia/Calcutta' }) })")
    page.goto(f"{dashboard.url}/dead-letters/")
    expect(page.locator(".rows")).to_contain_text("12:29")
    page.locator(".account summary").click()
    page.get_by_role("link", name="Change").click()
    expect(page.locator("main").get_by_label("Times in")).to_have_value("")
    page.get_by_role("button", name="Asia/Calcutta, as on this device").click()
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".rows")).to_contain_text("17:59")
    expect(page.locator(".rows")).not_to_contain_text("12:29")


def test_without_javascript_by_a_form(dashboard: Dashboard, new_page: Callable[..., Page]) -> None:
    page = new_page(PHONE, javascript=False)
    page.goto(f"{dashboard.url}/audit/")
    page.locator(".account summary").click()
    page.get_by_role("button", name="Dark").click()
    expect(page).to_have_url(f"{dashboard.url}/audit/")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.locator(".account summary").click()
    page.get_by_role("link", name="Change").click()
    page.locator("main").get_by_label("Rows").select_option("Compact")
    page.locator("main").get_by_label("Times in").select_option("Europe/Berlin")
    page.get_by_role("button", name="Save").click()
    expect(page).to_have_url(f"{dashboard.url}/audit/")
    expect(page.locator("html")).to_have_attribute("data-density", "compact")
    page.locator(".account summary").click()
    expect(page.locator(".account")).to_contain_text("Times in Europe/Berlin (UTC+")
