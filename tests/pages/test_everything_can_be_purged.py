"""Purge all: everything, or everything of one queue, by an admin who signed in lately and types the number."""

import pytest
from django.http import HttpResponse
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.pages import links, purge_all
from tests.support.database import changed, contents
from tests.support.html import elements, get, hidden, link, says
from tests.support.letters import DIED, NO_TIME, letter
from tests.support.operators import at_once, dead_letters
from tests.support.servers import Server

WHY = "Load test from Friday"
DIALOG = {"HX-Request": "true", "HX-Target": "dialog"}
LOG = {keys.AUDIT, keys.AUDIT_INDEX}
ALL, EMAILS, NAMELESS = ("/dead-letters/purge-all?" + of for of in ("everything=1", "queue=emails", "unknown=1"))
MANY = 700  # of emails, among as many others: four blocks


def fill(server: Server, many: int = 3) -> None:
    queue = dead_letters(server.client)
    for name in ("emails", "invoices", ""):
        queue.add(DIED, [letter(n, name) for n in range(0, many, 2)])
        queue.add(NO_TIME, [letter(n, name) for n in range(1, many, 2)])


@pytest.fixture(autouse=True)
def confirmed(client: Client, valkey: Server) -> None:
    fill(valkey)
    client.post("/auth/confirm", {"next": "/"})


def asked(client: Client, url: str, htmx: bool = False) -> HttpResponse:
    return client.post(url, headers=DIALOG if htmx else {})


def answered(client: Client, question: HttpResponse, count: object, reason: str = WHY) -> HttpResponse:
    (form,) = elements(question, "form", action=address(question))
    return client.post(form["action"], hidden(question) | {"reason": reason, "count": str(count)})


def address(response: HttpResponse) -> str:
    """Where its question is asked, or answered."""
    named = [f["action"] for f in elements(response, "form") if "/purge-all?" in f.get("action", "")]
    return (named or [b["formaction"] for b in elements(response, "button", hx_target="#dialog")])[0]


def pressed(client: Client, url: str, count: object) -> HttpResponse:
    return answered(client, asked(client, url), count)


def goes_on(client: Client, page: HttpResponse, htmx: bool = False) -> HttpResponse:
    """Presses Continue, or does what the page does by itself."""
    headers = {"HX-Request": "true", "HX-Target": "purging"} if htmx else {}
    return client.post(address(page), hidden(page), headers=headers)


@pytest.fixture
def short_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(purge_all, "SECONDS", 0)


def of(server: Server, queue: bytes) -> int:
    return sum(b'"queue":"%s"' % queue in raw for raw in server.client.zrange(keys.DEAD, 0, -1))


@pytest.mark.parametrize("htmx", [True, False])
@pytest.mark.parametrize(
    ("url", "n", "title", "text"),
    [
        (ALL, 9, "Purge everything?", "All that is there at the moment of the press goes: 9 at"),
        (EMAILS, 3, "Purge everything in emails?", "Exactly those 3 go that were there at"),
        (NAMELESS, 3, "Purge everything without a queue name?", "Exactly those 3 go that were there at"),
    ],
)
def test_it_asks_for_the_number_first_and_nothing_moves(
    client: Client, valkey: Server, url: str, n: int, title: str, text: str, htmx: bool
) -> None:
    get(client, "/dead-letters/")
    before = contents(valkey.client)
    question = asked(client, url, htmx)
    assert question.status_code == 200
    for words in (title, text, f"Type {n} to purge for good", "No copy is kept.", "What comes in later stays."):
        assert words in says(question)
    assert bool(elements(question, "dialog", id="purge-dialog")) == htmx
    for count, reason in ((n + 1, WHY), ("", WHY), (n, " "), ("many", WHY)):
        again = answered(client, question, count, reason)
        assert again.status_code == 200
        assert f"Type {n} to purge for good" in says(again)
        assert (f"That was not {n}" in says(again)) == (count != n)
    plan = set(keys.plan(hidden(question)["operation"])) if url != ALL else set()
    assert changed(before, contents(valkey.client)) <= plan


def test_everything_goes_and_is_told(client: Client, valkey: Server) -> None:
    get(client, "/dead-letters/")
    before = contents(valkey.client)
    answer = pressed(client, ALL, 9)
    assert answer.status_code == 303
    assert changed(before, contents(valkey.client)) == LOG | {keys.DEAD, keys.COUNTS}
    page = get(client, answer["Location"])
    assert "Purged everything: 9 entries, by you" in says(page)
    assert "They are gone for good. No copy is kept. What earlier purges put into the bin is there still." in says(page)
    assert WHY in says(page)
    assert "everything, 9 entries, gone for good" in says(get(client, "/audit/"))


@pytest.mark.parametrize(("url", "queue", "in_words"), [
    (EMAILS, b"emails", "in emails"), (NAMELESS, b"", "without a queue name")])  # fmt: skip
def test_a_queue_goes_and_nothing_else(client: Client, valkey: Server, url: str, queue: bytes, in_words: str) -> None:
    get(client, "/dead-letters/")
    before = contents(valkey.client)
    question = asked(client, url)
    answer = answered(client, question, 3)
    assert answer.status_code == 303
    moved = changed(before, contents(valkey.client)) - set(keys.plan(hidden(question)["operation"]))
    assert moved == LOG | {keys.DEAD, keys.COUNTS}
    assert of(valkey, queue) == 0
    assert valkey.client.zcard(keys.DEAD) == 6
    assert valkey.client.hget(keys.COUNTS, queue) == b"0"
    page = get(client, answer["Location"])
    assert f"Purged everything {in_words}: 3 entries, by you" in says(page)
    assert "They are gone for good. No copy is kept." in says(page)
    assert "were to go for good" in says(get(client, "/audit/"))


@pytest.mark.parametrize("url", [ALL, EMAILS])
def test_a_second_press_does_nothing_also_to_what_came_meanwhile(client: Client, valkey: Server, url: str) -> None:
    question = asked(client, url)
    n = hidden(question)["n"]
    first = answered(client, question, n)
    dead_letters(valkey.client).add(DIED, [letter(8), letter(9)])
    before = contents(valkey.client)
    again = answered(client, question, n)
    assert (again.status_code, again["Location"]) == (303, first["Location"])
    assert changed(before, contents(valkey.client)) == set()


def test_one_press_twice_at_once_is_one(client: Client, valkey: Server) -> None:
    fill(valkey, MANY)
    question = asked(client, EMAILS)
    answers = at_once(*(lambda: answered(client, question, MANY) for _ in range(2)))
    for page in answers:
        while page.status_code == 200:
            page = goes_on(client, page)
        assert page.status_code == 303
    assert of(valkey, b"emails") == 0
    assert valkey.client.hget(keys.COUNTS, "emails") == b"0"
    assert valkey.client.xlen(keys.AUDIT) == 1


@pytest.mark.usefixtures("short_steps")
@pytest.mark.parametrize("htmx", [True, False])
def test_a_large_queue_goes_in_steps_and_what_comes_in_stays(client: Client, valkey: Server, htmx: bool) -> None:
    fill(valkey, MANY)
    headers = {"HX-Request": "true", "HX-Target": "planning"} if htmx else {}
    question = asked(client, EMAILS, htmx)
    looks = 1
    while "Looking for everything in emails" in says(question):
        assert "Nothing is purged yet." in says(question)
        assert f"of {3 * MANY:,} read." in says(question)
        question, looks = client.post(address(question), hidden(question), headers=headers), looks + 1
    assert looks > 2
    queue = dead_letters(valkey.client)
    queue.add(DIED + 1, [letter(n, death=7) for n in range(5)])
    page = answered(client, question, MANY)
    queue.add(NO_TIME, [letter(n, death=8) for n in range(5)])
    assert "Purging everything in emails: 700 entries, by you" in says(page)
    steps = 0
    while page.status_code == 200 and "HX-Redirect" not in page:
        gone = MANY + 10 - of(valkey, b"emails")
        assert f"{gone} of 700 are gone, {700 - gone} are still to go." in says(page)
        (form,) = (f for f in elements(page, "form") if "hx-trigger" in f)
        assert form["hx-trigger"] == "load"
        page, steps = goes_on(client, page, htmx), steps + 1
        assert not htmx or "/operations/" in (page.get("HX-Redirect") or page["HX-Replace-Url"])
    assert steps > 1
    assert of(valkey, b"emails") == 10
    assert valkey.client.zcard(keys.DEAD) == 2 * MANY + 10
    done = get(client, page["HX-Redirect"] if htmx else page["Location"])
    assert "Purged everything in emails: 700 entries, by you" in says(done)


@pytest.mark.usefixtures("short_steps")
def test_who_left_the_page_finds_it_stopped_and_goes_on(client: Client, valkey: Server) -> None:
    fill(valkey, MANY)
    page = pressed_to_the_end_of_planning(client)
    url = link(page, "Stop here")
    stopped = get(client, url)
    assert "Purging everything in emails: 700 entries, by you" in says(stopped)
    assert "It stands still when no page goes on with it." in says(stopped)
    assert not [f for f in elements(stopped, "form") if "hx-trigger" in f]
    client.post("/auth/dev-role", {"role": "operator", "next": "/"})
    assert "/purge-all?" not in get(client, url).content.decode()
    client.post("/auth/dev-role", {"role": "admin", "next": "/"})
    while stopped.status_code == 200:
        stopped = goes_on(client, stopped)
    assert of(valkey, b"emails") == 0
    valkey.client.delete(*keys.plan(hidden(page)["operation"]))
    assert "How many did is not kept for longer than an hour." in says(get(client, url))
    assert "Purged everything in emails: up to 700 entries, by you" in says(get(client, url))


def pressed_to_the_end_of_planning(client: Client) -> HttpResponse:
    question = asked(client, EMAILS)
    while "Looking for" in says(question):
        question = client.post(address(question), hidden(question))
    return answered(client, question, MANY)


def test_what_left_meanwhile_is_told(client: Client, valkey: Server) -> None:
    question = asked(client, EMAILS)
    valkey.client.zrem(keys.DEAD, letter(0))
    page = get(client, answered(client, question, 3)["Location"])
    assert "2 of them are gone for good, no copy is kept. 1 was not there any more" in says(page)
    assert "Purged everything in emails: 2 of 3 entries, by you" in says(page)


def test_a_plan_that_was_not_kept_is_made_anew_and_asked_about(client: Client, valkey: Server) -> None:
    question = asked(client, EMAILS)
    valkey.client.delete(*keys.plan(hidden(question)["operation"]))
    dead_letters(valkey.client).add(DIED, [letter(9)])
    again = answered(client, question, 3)
    assert "Type 4 to purge for good" in says(again)
    assert of(valkey, b"emails") == 4
    assert answered(client, again, 4).status_code == 303
    assert of(valkey, b"emails") == 0


def test_more_than_was_counted_never_goes(client: Client, valkey: Server) -> None:
    """It was looked for again meanwhile, in another tab."""
    question = asked(client, EMAILS)
    dead_letters(valkey.client).add(DIED, [letter(9)])
    client.post(EMAILS, {"operation": hidden(question)["operation"]})
    again = answered(client, question, 3)
    assert "Type 4 to purge for good" in says(again)
    assert of(valkey, b"emails") == 4


@pytest.mark.parametrize("url", [ALL, EMAILS])
def test_where_nothing_is_nothing_is_asked(client: Client, valkey: Server, url: str) -> None:
    valkey.client.delete(keys.DEAD, keys.COUNTS)
    answer = asked(client, url)
    assert "Nothing to purge" in says(answer)
    assert "for good" not in says(answer)


@pytest.mark.parametrize("role", ["none", "viewer", "operator"])
def test_only_an_admin_may_and_sees_the_way(client: Client, valkey: Server, role: str) -> None:
    question = asked(client, ALL)
    assert "Purge all 9…" in says(get(client, "/dead-letters/"))
    assert "Purge all 3 of emails…" in says(get(client, "/dead-letters/?queue=emails"))
    assert "Purge all 3 without a queue name…" in says(get(client, "/dead-letters/?unknown=1"))
    assert "Purge all" not in says(get(client, "/dead-letters/?undated=1"))
    client.post("/auth/dev-role", {"role": role, "next": "/"})
    assert "Purge all" not in says(get(client, "/dead-letters/"))
    before = contents(valkey.client)
    for answer in (asked(client, ALL), answered(client, question, 9)):
        assert answer.status_code == 403
        assert "Nothing was done." in says(answer) or role == "none"
    assert changed(before, contents(valkey.client)) == set()


@pytest.mark.parametrize("htmx", [True, False])
def test_who_signed_in_long_ago_confirms_first(client: Client, valkey: Server, htmx: bool) -> None:
    question = asked(client, ALL)
    client.cookies.clear()
    before = contents(valkey.client)
    for refused in (asked(client, ALL, htmx), answered(client, question, 9)):
        assert refused.status_code == 403
        assert "Confirm that it is you" in says(refused)
    assert changed(before, contents(valkey.client)) == set()


@pytest.mark.parametrize("query", ["", "?queue=", "?queue=a&everything=1", "?unknown=1&queue=a", "?everything=2"])
def test_a_press_that_names_no_entries_or_two_kinds_is_not_understood(
    client: Client, valkey: Server, query: str
) -> None:
    before = contents(valkey.client)
    assert client.post(f"/dead-letters/purge-all{query}", {"confirmed": "1", "reason": WHY}).status_code == 400
    assert changed(before, contents(valkey.client)) == set()


def test_an_operation_about_other_entries_is_not_understood(client: Client, valkey: Server) -> None:
    question = asked(client, EMAILS)
    answered(client, question, 3)
    before = contents(valkey.client)
    for url in (ALL, NAMELESS, EMAILS.replace("emails", "invoices")):
        assert client.post(url, hidden(question) | {"reason": WHY, "count": "3"}).status_code == 400
    assert changed(before, contents(valkey.client)) == set()


def test_a_queue_may_have_any_name(client: Client, valkey: Server) -> None:
    for name in ("a/b", "ü", "a?b#c&everything=1", "\udcff", '"><svg onload=evil=1>', "x" * 600):
        dead_letters(valkey.client).add(DIED, [letter(1, name)])
        page = get(client, links.queue(name))
        assert pressed(client, address(page), 1).status_code == 303
    assert valkey.client.zcard(keys.DEAD) == 9
