"""axe-core, WCAG 2.2 AA and its best practices: 0 violations where it is told what became of an entry."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from joobq_admin.joobq import keys
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.entry import EntryRef
from tests.support.chromium import DESKTOP, PHONE, violations
from tests.support.dashboard import Dashboard
from tests.support.letters import DIED, digest, jid, letter
from tests.support.operators import ANN, dead_letters
from tests.support.servers import Server

LETTER, AGAIN = letter(1, queue="invoices"), letter(1, queue="invoices", death=5)
REF = EntryRef(DIED, digest(LETTER), jid(1))


def redriven(queue: DeadLetterQueue) -> None:
    queue.redrive_entries([REF], by=ANN, reason="Gateway is up", operation="op-1")


def dead_again(queue: DeadLetterQueue) -> None:
    redriven(queue)
    queue.add(4 * 10**12, [AGAIN])


def taken_by_another_tool(queue: DeadLetterQueue) -> None:
    queue.purge_entries([REF], by=ANN, reason="Duplicate", operation="op-1")
    queue.restore([REF.digest], by=ANN, operation="op-2")
    queue.redis.zrem(keys.DEAD, LETTER)


def all_purged(queue: DeadLetterQueue) -> None:
    queue.purge_all(by=ANN, reason="Load test", operation="op-1")


STATES = {
    redriven: "Redriven by Ann Āboliņa",
    dead_again: "and died again",
    taken_by_another_tool: "Gone, and not by this dashboard",
    all_purged: "Everything was purged by Ann Āboliņa",
}


@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desk", "phone"])
@pytest.mark.parametrize("left", STATES)
def test_a_tombstone(
    dashboard: Dashboard,
    valkey: Server,
    new_page: Callable[..., Page],
    left: Callable[[DeadLetterQueue], None],
    size: tuple[int, int],
    scheme: str,
) -> None:
    queue = dead_letters(valkey.client)
    queue.add(DIED, [LETTER])
    left(queue)
    page = new_page(size, scheme)
    page.goto(f"{dashboard.url}/dead-letters/{DIED}-{digest(LETTER)[:16]}/?jid={jid(1)}")
    expect(page.get_by_role("heading", level=1)).to_contain_text(STATES[left])
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == size[0]
