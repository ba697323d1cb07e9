"""After a redrive the slip says where the job is now by itself, without taking the focus, and then is still."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from joobq_admin.joobq import keys
from tests.support.dashboard import Dashboard
from tests.support.letters import DIED, digest, jid, letter
from tests.support.servers import Server

LETTER = letter(1, queue="invoices")
PROCESSING = "joobq:processing:invoices"
AGAIN = letter(1, queue="invoices", death=5)
COUNT_POLLS_HELD_BACK = """
    held = 0;
    document.addEventListener("htmx:beforeRequest", (event) => { held += event.defaultPrevented; });
"""


def redrive(dashboard: Dashboard, valkey: Server, page: Page) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    page.clock.install()
    page.goto(f"{dashboard.url}/dead-letters/{DIED}-{digest(LETTER)[:16]}/?jid={jid(1)}")
    page.get_by_role("button", name="Redrive to invoices").click()
    expect(page.locator("#follow")).to_contain_text("Next to run in invoices")


def a_look_later(page: Page) -> None:
    """It looks every two seconds."""
    page.clock.fast_forward(2_000)


def test_from_the_front_to_a_worker_to_its_end(dashboard: Dashboard, valkey: Server, page: Page) -> None:
    redrive(dashboard, valkey, page)
    box, live, now = page.locator("#follow"), page.locator("#live"), page.locator("#follow [aria-current]")
    expect(now).to_have_text("front of invoices")
    page.get_by_role("link", name="What it did").focus()
    valkey.client.lmove("invoices", PROCESSING, "RIGHT", "LEFT")
    a_look_later(page)
    expect(now).to_have_text("being processed")
    expect(box).to_contain_text(f"In {PROCESSING} at")
    expect(live).to_have_text("Redriven. The job is next to run in invoices")  # as the answer was, nothing since
    valkey.client.delete(PROCESSING)
    a_look_later(page)
    expect(now).to_have_text("not waiting, no further trace")
    expect(live).to_have_text("not waiting, no further trace")
    expect(page.get_by_role("link", name="What it did")).to_be_focused()


def test_dead_again_it_asks_no_more(dashboard: Dashboard, valkey: Server, page: Page) -> None:
    redrive(dashboard, valkey, page)
    valkey.client.delete("invoices")
    valkey.client.zadd(keys.DEAD, {AGAIN: 4 * 10**12})
    a_look_later(page)
    expect(page.locator("#follow [data-s=bad]")).to_contain_text("died again")
    expect(page.locator("#live")).to_contain_text("died again")
    expect(page.locator("#follow")).not_to_have_attribute("hx-trigger", "every 2s")
    page.get_by_role("link", name="Open the new entry").click()
    expect(page.locator("#action")).to_contain_text("and died again.")


def test_a_tab_that_nobody_sees_does_not_ask(dashboard: Dashboard, valkey: Server, page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/operations/" in request.url else None)
    redrive(dashboard, valkey, page)
    page.evaluate("Object.defineProperty(document, 'hidden', { value: true, configurable: true })")
    asked.clear()
    page.evaluate(COUNT_POLLS_HELD_BACK)
    a_look_later(page)
    a_look_later(page)
    assert page.evaluate("held") >= 2
    assert asked == []
    page.evaluate("Object.defineProperty(document, 'hidden', { value: false })")
    valkey.client.delete("invoices")
    a_look_later(page)
    expect(page.locator("#follow [aria-current]")).to_have_text("not waiting, no further trace")


def test_when_nobody_answers_what_was_seen_last_stays(
    dashboard: Dashboard, valkey: Server, new_page: Callable[..., Page]
) -> None:
    page = new_page(expects="Response Status Error Code 401 from /operations/")
    page.route("**/operations/**", lambda route: route.fulfill(status=401, body="Sign in"))
    redrive(dashboard, valkey, page)
    a_look_later(page)
    expect(page.locator("#follow:not([hx-get])")).to_contain_text("Next to run in invoices, 1 waiting")
    expect(page.locator("#action h2")).to_contain_text("Redriven.")
