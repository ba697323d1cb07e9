"""The screens of finding, grouping and looking at a list, brought up in a browser as those of screens.py are."""

import re
from datetime import UTC, datetime

from playwright.sync_api import Page, expect

from demo.letters import day
from joobq_admin.joobq import keys
from tests.support.dashboard import Dashboard
from tests.support.eventually import eventually
from tests.support.letters import letter
from tests.support.servers import Server

MINUTE = 60_000
MOST = re.compile(r"Review 3\d\d Socket::ConnectError")  # about so many in a day


def now() -> int:
    return int(datetime.now(UTC).timestamp() * 1000)


def a_day(dashboard: Dashboard, server: Server, page: Page, query: str = "?limit=5") -> None:
    """With an incident within the hour; the real entries fill a page in screens.py."""
    server.client.zadd(keys.DEAD, {raw: score for score, raw in day(now())})
    page.goto(f"{dashboard.url}/dead-letters/{query}")


def narrowed_to_the_peak(dashboard: Dashboard, server: Server, page: Page) -> None:
    a_day(dashboard, server, page)
    page.goto(f"{dashboard.url}{page.locator('figcaption span a').get_attribute('href')}&limit=5")
    expect(page.get_by_label("since")).to_be_visible()


def found(dashboard: Dashboard, server: Server, page: Page) -> None:
    a_day(dashboard, server, page)
    page.get_by_label("Search error").fill("mailbox unavailable for user5931")
    expect(page.locator("h1")).to_contain_text("match")


def found_nothing(dashboard: Dashboard, server: Server, page: Page) -> None:
    server.client.zadd(keys.DEAD, {letter(1): now()})  # a look through many may end before it knows
    page.goto(f"{dashboard.url}/dead-letters/?q=no+such+text&queue=emails&kind=malformed")
    expect(page.get_by_text("No entry matches.")).to_be_visible()


def not_searchable(dashboard: Dashboard, server: Server, page: Page) -> None:
    server.client.zadd(keys.DEAD, {letter(1, "a\udcff"): now()})
    page.goto(f"{dashboard.url}/dead-letters/?queue=a%FF")
    expect(page.get_by_text("here nothing can be searched")).to_be_visible()


def reviewed(page: Page) -> str:
    """Where the most of them are: what is known of another set holds for a moment, and is replaced while one looks."""
    links = page.get_by_role("link", name=MOST)

    def found() -> list[str]:
        page.goto(page.url)
        return links.evaluate_all("links => links.map(link => link.href)")

    return eventually(found)[0]


def by_error(dashboard: Dashboard, server: Server, page: Page) -> None:
    a_day(dashboard, server, page, "groups/")
    reviewed(page)


def one_error(dashboard: Dashboard, server: Server, page: Page) -> None:
    a_day(dashboard, server, page, "groups/")
    page.goto(f"{reviewed(page)}&limit=5")
    expect(page.locator("h1")).to_have_text(re.compile(r"^\s*3\d\d dead letters: Socket::ConnectError"))


def news(dashboard: Dashboard, server: Server, page: Page) -> None:
    a_day(dashboard, server, page)
    server.client.zadd(keys.DEAD, {letter(n): now() + MINUTE for n in range(7)})
    page.evaluate("htmx.trigger('#fresh', 'look')")
    expect(page.locator("#fresh")).to_contain_text("7 new entries")


def no_answer_since(dashboard: Dashboard, server: Server, page: Page) -> None:
    a_day(dashboard, server, page)
    page.route("**/fresh?*", lambda route: route.abort())
    page.evaluate("htmx.trigger('#fresh', 'look')")
    expect(page.locator("#fresh")).to_contain_text("No answer since.")


def no_looks_for_news(dashboard: Dashboard, server: Server, page: Page) -> None:
    page.context.add_cookies([{"name": "news", "value": "off", "url": dashboard.url}])
    a_day(dashboard, server, page)
    expect(page.locator("#fresh")).to_contain_text("Nothing newer is looked for.")


PAGES = [
    narrowed_to_the_peak, found, found_nothing, not_searchable, by_error, one_error, news, no_answer_since,
    no_looks_for_news,
]  # fmt: skip
