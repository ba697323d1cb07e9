"""The audit log has one form for all its buttons: whatever becomes of a press, the purge beside it is undone, once."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import EntryRef
from tests.support.dashboard import Dashboard
from tests.support.letters import DIED, digest, jid, letter
from tests.support.operators import ANN, dead_letters
from tests.support.servers import Server


@pytest.fixture(autouse=True)
def purges(valkey: Server) -> None:
    queue = dead_letters(valkey.client)
    queue.add(DIED, [letter(n) for n in range(3)])
    for n in range(3):
        ref = EntryRef(DIED, digest(letter(n)), jid(n))
        assert queue.purge_entries([ref], by=ANN, reason=f"reason {n}", operation=f"op-{n}").done


def undo(page: Page) -> None:
    page.get_by_role("row").filter(has_text="reason 1").get_by_role("button", name="Undo").click()
    expect(page.locator("#tally-h")).to_have_text("Restored 1")


def test_in_place(page: Page, dashboard: Dashboard, valkey: Server) -> None:
    page.goto(f"{dashboard.url}/audit/?action=purge")
    page.evaluate("document.body.dataset.mark = 'the same page'")
    undo(page)
    expect(page.locator("#tally-h")).to_be_focused()
    expect(page.locator("#live")).to_have_text("Restored 1")
    expect(page.get_by_role("button", name="Undo")).to_have_count(2)
    assert page.evaluate("document.body.dataset.mark") == "the same page"
    assert valkey.client.zrange(keys.DEAD, 0, -1) == [letter(1)]


def test_without_an_answer_it_is_sent_again_as_a_page(
    new_page: Callable[..., Page], dashboard: Dashboard, valkey: Server
) -> None:
    page = new_page(expects="status of 502|htmx:|Response Status Error Code")

    def lose_the_first(route: Route) -> None:
        if route.request.headers.get("hx-request"):
            route.fetch()
            route.fulfill(status=502, body="Bad gateway")
        else:
            route.continue_()

    page.route("**/bin/restore", lose_the_first)
    page.goto(f"{dashboard.url}/audit/?action=purge")
    undo(page)
    expect(page.get_by_role("button", name="Undo")).to_have_count(2)
    assert valkey.client.zrange(keys.DEAD, 0, -1) == [letter(1)]
    assert valkey.client.xlen(keys.AUDIT) == 4
