"""The screens of purges, of the bin and of the audit log, brought up in a browser as those of screens.py are."""

import re

from playwright.sync_api import Page, expect

from joobq_admin.joobq import keys
from joobq_admin.joobq.audit import AuditLog
from joobq_admin.joobq.purging import Purging
from tests.support.dashboard import Dashboard
from tests.support.operators import ANN
from tests.support.records import kept, record
from tests.support.screens import opened, the_list
from tests.support.servers import Server


def asks_to_purge(page: Page) -> None:
    page.get_by_role("button", name="Purge…").click()
    expect(page.get_by_label("Reason")).to_be_focused()


def a_purge_asked(dashboard: Dashboard, server: Server, page: Page) -> None:
    opened(dashboard, server, page)
    asks_to_purge(page)


def a_purge_asked_on_a_page(dashboard: Dashboard, server: Server, page: Page) -> None:
    opened(dashboard, server, page)
    page.evaluate("form = document.querySelector('#purge').form; form.action = purge.formAction; form.submit()")
    expect(page.get_by_role("heading", name="Purge 1 dead letter?")).to_be_visible()


def purged(dashboard: Dashboard, server: Server, page: Page) -> None:
    a_purge_asked(dashboard, server, page)
    page.get_by_label("Reason").fill("Load test from Friday")
    page.get_by_role("button", name="Purge 1").click()
    expect(page.locator("#action h2")).to_be_focused()
    expect(page.locator("dialog[open]")).to_have_count(0)


def restored(dashboard: Dashboard, server: Server, page: Page) -> None:
    purged(dashboard, server, page)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#action h2")).to_contain_text("Restored.")
    expect(page.locator("#action h2")).to_be_focused()


def a_purge_without_an_answer(dashboard: Dashboard, server: Server, page: Page) -> None:
    confirmed(dashboard, server, page)
    opened(dashboard, server, page)
    asks_to_purge(page)
    page.route("**/purge", lambda route: route.abort("connectionreset"))
    page.get_by_label("Reason").fill("Load test from Friday")
    page.get_by_role("checkbox", name="Purge for good").check()
    page.get_by_label("Type 1 to purge for good").fill("1")
    page.get_by_role("button", name="Purge 1 for good").click()
    expect(page.locator("#action h2")).to_contain_text("Outcome unknown")
    for name, answered in (("reason", "Load test from Friday"), ("for_good", "1"), ("count", "1")):
        expect(page.locator(f"#action [name={name}]")).to_have_value(answered)


def a_tombstone_of_a_purge(dashboard: Dashboard, server: Server, page: Page) -> None:
    purged(dashboard, server, page)
    page.get_by_role("link", name="What it did").click()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()


def a_short_list(dashboard: Dashboard, server: Server, page: Page) -> None:
    """What stands around its rows is the same; axe takes its time over each."""
    the_list(dashboard, server, page)
    page.goto(f"{dashboard.url}/dead-letters/?limit=8")


def ticked(dashboard: Dashboard, server: Server, page: Page) -> None:
    """Three rows by one tick, and shift."""
    a_short_list(dashboard, server, page)
    boxes = page.locator(".rows input[type=checkbox]")
    boxes.nth(1).check()
    boxes.nth(3).click(modifiers=["Shift"])
    expect(page.locator(".bulkbar")).to_contain_text("3 selected")


def a_tally(dashboard: Dashboard, server: Server, page: Page) -> None:
    the_list(dashboard, server, page)
    page.get_by_label("Select all on this page").check()
    page.get_by_role("button", name=re.compile("Redrive .* reviewed")).click()
    expect(page.locator("#tally-h")).to_be_focused()


def many_purges_asked(dashboard: Dashboard, server: Server, page: Page) -> None:
    ticked(dashboard, server, page)
    page.get_by_role("button", name="Purge 3…").click()
    expect(page.get_by_label("Reason")).to_be_focused()


def many_purged(dashboard: Dashboard, server: Server, page: Page) -> None:
    many_purges_asked(dashboard, server, page)
    page.get_by_label("Reason").fill("Load test from Friday")
    page.get_by_role("button", name="Purge 3", exact=True).click()
    expect(page.locator("#tally-h")).to_be_focused()
    expect(page.locator("#toasts")).to_contain_text("Purged 3 Undo for")


def confirmed(dashboard: Dashboard, server: Server, page: Page) -> None:
    """On the list, by an admin whose sign-in counts as recent."""
    a_short_list(dashboard, server, page)
    page.get_by_role("button", name=re.compile("Purge all")).click()
    page.get_by_role("button", name="Confirm", exact=True).click()
    expect(page.locator("dialog[open]")).to_have_count(0)


def a_purge_for_good_miscounted(dashboard: Dashboard, server: Server, page: Page) -> None:
    confirmed(dashboard, server, page)
    page.locator(".rows input[type=checkbox]").first.check()
    page.get_by_role("button", name="Purge 1…").click()
    page.get_by_label("Reason").fill("Load test from Friday")
    page.get_by_role("checkbox", name="Purge for good: no copy is kept").check()
    page.get_by_label("Type 1 to purge for good").fill("2")
    page.get_by_role("button", name="Purge 1 for good").click()
    expect(page.get_by_text("That was not 1, so nothing was purged.")).to_be_visible()
    expect(page.get_by_label("Type 1 to purge for good")).to_be_focused()


def a_purge_asked_of_an_admin_who_signed_in_long_ago(dashboard: Dashboard, server: Server, page: Page) -> None:
    many_purges_asked(dashboard, server, page)
    page.get_by_text("Purge for good: no copy is kept").click()
    expect(page.get_by_role("button", name="Confirm", exact=True)).to_be_visible()


def everything_asked(dashboard: Dashboard, server: Server, page: Page) -> None:
    confirmed(dashboard, server, page)
    page.get_by_role("button", name=re.compile("Purge all")).click()
    expect(page.get_by_role("heading", name="Purge everything?")).to_be_visible()
    expect(page.get_by_label("Reason")).to_be_focused()


def everything_refused(dashboard: Dashboard, server: Server, page: Page) -> None:
    everything_asked(dashboard, server, page)
    server.client.set(keys.AUDIT, "no stream")
    page.get_by_label("Reason").fill("Load test from Friday")
    page.get_by_label("to purge for good").fill("76")
    page.get_by_role("button", name="Purge 76 for good").click()
    expect(page.get_by_role("button", name="Try again")).to_be_visible()


def a_purge_of_a_queue_that_stopped(dashboard: Dashboard, server: Server, page: Page) -> None:
    the_list(dashboard, server, page)
    purging = Purging(server.client, AuditLog(server.client), None, by=ANN, reason="Load test", operation="op-1")
    purging.plan("emails", None, 0)
    purging.record(36, "emails")
    page.goto(f"{dashboard.url}/operations/op-1/")
    expect(page.get_by_text("0 of 36 are gone, 36 are still to go.")).to_be_visible()


def many_restored(dashboard: Dashboard, server: Server, page: Page) -> None:
    many_purged(dashboard, server, page)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#tally-h")).to_have_text("Restored 3")
    expect(page.locator(".toast")).to_have_count(0)


def the_bin(dashboard: Dashboard, server: Server, page: Page) -> None:
    many_purged(dashboard, server, page)
    page.goto(f"{dashboard.url}/bin/?limit=2")
    expect(page.get_by_role("link", name="Older", exact=True)).to_be_visible()


def restored_from_the_bin(dashboard: Dashboard, server: Server, page: Page) -> None:
    the_bin(dashboard, server, page)
    page.get_by_label("Select all on this page").check()
    page.get_by_role("button", name="Restore the selected").click()
    expect(page.locator("#tally-h")).to_have_text("Restored 2")
    expect(page.locator("#tally-h")).to_be_focused()


def emptying_the_bin_asked(dashboard: Dashboard, server: Server, page: Page) -> None:
    confirmed(dashboard, server, page)
    the_bin(dashboard, server, page)
    page.get_by_label("Select all on this page").check()
    page.get_by_role("button", name="Purge 2 for good…").click()
    expect(page.get_by_role("heading", name="Purge 2 of the bin for good?")).to_be_visible()
    expect(page.get_by_label("Reason")).to_be_focused()


def an_empty_bin(dashboard: Dashboard, server: Server, page: Page) -> None:
    page.goto(f"{dashboard.url}/bin/")


def the_audit_log(dashboard: Dashboard, server: Server, page: Page) -> None:
    fields = {"queue": "q" * 300, "reason": "Gateway reported up " * 20, "name": "n" * 100, "jid": ""}
    kept(server.client, record(1), record(2, "purge", bin="1"), record(3, "purge_all", **fields, entries="9"))
    kept(server.client, record(4, "another", **fields, operation="a/b"))
    page.goto(f"{dashboard.url}/audit/?limit=3")
    expect(page.get_by_role("link", name="Older")).to_be_visible()


def undone_in_the_audit_log(dashboard: Dashboard, server: Server, page: Page) -> None:
    """One purge of two: the other has its button still."""
    many_purged(dashboard, server, page)
    purged(dashboard, server, page)
    page.goto(f"{dashboard.url}/audit/")
    page.get_by_role("button", name="Undo all 3").click()
    expect(page.locator("#tally-h")).to_have_text("Restored 3")
    expect(page.locator("#tally-h")).to_be_focused()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()


def the_audit_log_searched_in_vain(dashboard: Dashboard, server: Server, page: Page) -> None:
    kept(server.client, *(record(2) for _ in range(4_001)))
    page.goto(f"{dashboard.url}/audit/")
    page.get_by_label("Search jid, digest").fill("no such")
    expect(page.get_by_text("None found so far")).to_be_visible()


def an_unknown_filter(dashboard: Dashboard, server: Server, page: Page) -> None:
    page.goto(f"{dashboard.url}/audit/?person=ann")


PAGES = [
    a_purge_for_good_miscounted, a_purge_asked_of_an_admin_who_signed_in_long_ago, everything_asked, everything_refused,
    a_purge_of_a_queue_that_stopped, emptying_the_bin_asked,
    a_purge_asked, a_purge_asked_on_a_page, purged, restored, a_purge_without_an_answer, a_tombstone_of_a_purge,
    ticked, a_tally, many_purged, many_restored, the_bin, restored_from_the_bin,
    an_empty_bin, the_audit_log, undone_in_the_audit_log, the_audit_log_searched_in_vain, an_unknown_filter,
]  # fmt: skip
