"""A large queue is looked through and purged by its page, step after step, until it is left or all is gone."""

import re

from playwright.sync_api import Page, Route, expect

from joobq_admin.joobq import keys
from tests.support.dashboard import Dashboard
from tests.support.eventually import eventually
from tests.support.letters import DIED, letter
from tests.support.servers import Server

MANY = 50_000


def by_hand_only(route: Route) -> None:
    """What the page would do by itself stays away."""
    if "hx-request" not in route.request.headers:
        route.continue_()


def test_it_asks_when_all_is_looked_through_stops_and_goes_on(dashboard: Dashboard, valkey: Server, page: Page) -> None:
    for start in range(0, MANY, 1_000):
        valkey.client.zadd(keys.DEAD, {letter(n): DIED - n for n in range(start, start + 1_000)})
    page.goto(f"{dashboard.url}/dead-letters/?queue=emails")
    button = page.get_by_role("button", name=re.compile("Purge all .*of emails…"))
    button.click()
    page.get_by_role("button", name="Confirm", exact=True).click()
    held = list[Route]()

    def hold(route: Route) -> None:
        """What it looks for step by step; what asks for that comes through."""
        held.append(route) if route.request.headers["hx-target"] == "planning" else route.continue_()

    page.route("**/purge-all?*", hold)
    button.click()
    expect(page.get_by_role("heading", name="Looking for everything in emails")).to_be_visible()
    eventually(lambda: page.title() and held)  # routes are heard of only while the page is asked
    page.get_by_role("button", name="Leave it").click()
    with page.expect_response("**/purge-all?*"):
        held.pop().continue_()
    button.click()
    expect(page.get_by_role("heading", name="Looking for everything in emails")).to_be_visible()
    eventually(lambda: page.title() and held)  # routes are heard of only while the page is asked
    assert len(held) == 1, "whoever leaves it ends it"
    page.unroute("**/purge-all?*")
    expect(page.get_by_label("Reason")).to_be_focused(timeout=20_000)
    page.route("**/purge-all?*", by_hand_only)
    page.keyboard.type("Load test from Friday")
    page.keyboard.press("Tab")
    page.keyboard.type("50000")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Purging everything in emails")).to_be_visible()
    expect(page.get_by_role("button", name="Continue")).to_be_hidden()
    page.get_by_role("link", name="Stop here").click()
    expect(page.get_by_text("It stands still when no page goes on with it.")).to_be_visible()
    left = valkey.client.zcard(keys.DEAD)
    assert 0 < left < MANY
    page.unroute("**/purge-all?*")
    page.reload()
    assert valkey.client.zcard(keys.DEAD) == left
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("They are gone for good. No copy is kept.")).to_be_visible(timeout=20_000)
    expect(page).to_have_title(re.compile("Purged everything in emails: 50,000 entries"))
    assert not valkey.client.exists(keys.DEAD)
