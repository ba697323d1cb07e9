"""Rows of the list are ticked by mouse, by shift and by single keys; nothing acts by itself."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.support.dashboard import Dashboard
from tests.support.letters import DIED, letter
from tests.support.operators import dead_letters
from tests.support.servers import Server


@pytest.fixture
def rows(dashboard: Dashboard, valkey: Server, page: Page) -> Page:
    dead_letters(valkey.client).add(DIED, [letter(n) for n in range(6)])
    page.goto(f"{dashboard.url}/dead-letters/")
    return page


def are_ticked(page: Page, *numbers: int) -> None:
    boxes = page.locator(".rows input[type=checkbox]")
    assert [at for at in range(boxes.count()) if boxes.nth(at).is_checked()] == list(numbers)
    if numbers:
        expect(page.locator(".bulkbar")).to_contain_text(f"{len(numbers)} selected")
    else:
        expect(page.locator(".bulkbar")).to_be_hidden()


def test_x_ticks_and_capital_x_ticks_up_to_here_and_escape_clears(rows: Page) -> None:
    rows.keyboard.press("j")
    rows.keyboard.press("x")
    are_ticked(rows, 0)
    for _ in range(3):
        rows.keyboard.press("j")
    rows.keyboard.press("X")
    are_ticked(rows, 0, 1, 2, 3)
    rows.keyboard.press("x")
    are_ticked(rows, 0, 1, 2)
    rows.keyboard.press("Escape")
    are_ticked(rows)


def test_the_whole_page_and_back(rows: Page) -> None:
    head = rows.get_by_label("Select all on this page")
    head.check()
    are_ticked(rows, 0, 1, 2, 3, 4, 5)
    rows.locator(".rows input").nth(2).uncheck()
    assert head.evaluate("head => head.indeterminate")
    rows.get_by_role("button", name="Clear").click()
    are_ticked(rows)


def test_r_and_p_go_to_the_bar_and_cancel_comes_back_to_its_button(rows: Page, valkey: Server) -> None:
    rows.keyboard.press("j")
    rows.keyboard.press("x")
    rows.keyboard.press("r")
    expect(rows.get_by_role("button", name="Redrive 1 reviewed")).to_be_focused()
    rows.keyboard.press("p")
    rows.keyboard.press("Enter")
    expect(rows.get_by_label("Reason")).to_be_focused()
    rows.keyboard.press("Escape")
    expect(rows.get_by_role("button", name="Purge 1…")).to_be_focused()
    are_ticked(rows, 0)
    assert valkey.client.zcard("joobq:dead_letter") == 6


def test_a_row_still_opens_by_a_press_anywhere_else(rows: Page) -> None:
    rows.locator("tr.row").first.locator(".args").click(force=True)
    expect(rows.get_by_role("heading", name="Dead letter in emails")).to_be_visible()


def test_without_an_answer_the_question_is_asked_on_a_page(
    dashboard: Dashboard, valkey: Server, new_page: Callable[..., Page]
) -> None:
    dead_letters(valkey.client).add(DIED, [letter(1)])
    rows = new_page(expects="status of 502|Response Status Error Code 502")
    rows.goto(f"{dashboard.url}/dead-letters/")
    rows.locator(".rows input[type=checkbox]").first.check()
    rows.route("**/purge", lambda route: route.fulfill(status=502) if "hx-request" in route.request.headers
               else route.continue_())  # fmt: skip
    rows.get_by_role("button", name="Purge 1…").click()
    expect(rows.get_by_role("heading", name="Purge 1 dead letter?")).to_be_visible()
    assert rows.url.endswith("/dead-letters/purge")
