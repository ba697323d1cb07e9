"""Theme, rows, single keys and time zone: what a reader chose is a cookie, and every page is made by it."""

import re
from datetime import UTC, datetime, timedelta
from http.cookies import Morsel
from zoneinfo import ZoneInfo

import pytest
from django.test import Client, override_settings

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import EntryRef
from joobq_admin.pages import reader
from tests.support.html import elements, get, link, says
from tests.support.letters import DIED, digest, jid, letter
from tests.support.operators import ANN, dead_letters
from tests.support.servers import Server

ONE, TWO, THREE = letter(1), letter(2), letter(3)
ENTRY = f"/dead-letters/{DIED}-{digest(ONE)[:16]}/?jid={jid(1)}"


def chosen(client: Client) -> dict[str, str]:
    """What the browser would send from now on."""
    return {name: each.value for name, each in client.cookies.items() if each.value and name in reader.CHOICES}


def of(client: Client, name: str) -> Morsel[str]:
    found: Morsel[str] = client.cookies[name]
    return found


@pytest.mark.parametrize(
    ("name", "value"), [("theme", "dark"), ("density", "compact"), ("keys", "off"), ("zone", "Asia/Calcutta")]
)
def test_a_choice_is_remembered_until_it_is_taken_back(client: Client, name: str, value: str) -> None:
    form = {name: value, "next": "/audit/?q=a"}
    answer = client.post("/display/", form)
    assert (answer.status_code, answer["Location"]) == (303, "/audit/?q=a")
    assert chosen(client) == {name: value}
    assert (of(client, name)["max-age"], of(client, name)["samesite"]) == (reader.A_YEAR, "Lax")
    assert (of(client, name)["httponly"], of(client, name)["secure"]) == (True, "")
    with override_settings(SECURE=True):
        client.post("/display/", form)
    assert of(client, name)["secure"] is True
    page = get(client, "/display/")
    assert [option for option in elements(page, "option") if "selected" in option and option.get("value") != ""]
    if name != "zone":
        assert elements(page, "html")[0][f"data-{name}"] == value
        assert elements(page, "button", name=name, value=value, aria_pressed="true")
    client.post("/display/", {name: ""})
    assert chosen(client) == {}


def test_htmx_gets_the_cookie_alone(client: Client) -> None:
    answer = client.post("/display/", {"theme": "dark"}, headers={"HX-Request": "true"})
    assert (answer.status_code, answer.content) == (204, b"")
    assert chosen(client) == {"theme": "dark"}


@pytest.mark.parametrize(
    "form", [{}, {"theme": "pink"}, {"zone": "Europe"}, {"zone": "../../etc/passwd"}, {"zone": "a\0b"}, {"other": "1"}]
)
def test_what_is_no_choice_is_refused(client: Client, form: dict[str, str]) -> None:
    assert client.post("/display/", form).status_code == 400
    assert chosen(client) == {}


@pytest.mark.parametrize("to", ["https://evil.example/", "//evil.example", "/auth/logout", "\\evil", ""])
def test_it_leads_to_no_other_place(client: Client, to: str) -> None:
    assert client.post("/display/", {"theme": "dark", "next": to})["Location"] == "/dead-letters/"


@pytest.mark.parametrize("value", ["Europe", "../passwd", '"><script>', "utc", "Nowhere/At_all"])
def test_a_cookie_that_holds_no_zone_is_utc(client: Client, valkey: Server, value: str) -> None:
    valkey.client.zadd(keys.DEAD, {ONE: DIED})
    client.cookies["zone"] = value
    page = get(client, ENTRY)
    assert "Times in UTC" in says(page)
    assert elements(page, "time")[0]["title"] == "Sun 29 Nov 2026, 12:29:50 UTC"


def test_every_page_tells_times_in_the_zone_and_utc_beside(client: Client, valkey: Server) -> None:
    """In Kathmandu it is a quarter to six hours later, so no time of UTC can be mistaken for one of theirs."""
    valkey.client.zadd(keys.DEAD, {ONE: DIED, TWO: DIED, THREE: DIED})
    queue, began = dead_letters(valkey.client), datetime.now(UTC)
    queue.redrive_entries([EntryRef(DIED, digest(TWO), jid(2))], by=ANN, reason="up", operation="op-1")
    queue.purge_entries([EntryRef(DIED, digest(THREE), jid(3))], by=ANN, reason="up", operation="op-2")
    client.cookies["zone"] = "Asia/Kathmandu"
    page = get(client, ENTRY)
    when = {"datetime": "2026-11-29T12:29:50Z", "title": "Sun 29 Nov 2026, 18:14:50 UTC+5:45. 12:29:50 UTC"}
    assert elements(page, "time")[0] == when
    assert "Times in Asia/Kathmandu (UTC+5:45)" in says(page)
    assert link(page, "Change") == "/display/"
    told = [get(client, url) for url in (ENTRY, "/audit/", "/bin/", "/jobs/x/", "/operations/op-1/")]
    told += [get(client, f"/jobs/{jid(n)}/") for n in (2, 3)]
    now = {began + timedelta(minutes=n) for n in range((datetime.now(UTC) - began).seconds // 60 + 2)}
    theirs = {"18:14", *(f"{at.astimezone(ZoneInfo('Asia/Kathmandu')):%H:%M}" for at in now)}
    for page in told:
        words = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z|UTC\+5:45", "", says(page))  # receipts stay in UTC
        assert set(re.findall(r"\b\d\d:\d\d", words)) <= theirs, words
        assert "UTC" not in words, words
    the_list = says(get(client, "/dead-letters/"))  # with a trend, in which every quarter of an hour is a time
    assert "18:14 emails" in the_list
    assert "12:29" not in the_list
    assert "UTC" not in the_list.replace("UTC+5:45", "")
