"""The list in a browser: what is looked for loads the rows alone, is in the address, and leaves what is typed alone."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, Route, expect

from joobq_admin.joobq import keys
from tests.support import chromium
from tests.support.dashboard import Dashboard
from tests.support.eventually import eventually
from tests.support.letters import ERROR, letter
from tests.support.servers import Server

MINUTE = 60_000
TIMEOUT = ERROR | {"message": "Read timed out", "error_class": "IO::TimeoutError"}


@pytest.fixture(autouse=True)
def letters(valkey: Server) -> None:
    now = int(datetime.now(UTC).timestamp() * 1000)
    died = {letter(n, "invoices", error=TIMEOUT): now - n * MINUTE for n in range(60)}
    died |= {letter(100 + n, "emails", to=f"bob{n}@example.com"): now - 10_000 * MINUTE for n in range(3)}
    valkey.client.zadd(keys.DEAD, died)


def test_typed_and_chosen_it_is_in_the_address_and_comes_back(page: Page, dashboard: Dashboard) -> None:
    page.goto(f"{dashboard.url}/dead-letters/")
    rows, search = page.locator(".rows .open"), page.get_by_label("Search error")
    expect(rows).to_have_count(50)
    page.evaluate("document.body.dataset.mark = 'the same page'")
    place = search.bounding_box()
    search.press_sequentially("bob")
    expect(rows).to_have_count(3)
    expect(page).to_have_url(f"{dashboard.url}/dead-letters/?q=bob")
    expect(search).to_be_focused()
    assert search.bounding_box() == place, "it stays where it is"
    expect(page.locator("#live")).to_have_text("3 match")
    expect(page).to_have_title("3 dead letters match · Dead letters")
    search.press("End")
    search.press_sequentially("1")
    expect(rows).to_have_count(1)
    search.fill("")
    expect(page).to_have_url(f"{dashboard.url}/dead-letters/")
    expect(page.locator("#trend figure")).to_be_visible()
    page.get_by_label("Class of the error").fill("IO::TimeoutError")
    page.get_by_label("Died", exact=True).select_option("1h")
    expect(page).to_have_url(f"{dashboard.url}/dead-letters/?error=IO%3A%3ATimeoutError&since=1h")
    page.get_by_role("link", name="Older").click()
    expect(rows).to_have_count(10)
    page.locator("#queues").get_by_role("link", name="emails").click()
    expect(page.get_by_text("No entry matches.")).to_be_visible()
    expect(page).to_have_url(f"{dashboard.url}/dead-letters/?queue=emails&error=IO%3A%3ATimeoutError&since=1h")
    page.get_by_label("Class of the error").fill("")
    page.get_by_label("Died", exact=True).select_option("30d")
    expect(rows).to_have_count(3)
    expect(page).to_have_url(f"{dashboard.url}/dead-letters/?queue=emails&since=30d")
    assert page.evaluate("document.body.dataset.mark") == "the same page"
    page.go_back()
    expect(page.get_by_text("No entry matches.")).to_be_visible()
    page.wait_for_load_state()
    expect(page.get_by_label("Class of the error")).to_have_value("IO::TimeoutError")
    page.get_by_role("link", name="Show all").click()
    expect(rows).to_have_count(50)


def test_what_is_typed_meanwhile_is_kept(page: Page, dashboard: Dashboard) -> None:
    page.goto(f"{dashboard.url}/dead-letters/")
    search, held = page.get_by_label("Search error"), list[Route]()
    page.route("**/dead-letters/?q=bo&*", lambda route: held.append(route))
    search.press_sequentially("bo")
    eventually(lambda: page.wait_for_timeout(20) or held)
    page.clock.install()
    page.clock.pause_at(datetime.now(UTC) + timedelta(hours=1))  # no more is sent
    search.press_sequentially("b")
    held[0].continue_()
    eventually(lambda: page.clock.run_for(20) or page.locator("#results tr.row").count() == 3)
    expect(search).to_have_value("bob")
    expect(search).to_be_focused()


def test_bars_and_errors_lead_to_their_entries(page: Page, dashboard: Dashboard) -> None:
    page.goto(f"{dashboard.url}/dead-letters/?since=24h")
    page.evaluate("document.body.dataset.mark = 'the same page'")
    last = page.locator(".slots a").last
    n = (last.get_attribute("title") or "").rpartition(": ")[2]
    last.click()
    expect(page.locator("h1 .count")).to_have_text(n)
    expect(page.get_by_label("since")).to_be_visible()
    expect(page.locator("#trend .chosen")).to_be_visible()
    page.get_by_label("until").fill("2020-01-01T00:00:00")
    expect(page.get_by_role("heading", name="This request makes no sense here")).to_be_visible()
    page.go_back()
    page.get_by_role("link", name="Any time").click()
    expect(page.locator("h1")).to_have_text("63 dead letters")
    page.get_by_role("link", name="By error").click()
    page.get_by_role("link", name="Review 60 IO::TimeoutError").click()
    expect(page.locator("h1")).to_have_text("60 dead letters: IO::TimeoutError")
    page.get_by_label("Search error").press_sequentially("0000001")
    expect(page.locator(".rows .open")).to_have_count(17)
    assert "group=1-" in page.url


def test_without_javascript_the_same(new_page: Callable[..., Page], dashboard: Dashboard) -> None:
    page = new_page(chromium.PHONE, javascript=False)
    page.goto(f"{dashboard.url}/dead-letters/?queue=emails")
    page.get_by_label("Search error").fill("bob2")
    page.get_by_role("button", name="Filter").click()
    rows = page.locator(".rows .open")
    expect(rows).to_have_count(1)
    page.get_by_role("link", name="Exact time").click()
    page.get_by_label("until").fill("2020-01-01T00:00:00")
    page.get_by_label("since").fill("")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_text("No entry matches.")).to_be_visible()
    expect(page.get_by_label("Search error")).to_have_value("bob2")
    page.get_by_role("link", name="All dead letters").click()
    page.get_by_role("link", name="By error").click()
    page.get_by_role("link", name="Review 3").click()
    expect(rows).to_have_count(3)
