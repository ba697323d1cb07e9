"""The audit log in a browser: filters load the records alone and are in the address; the same without JavaScript."""

import csv
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.support import chromium
from tests.support.dashboard import Dashboard
from tests.support.letters import jid
from tests.support.records import kept, record
from tests.support.servers import Server


@pytest.fixture(autouse=True)
def records(valkey: Server) -> None:
    kept(valkey.client, *(record(n) for n in range(60)), record(60, "purge", by="u-2", name="Bob", bin="1"))
    kept(valkey.client, record(61, queue="invoices", reason="Gateway is up"))


def test_filters_are_in_the_address_and_come_back(page: Page, dashboard: Dashboard) -> None:
    page.goto(f"{dashboard.url}/audit/")
    rows = page.locator("#records tbody tr")
    expect(rows).to_have_count(50)
    page.evaluate("document.body.dataset.mark = 'the same page'")
    search = page.get_by_label("Search jid, digest")
    search.press_sequentially("gateway")
    expect(rows).to_have_count(1)
    expect(search).to_be_focused()
    expect(page).to_have_url(f"{dashboard.url}/audit/?q=gateway")
    search.fill("")
    expect(page).to_have_url(f"{dashboard.url}/audit/")
    page.get_by_label("Action").select_option("purge")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("Bob")
    expect(page).to_have_url(f"{dashboard.url}/audit/?action=purge")
    assert page.evaluate("document.body.dataset.mark") == "the same page"
    page.go_back()
    expect(rows).to_have_count(50)
    expect(page.get_by_label("Action")).to_have_value("")
    page.get_by_label("Action").select_option("redrive")
    page.get_by_label("Who").fill("ann")
    expect(page).to_have_url(f"{dashboard.url}/audit/?action=redrive&by=ann")
    page.get_by_role("link", name="Older").click()
    expect(rows).to_have_count(11)
    page.reload()
    expect(rows).to_have_count(11)
    expect(page.get_by_label("Who")).to_have_value("ann")


def test_the_file_holds_what_is_filtered(page: Page, dashboard: Dashboard) -> None:
    page.goto(f"{dashboard.url}/audit/?by=ann")
    with page.expect_download() as downloading:
        page.get_by_role("link", name="CSV").click()
    assert downloading.value.suggested_filename == "joobq-admin-audit.csv"
    with open(downloading.value.path(), encoding="utf-8-sig", newline="") as file:
        assert [row["jid"] for row in csv.DictReader(file)] == [jid(n) for n in (61, *reversed(range(60)))]


def test_without_javascript_the_same(new_page: Callable[..., Page], dashboard: Dashboard) -> None:
    page = new_page(chromium.PHONE, javascript=False)
    page.goto(f"{dashboard.url}/dead-letters/")
    page.get_by_role("link", name="Audit log").click()
    page.get_by_label("Queue").fill("invoices")
    page.get_by_role("button", name="Filter").click()
    rows = page.locator("#records tbody tr")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("Gateway is up")
    expect(page.get_by_label("Queue")).to_have_value("invoices")
