"""The queues, beside the list on a desk, folded above it on a phone: the list alone is loaded, the address tells it."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from joobq_admin.joobq import keys
from tests.support.chromium import DESKTOP, PHONE
from tests.support.dashboard import Dashboard
from tests.support.letters import DIED, letter
from tests.support.servers import Server


def filled(valkey: Server) -> None:
    for at, queue in enumerate(["invoices", "invoices", "emails", "", "a\x01b"]):
        valkey.client.zadd(keys.DEAD, {letter(at, queue=queue): DIED + at})


def opened(dashboard: Dashboard, page: Page) -> None:
    page.goto(f"{dashboard.url}/dead-letters/")
    page.evaluate("window.same = true")


def same(page: Page) -> bool:
    return bool(page.evaluate("window.same === true"))


def test_on_a_desk(dashboard: Dashboard, valkey: Server, page: Page) -> None:
    filled(valkey)
    opened(dashboard, page)
    page.locator("#queues").get_by_role("link", name="invoices").click()
    expect(page.locator("h1")).to_have_text("2 dead letters in invoices")
    expect(page.locator(".rows .open")).to_have_count(2)
    expect(page.locator("#queues [aria-current]")).to_contain_text("invoices")
    expect(page.locator("#queues [aria-current]")).to_be_focused()
    expect(page.locator("#live")).to_have_text("2 in invoices")
    expect(page).to_have_title("2 dead letters in invoices · Dead letters")
    assert page.url == f"{dashboard.url}/dead-letters/?queue=invoices"
    assert same(page)
    page.reload()
    expect(page.locator(".rows .open")).to_have_count(2)
    page.go_back()
    expect(page.locator(".rows .open")).to_have_count(5)
    expect(page.locator("#queues [aria-current]")).to_contain_text("All queues")


@pytest.mark.parametrize(("name", "n", "title"), [
    ("invoices", 2, "2 dead letters in invoices"), ("no queue name", 1, "1 dead letter without a queue name"),
    ("aU+0001b", 1, "1 dead letter in aU+0001b"), ("All queues", 5, "5 dead letters"),
])  # fmt: skip
def test_on_a_phone(
    dashboard: Dashboard, valkey: Server, new_page: Callable[..., Page], name: str, n: int, title: str
) -> None:
    filled(valkey)
    page = new_page(PHONE)
    opened(dashboard, page)
    page.locator("#queue-choice summary").focus()
    page.keyboard.press("Enter")
    page.locator("#queue-choice").get_by_role("link", name=name).click()
    expect(page.locator("h1")).to_have_text(title)
    expect(page.locator(".rows .open")).to_have_count(n)
    expect(page.locator("#queue-choice summary")).to_contain_text(name)
    expect(page.locator("#queue-choice summary")).to_be_focused()
    expect(page.locator("#queue-choice nav")).to_be_hidden()
    assert same(page)


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_beside_an_entry_they_are_plain_links(
    dashboard: Dashboard, valkey: Server, new_page: Callable[..., Page], size: tuple[int, int]
) -> None:
    filled(valkey)
    page = new_page(size)
    opened(dashboard, page)
    page.locator(".rows .open").first.click()
    if size == DESKTOP:
        page.locator("#queues").get_by_role("link", name="invoices").click()
        expect(page.locator(".rows .open")).to_have_count(2)
    else:
        expect(page.locator("#queue-choice")).to_have_count(0)
