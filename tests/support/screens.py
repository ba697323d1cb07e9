"""Every screen and every answer, brought up in a browser: `PAGES`, each a function of dashboard, server and page."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from joobq_admin.joobq import keys
from tests.support.chromium import PHONE
from tests.support.dashboard import Dashboard
from tests.support.letters import DIED, digest, jid, letter, real_letters
from tests.support.servers import Server

ONE, AGAIN = letter(1, queue="invoices", iban="DE02120300000000202051"), letter(1, queue="invoices", death=1)
Prepared = Callable[[Dashboard, Server, Page], None]


def opened(dashboard: Dashboard, server: Server, page: Page, *letters: bytes) -> None:
    server.client.zadd(keys.DEAD, dict.fromkeys(letters or (ONE,), DIED))
    page.goto(f"{dashboard.url}/dead-letters/{DIED}-{digest((letters or (ONE,))[0])}/?jid={jid(1)}")


def pressed(page: Page) -> None:
    page.get_by_role("button", name="Redrive to").click()
    expect(page.locator("#action h2")).to_be_focused()


def the_list(dashboard: Dashboard, server: Server, page: Page) -> None:
    for real in real_letters():
        server.client.zadd(keys.DEAD, {real.raw: float(real.score)})
    page.goto(f"{dashboard.url}/dead-letters/")


def the_list_of_a_queue(dashboard: Dashboard, server: Server, page: Page) -> None:
    the_list(dashboard, server, page)
    page.goto(f"{dashboard.url}/dead-letters/?queue=unicode:m%C3%BCller")


def the_queues_on_a_phone(dashboard: Dashboard, server: Server, page: Page) -> None:
    the_list(dashboard, server, page)
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.locator("#queue-choice summary").click()


def an_empty_list(dashboard: Dashboard, server: Server, page: Page) -> None:
    page.goto(f"{dashboard.url}/dead-letters/")


def ready(dashboard: Dashboard, server: Server, page: Page) -> None:
    opened(dashboard, server, page)


def exact_bytes(dashboard: Dashboard, server: Server, page: Page) -> None:
    opened(dashboard, server, page)
    page.get_by_role("link", name="Exact bytes").click()
    expect(page.locator("#payload")).to_contain_text("000000")


def redriven(dashboard: Dashboard, server: Server, page: Page) -> None:
    opened(dashboard, server, page)
    pressed(page)


def already(dashboard: Dashboard, server: Server, page: Page) -> None:
    opened(dashboard, server, page)
    other = page.context.new_page()
    other.goto(page.url)
    pressed(other)
    other.close()
    pressed(page)
    expect(page.locator("#action h2")).to_contain_text("Already redriven by")


def changed(dashboard: Dashboard, server: Server, page: Page) -> None:
    opened(dashboard, server, page)
    server.client.zrem(keys.DEAD, ONE)
    server.client.zadd(keys.DEAD, {AGAIN: DIED + 1000})
    pressed(page)
    page.locator("#action summary").first.click()
    expect(page.locator("#action h2")).to_contain_text("Changed since you reviewed it")


def refused(dashboard: Dashboard, server: Server, page: Page) -> None:
    opened(dashboard, server, page)
    server.client.set("invoices", "no list")
    pressed(page)
    expect(page.locator("#action h2")).to_contain_text("Refused: queue invoices is not a list")


def unknown(dashboard: Dashboard, server: Server, page: Page) -> None:
    opened(dashboard, server, page)
    page.route("**/redrive", lambda route: route.abort("connectionreset"))
    pressed(page)
    expect(page.locator("#action h2")).to_contain_text("Outcome unknown")


def signed_out(dashboard: Dashboard, server: Server, page: Page) -> None:
    opened(dashboard, server, page)
    page.route("**/redrive", lambda route: route.fulfill(status=401))
    pressed(page)
    expect(page.locator("#action h2")).to_contain_text("You are signed out")


def a_mistake(dashboard: Dashboard, server: Server, page: Page) -> None:
    opened(dashboard, server, page)
    page.route("**/redrive", lambda route: route.fulfill(status=500))
    pressed(page)
    expect(page.locator("#action h2")).to_contain_text("This dashboard made a mistake")


def not_done(dashboard: Dashboard, server: Server, page: Page) -> None:
    unknown(dashboard, server, page)
    page.get_by_role("link", name="Check again").click()
    expect(page.locator("#action h2")).to_contain_text("Not done as of")


def denied(dashboard: Dashboard, server: Server, page: Page) -> None:
    opened(dashboard, server, page)
    page.locator(".account summary").click()
    page.get_by_label("Act in the role of").select_option("viewer")
    page.get_by_role("button", name="Change role").click()
    expect(page.locator("#action")).to_contain_text("You can read this entry, not act on it")


def a_placeholder(dashboard: Dashboard, server: Server, page: Page) -> None:
    raw = next(real.raw for real in real_letters() if real.refusal == "PLACEHOLDER")
    server.client.zadd(keys.DEAD, {raw: DIED})
    page.goto(f"{dashboard.url}/dead-letters/{DIED}-{digest(raw)}/")


def malformed(dashboard: Dashboard, server: Server, page: Page) -> None:
    server.client.zadd(keys.DEAD, {b"not \xff json": DIED})
    page.goto(f"{dashboard.url}/dead-letters/{DIED}-{digest(b'not ' + bytes([255]) + b' json')}/")


def a_job_of_several_deaths(dashboard: Dashboard, server: Server, page: Page) -> None:
    opened(dashboard, server, page, ONE, AGAIN)
    page.goto(f"{dashboard.url}/jobs/{jid(1)}/")


def a_tombstone(dashboard: Dashboard, server: Server, page: Page) -> None:
    redriven(dashboard, server, page)
    page.goto(f"{dashboard.url}/jobs/{jid(1)}/")


def an_operation(dashboard: Dashboard, server: Server, page: Page) -> None:
    redriven(dashboard, server, page)
    page.get_by_role("link", name="What it did").click()


def never_seen(dashboard: Dashboard, server: Server, page: Page) -> None:
    page.goto(f"{dashboard.url}/jobs/{jid(9)}/")


def how_pages_look(dashboard: Dashboard, server: Server, page: Page) -> None:
    page.goto(f"{dashboard.url}/display/")
    page.locator(".account summary").click()


def not_understood(dashboard: Dashboard, server: Server, page: Page) -> None:
    page.goto(f"{dashboard.url}/dead-letters/?after=nowhere")


def no_role(dashboard: Dashboard, server: Server, page: Page) -> None:
    an_empty_list(dashboard, server, page)
    page.locator(".account summary").click()
    page.get_by_label("Act in the role of").select_option("none")
    page.get_by_role("button", name="Change role").click()


PAGES = [
    the_list, the_list_of_a_queue, the_queues_on_a_phone, an_empty_list, ready, exact_bytes, redriven, already,
    changed, refused, unknown, signed_out, a_mistake, not_done, denied, a_placeholder, malformed,
    a_job_of_several_deaths, a_tombstone, an_operation, never_seen, how_pages_look, not_understood, no_role,
]  # fmt: skip
