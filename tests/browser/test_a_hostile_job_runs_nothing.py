"""A job may hold markup, scripts and htmx attributes: wherever it is shown nothing of it runs, and nothing is asked.

Every page fails its test when the policy is broken or another machine is asked; here also when an address of ours is.
"""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Request, expect

from joobq_admin.joobq import keys
from tests.support.dashboard import Dashboard, signed_in
from tests.support.letters import DIED, digest, jid, letter
from tests.support.servers import Server

EVIL = [
    "javascript:window.evil=1//",
    "<script>window.evil=1</script>",
    "<img src=/evil onerror=window.evil=1>",
    "</textarea></template></pre><svg/onload=window.evil=1>",
    "<SCRIPT/SRC=/evil",
    '"onmouseover="window.evil=1" autofocus onfocus="window.evil=1',
    '<p hx-get="/evil" hx-trigger="load">',
    '" hx-get="/evil" hx-trigger="load',
    "{{ 7*7 }}{% csrf_token %}",
]
ALL = " ".join(EVIL)  # in one place as bad as each alone: first what an address begins with
NAME = " ".join((*EVIL[1:3], *EVIL[5:]))  # as much as is shown of one

NO_ELEMENT_OF_OURS = "body script, img, [onerror], [onload], [onmouseover], [onfocus], [autofocus], body [src], " + (
    "[hx-get^='/evil'], [href^='javascript:']"
)

TOUCH = """() => document.querySelectorAll("main *").forEach((element) => {
    element.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
    element.focus?.();
})"""


def hostile(text: str, death: int = 0, jid: str = jid(1), queue: str = "invoices") -> bytes:
    error: dict[str, Any] = {
        "failed_at": f"2026-11-29T12:29:{50 + death}Z", "message": text, "cause": text,
        "backtrace": f"{text}\nfrom src/{text}.cr:1:1 in '{text}'",
        "error_type": text, "error_class": text, "system_context": {"hostname": text, "worker_id": text},
    }  # fmt: skip
    return letter(jid, queue=queue, error=error, **{text: text, "nested": {text: [text]}})


@pytest.fixture
def eve(new_page: Callable[..., Page]) -> tuple[Page, list[str]]:
    """A page of somebody of such a name, and what it asks for that no page of ours asks for."""
    page = new_page(headers=signed_in("eve") | {"X-Forwarded-Preferred-Username": NAME})
    asked: list[str] = []

    def note(request: Request) -> None:
        if "evil" in request.url.partition("?")[0] or request.url.startswith(("javascript:", "data:")):
            asked.append(request.url)

    page.on("request", note)
    return page, asked


def test_wherever_it_is_shown(guarded: Dashboard, valkey: Server, eve: tuple[Page, list[str]]) -> None:
    page, asked = eve
    home = f"{guarded.url}/dead-letters/"
    here, elsewhere = hostile(ALL), hostile(ALL, jid=ALL, queue=ALL)
    alone = [hostile(text, jid=text, queue=text) for text in EVIL] + [hostile(text) for text in EVIL]
    valkey.client.zadd(keys.DEAD, {**dict.fromkeys(alone, DIED - 1), here: DIED, elsewhere: DIED + 1})

    def harmless(*expected: str) -> None:
        for words in expected:
            expect(page.locator("body")).to_contain_text(words)
        page.evaluate(TOUCH)
        assert page.evaluate("window.evil") is None
        expect(page.locator(NO_ELEMENT_OF_OURS)).to_have_count(0)
        assert asked == []

    page.goto(home)
    harmless(NAME, *EVIL)
    page.locator("#queues").get_by_role("link").last.click()
    page.goto(f"{home}{DIED + 1}-{digest(elsewhere)}/")
    harmless(ALL, "Cannot be redriven: its jid is no UUID")
    page.get_by_role("link", name="Exact bytes").click()
    harmless("000000")

    page.goto(f"{home}{DIED}-{digest(here)}/?jid={jid(1)}")
    harmless(ALL)
    valkey.client.zrem(keys.DEAD, here)
    again = hostile(ALL + ALL, death=1)
    valkey.client.zadd(keys.DEAD, {again: DIED + 2})
    page.get_by_role("button", name="Redrive to invoices").click()
    harmless("Changed since you reviewed it")
    page.goto(f"{guarded.url}/jobs/{jid(1)}/")
    harmless(f"{len(EVIL) + 1} deaths", *EVIL)

    page.goto(f"{home}{DIED + 2}-{digest(again)}/?jid={jid(1)}")
    page.get_by_role("button", name="Redrive to invoices").click()
    harmless("Redriven. The job is next to run in invoices")
    page.get_by_role("link", name="What it did").click()
    harmless("Redriven")
    page.goto(f"{home}{DIED + 2}-{digest(again)}/?jid={jid(1)}")
    harmless("no longer in dead letters")
