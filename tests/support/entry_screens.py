"""The screens of one entry: what became of it, and before its unredacted bytes; as those of screens.py."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from joobq_admin.joobq import keys
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.entry import EntryRef
from tests.support.dashboard import Dashboard
from tests.support.letters import DIED, digest, jid, letter
from tests.support.operators import ANN, dead_letters
from tests.support.screens import opened
from tests.support.servers import Server

LETTER, AGAIN = letter(1, queue="invoices"), letter(1, queue="invoices", death=5)
REF = EntryRef(DIED, digest(LETTER), jid(1))


def gone(
    dashboard: Dashboard, server: Server, page: Page, act: Callable[[DeadLetterQueue], object], heading: str
) -> None:
    """The page of an entry that is no longer there."""
    queue = dead_letters(server.client)
    queue.add(DIED, [LETTER])
    act(queue)
    page.goto(f"{dashboard.url}/dead-letters/{DIED}-{digest(LETTER)[:16]}/?jid={jid(1)}")
    expect(page.get_by_role("heading", level=1)).to_contain_text(heading)


def redriven(queue: DeadLetterQueue) -> None:
    queue.redrive_entries([REF], by=ANN, reason="Gateway is up", operation="op-1")


def taken(queue: DeadLetterQueue) -> None:
    queue.purge_entries([REF], by=ANN, reason="Duplicate", operation="op-1")
    queue.restore([REF.digest], by=ANN, operation="op-2")
    queue.redis.zrem(keys.DEAD, LETTER)


def gone_redriven(dashboard: Dashboard, server: Server, page: Page) -> None:
    gone(dashboard, server, page, redriven, "Redriven by Ann Āboliņa")


def gone_and_dead_again(dashboard: Dashboard, server: Server, page: Page) -> None:
    gone(dashboard, server, page, lambda queue: redriven(queue) or queue.add(4 * 10**12, [AGAIN]), "and died again")


def gone_by_another_tool(dashboard: Dashboard, server: Server, page: Page) -> None:
    gone(dashboard, server, page, taken, "Gone, and not by this dashboard")


def gone_with_everything(dashboard: Dashboard, server: Server, page: Page) -> None:
    told = "Everything was purged by Ann Āboliņa"
    gone(dashboard, server, page, lambda queue: queue.purge_all(by=ANN, reason="Load test", operation="op-1"), told)


def unredacted_unconfirmed(dashboard: Dashboard, server: Server, page: Page) -> None:
    opened(dashboard, server, page)
    page.get_by_role("button", name="Download unredacted bytes…").click()
    expect(page.get_by_role("heading", name="Confirm that it is you")).to_be_visible()


def unredacted_unconfirmed_on_a_page(dashboard: Dashboard, server: Server, page: Page) -> None:
    opened(dashboard, server, page)
    page.evaluate("document.querySelector('form[action$=unredacted]').submit()")
    expect(page.get_by_role("heading", name="Confirm that it is you")).to_be_visible()


def unredacted_asked(dashboard: Dashboard, server: Server, page: Page) -> None:
    unredacted_unconfirmed(dashboard, server, page)
    page.get_by_role("button", name="Confirm").click()
    page.get_by_role("button", name="Download unredacted bytes…").click()
    expect(page.get_by_label("Reason")).to_be_focused()


def unredacted_refused(dashboard: Dashboard, server: Server, page: Page) -> None:
    unredacted_asked(dashboard, server, page)
    server.client.set(keys.AUDIT, "no log")
    page.get_by_label("Reason").fill("SUP-4471")
    page.get_by_role("button", name="Download", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Refused: the audit log cannot be written.")


PAGES = [
    gone_redriven, gone_and_dead_again, gone_by_another_tool, gone_with_everything,
    unredacted_unconfirmed, unredacted_unconfirmed_on_a_page, unredacted_asked, unredacted_refused,
]  # fmt: skip
