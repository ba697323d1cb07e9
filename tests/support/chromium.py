"""Chromium: where it is, how it is started, and what no page of ours may do in it."""

import json
import os
import re
import shutil
from typing import Any
from urllib.parse import urlsplit

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Playwright, Request

PATH = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--no-sandbox",  # containers and root have none
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]
DESKTOP, PHONE = (1440, 900), (390, 844)
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

# Chromium calls every such answer an error of its own. Ours are meant: a conflict, a refusal, a sign-in that is over.
OUR_ANSWERS = r"Failed to load resource: the server responded with a status of (400|401|403|404|409|410|422|503) "


# Colours that are still on their way to another scheme are no colours of ours.
SETTLED = """async () => {
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    await Promise.all(document.getAnimations().map((animation) => animation.finished));
}"""


def launch(playwright: Playwright) -> Browser:
    if not PATH:
        raise RuntimeError("Chromium is not installed: sudo apt-get install chromium")
    return playwright.chromium.launch(executable_path=PATH, args=FLAGS)


class Watch:
    """What went wrong in a context: console errors (violations of the CSP among them), exceptions, requests that leave.

    `expects`: a pattern of messages that the test provokes, such as "net::ERR_CONNECTION_REFUSED".
    """

    def __init__(self, context: BrowserContext, expects: str) -> None:
        self.problems: list[str] = []
        self.meant = re.compile(f"{OUR_ANSWERS}|{expects}" if expects else OUR_ANSWERS)
        context.on("console", self.console)
        context.on("weberror", lambda error: self.problems.append(f"exception: {error.error}"))
        context.on("request", self.request)

    def console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not self.meant.search(message.text):
            self.problems.append(f"console: {message.text}")

    def request(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("data", "blob") and address.hostname not in ("127.0.0.1", "localhost"):
            self.problems.append(f"left this machine: {request.url}")


def new_context(
    browser: Browser,
    size: tuple[int, int] = DESKTOP,
    scheme: str = "light",
    javascript: bool = True,
    headers: dict[str, str] | None = None,
    expects: str = "",
    **options: Any,
) -> tuple[BrowserContext, Watch]:
    """A fresh profile of one person, in UTC and without motion."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme=scheme,  # "light" or "dark"
        java_script_enabled=javascript,
        extra_http_headers=headers,
        timezone_id="UTC",
        locale="en-GB",
        reduced_motion="reduce",
        **options,
    )
    context.set_default_timeout(10_000)
    return context, Watch(context, expects)


def violations(page: Page) -> list[str]:
    """What axe-core finds against WCAG 2.2 AA and its best practices: a line a rule and element. Needs JavaScript."""
    page.evaluate(SETTLED)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate(
        "async (options) => (await axe.run(options)).violations", {"runOnly": WCAG, "resultTypes": ["violations"]}
    )
    return [
        f"{violation['id']} ({violation['impact']}): {json.dumps(node['target'])} {node['html'][:200]}"
        for violation in found
        for node in violation["nodes"]
    ]
