"""An admin takes an entry's exact bytes home: confirms, is asked why, gets a file. Also without JavaScript."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from joobq_admin.joobq import keys
from tests.support.dashboard import Dashboard
from tests.support.letters import DIED, digest, jid, letter
from tests.support.servers import Server

RAW = letter(1, card="4111 1111").replace(b"4111", b"\xff\x00\r\n")
ENTRY = f"/dead-letters/{DIED}-{digest(RAW)[:16]}/?jid={jid(1)}"


@pytest.mark.parametrize("javascript", [True, False])
def test_it_is_confirmed_asked_and_downloaded(
    dashboard: Dashboard, valkey: Server, new_page: Callable[..., Page], javascript: bool
) -> None:
    valkey.client.zadd(keys.DEAD, {RAW: DIED})
    page = new_page(javascript=javascript)
    page.goto(dashboard.url + ENTRY)
    page.get_by_role("button", name="Download unredacted bytes…").press("Enter")
    expect(page.get_by_role("heading", name="Confirm that it is you")).to_be_visible()
    page.get_by_role("button", name="Confirm").press("Enter")
    expect(page).to_have_url(dashboard.url + ENTRY)
    page.get_by_role("button", name="Download unredacted bytes…").press("Enter")
    expect(page.get_by_role("heading", name="Download unredacted bytes?")).to_be_visible()
    page.get_by_label("Reason").fill("SUP-4471")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download", exact=True).press("Enter")
    assert Path(download.value.path()).read_bytes() == RAW
    assert download.value.suggested_filename == f"dead-letter-{digest(RAW)[:16]}.bin"
    assert valkey.client.xlen(keys.AUDIT) == 1
    assert valkey.client.zrange(keys.DEAD, 0, -1) == [RAW]
    if javascript:
        expect(page.locator("dialog[open]")).to_have_count(0)
        expect(page.get_by_role("button", name="Download unredacted bytes…")).to_be_focused()
