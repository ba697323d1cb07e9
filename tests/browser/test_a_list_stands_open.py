"""A list that stands open asks what is new again and again: nothing of what its reader does is lost, nothing moves."""

import re
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, Route, expect

from joobq_admin.joobq import keys
from tests.support.chromium import PHONE
from tests.support.dashboard import Dashboard
from tests.support.eventually import eventually
from tests.support.letters import ERROR, letter
from tests.support.servers import Server

NOW = int(datetime.now(UTC).timestamp() * 1000)
STATE = """() => ({
  ticked: [...document.querySelectorAll("#results input[name=entry]")].map((box) => box.checked),
  typed: document.querySelector("#q").value,
  caret: document.querySelector("#q").selectionStart,
  selected: getSelection().toString(),
  focus: document.activeElement.getAttribute("href") ?? document.activeElement.id,
  scrolled: scrollY,
  rows: [...document.querySelectorAll(".rows .open")].map((link) => link.href + link.getBoundingClientRect().top),
})"""


def die(valkey: Server, n: int) -> None:
    error = ERROR | {"message": "Read timed out", "error_class": "IO::TimeoutError"}
    valkey.client.zadd(keys.DEAD, {letter(n, queue="invoices", error=error): NOW + n})


@pytest.fixture(autouse=True)
def letters(valkey: Server) -> None:
    for n in range(60):
        die(valkey, n)


def opened(dashboard: Dashboard, page: Page) -> None:
    page.clock.install()
    page.add_init_script("settled = 0; document.addEventListener('htmx:afterSettle', () => { settled += 1; })")
    page.goto(f"{dashboard.url}/dead-letters/")


def a_look_later(page: Page) -> None:
    page.clock.fast_forward(5_000)


def told(page: Page) -> None:
    """By the answer to a look; the next one begins to wait only then."""
    before = page.evaluate("settled")
    a_look_later(page)
    eventually(lambda: page.evaluate("settled") > before)


class Looks:
    """How often the page has asked; what `answer` does with the next of them."""

    def __init__(self, page: Page) -> None:
        self.n, self.answer = 0, Route.continue_
        page.route("**/fresh?*", self.asked)

    def asked(self, route: Route) -> None:
        self.n += 1
        self.answer(route)


def test_twenty_looks_with_a_half_typed_search_and_focus_in_a_row(
    dashboard: Dashboard, valkey: Server, page: Page
) -> None:
    opened(dashboard, page)
    page.get_by_label("Search error").press_sequentially("timed o")
    expect(page.locator("h1")).to_have_text("Dead letters that match")
    page.locator(".rows .open").nth(5).focus()
    before = page.evaluate(STATE)
    for n in range(20):
        die(valkey, 60 + n)
        told(page)
        expect(page.locator("#fresh")).to_contain_text(f"{n + 1} new entr")
    assert page.evaluate(STATE) == before
    assert before["typed"] == "timed o"
    expect(page.locator("#live")).to_have_text("20 new entries")
    expect(page.locator("#total")).to_have_text("80")
    page.locator("#show").focus()
    die(valkey, 90)
    told(page)
    expect(page.locator("#show")).to_contain_text("21 new entries")
    expect(page.locator("#show")).to_be_focused()
    page.locator("#show").click()
    expect(page.locator("#fresh")).to_be_empty()
    assert page.url == f"{dashboard.url}/dead-letters/?q=timed+o"
    expect(page.get_by_label("Search error")).to_have_value("timed o")


AT_WORK = {  # how it begins, and how it ends
    "selects text": ("getSelection().selectAllChildren($('.rows .err p'))", "getSelection().removeAllRanges()"),
    "has ticked rows": ("$('[data-pick-all]').click()", "$('[data-clear]').click()"),
    "is asked something": ("$('#keys').showModal()", "$('#keys').close()"),
    "is away": ("here(false)", "here(true)"),
}
SHORT = """() => {
    $ = (selector) => document.querySelector(selector);
    here = (is) => Object.defineProperty(document, "hidden", {value: !is, configurable: true});
}"""


def test_twenty_times_nothing_is_asked_while_somebody_is_at_work(
    dashboard: Dashboard, valkey: Server, page: Page
) -> None:
    opened(dashboard, page)
    page.evaluate(SHORT)
    looks = Looks(page)
    for begin, end in AT_WORK.values():
        page.evaluate(begin)
        before, asked = page.evaluate(STATE), looks.n
        for _ in range(20):
            a_look_later(page)
        assert (page.evaluate(STATE), looks.n) == (before, asked)
        page.evaluate(end)
    die(valkey, 60)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator("#fresh")).to_have_text(re.compile("1 new entry"))


NO_ANSWERS: list[Callable[[Route], None]] = [
    lambda route: route.abort(),
    lambda route: route.fulfill(status=401),
    lambda route: route.fulfill(status=503, headers={"HX-Redirect": "/audit/"}),
    lambda route: route.fulfill(status=200, body="<h1>Sign in</h1>"),
]


def test_without_an_answer_it_says_how_old_it_is_and_stays(
    dashboard: Dashboard, valkey: Server, new_page: Callable[..., Page]
) -> None:
    page = new_page(expects="net::ERR_FAILED|Response Status Error Code|htmx:")
    opened(dashboard, page)
    looks = Looks(page)
    for looks.answer in NO_ANSWERS:
        a_look_later(page)
        expect(page.locator("#fresh")).to_have_text(re.compile(r"Read \d\d:\d\d:\d\d UTC\. No answer since\."))
        page.evaluate("document.querySelector('#fresh').replaceChildren()")
    assert page.url == f"{dashboard.url}/dead-letters/"
    looks.answer = Route.continue_
    told(page)
    expect(page.locator("#fresh")).to_be_empty()
    asked = looks.n
    die(valkey, 60)
    told(page)
    expect(page.locator("#fresh")).to_have_text(re.compile("1 new entry"))
    assert looks.n == asked + 1, "one clock, however often it failed"


def test_on_a_phone_new_ones_are_told_below(
    dashboard: Dashboard, valkey: Server, new_page: Callable[..., Page]
) -> None:
    page = new_page(PHONE)
    opened(dashboard, page)
    before = page.evaluate(STATE)
    die(valkey, 60)
    a_look_later(page)
    expect(page.locator("#show")).to_be_in_viewport()
    assert page.evaluate(STATE)["rows"] == before["rows"]
    page.locator("#show").click()
    expect(page.locator("h1")).to_have_text("61 dead letters")
    for tag, role in (("table", "table"), ("tbody", "rowgroup"), ("tr.row", "row"), ("td", "cell")):
        expect(page.locator(f".rows {tag}, {tag}.rows").last).to_have_attribute("role", role)
