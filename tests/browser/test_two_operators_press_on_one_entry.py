"""The second operator is told inline, by htmx, who did it and when; the job is sent once."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from joobq_admin.joobq import keys
from tests.support.dashboard import Dashboard, signed_in
from tests.support.letters import DIED, jid, letter
from tests.support.servers import Server

Pages = Callable[..., Page]


@pytest.fixture(autouse=True)
def letters(valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, {letter(1, queue="invoices"): DIED})


def test_the_loser_sees_who_and_when(guarded: Dashboard, valkey: Server, new_page: Pages) -> None:
    mara, tomas = (new_page(headers=signed_in(name)) for name in ("mara", "tomas"))
    for person in (mara, tomas):
        person.goto(f"{guarded.url}/jobs/{jid(1)}/")
    mara.get_by_role("button", name="Redrive to invoices").click()
    expect(mara.locator("#action h2")).to_contain_text("Redriven. The job is next to run in invoices")
    tomas.get_by_role("button", name="Redrive to invoices").click()
    slip = tomas.locator("#action")
    expect(slip.locator("h2")).to_contain_text("Already redriven by Mara")
    expect(slip).to_contain_text(re.compile(r"These bytes were sent at \d\d:\d\d:\d\d, \d+ s before you."))
    expect(slip.locator("h2")).to_be_focused()
    expect(tomas.locator("#live")).to_have_text("Already redriven by Mara")
    assert tomas.url == f"{guarded.url}/jobs/{jid(1)}/"  # inline: the page stayed
    expect(tomas.locator("#deaths")).to_contain_text("Redriven to invoices by Mara")
    assert valkey.client.llen("invoices") == 1
    assert valkey.client.zcard(keys.DEAD) == 0


def test_a_viewer_reads_and_has_no_button(guarded: Dashboard, new_page: Pages) -> None:
    viewer = new_page(headers=signed_in("vera", "viewer"))
    viewer.goto(f"{guarded.url}/jobs/{jid(1)}/")
    expect(viewer.locator("#action")).to_contain_text("You can read this entry, not act on it")
    expect(viewer.get_by_role("button", name=re.compile("Redrive"))).to_have_count(0)
