"""The jid, the link, the bytes and a summary of an entry, also where a browser lends a page no clipboard."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from joobq_admin.joobq import keys
from tests.support.dashboard import Dashboard
from tests.support.letters import DIED, digest, jid, letter
from tests.support.servers import Server

RAW = letter(1, queue="invoices", customer="Anna Brandt", iban="DE02120300000000202051", note="ü\u202e")
NO_CLIPBOARD = "Object.defineProperty(Navigator.prototype, 'clipboard', { get: () => undefined })"


def copied(page: Page, button: str) -> str:
    """By way of a field that one pastes into."""
    page.locator("#live").evaluate("live => { live.textContent = ''; }")
    page.get_by_role("button", name=button, exact=True).first.click()
    expect(page.locator("#live")).to_have_text("Copied")
    page.evaluate("document.body.append(Object.assign(document.createElement('textarea'), { id: 'pasted' }))")
    page.locator("#pasted").press("Control+v")
    pasted = page.locator("#pasted").input_value()
    page.locator("#pasted").evaluate("field => field.remove()")
    return pasted


def test_jid_link_bytes_and_summary(dashboard: Dashboard, valkey: Server, new_page: Callable[..., Page]) -> None:
    valkey.client.zadd(keys.DEAD, {RAW: DIED})
    for script in ("", NO_CLIPBOARD):
        page = new_page(permissions=["clipboard-read", "clipboard-write"])
        page.add_init_script(script)
        page.goto(f"{dashboard.url}/jobs/{jid(1)}/")
        assert copied(page, "Copy jid") == jid(1)
        link = copied(page, "Copy link to this job")
        assert link == f"{dashboard.url}/jobs/{jid(1)}/"
        assert copied(page, "Copy summary").splitlines() == [
            "Dead letter in invoices",
            "error    Error: SMTP 550",
            "died     2026-11-29T12:29:50Z",
            f"job      {jid(1)}",
            "with     customer Anna Brandt, iban hidden, 22 characters, note üU+202E",
            f"version  sha256 {digest(RAW)}",
            f"link     {link}",
        ]
        page.get_by_role("link", name="Exact bytes").click()
        expect(page.locator("#payload")).to_contain_text("iban is replaced by * here, byte for byte")
        assert copied(page, "Copy as text") == RAW.decode().replace("DE02120300000000202051", "*" * 22)
        assert copied(page, "Copy as hex").startswith(f"000000  {RAW[:8].hex(' ')}  {RAW[8:16].hex(' ')}")
