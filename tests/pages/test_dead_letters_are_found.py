"""/dead-letters/?…: by queue, text, class, kind, error, time; what is no filter is told; a look may end and go on."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, urlencode

import pytest
from django.http import HttpResponse
from django.test import Client

from joobq_admin.connection import grouping, redaction
from joobq_admin.joobq import background, keys
from joobq_admin.joobq.entry import Entry
from joobq_admin.triage import search as searching
from joobq_admin.triage.fingerprint import fingerprint
from tests.support.background import nobody_counts
from tests.support.database import changed, contents
from tests.support.eventually import eventually
from tests.support.html import elements, get, hidden, link, rows, says
from tests.support.letters import DIED, ERROR, NO_TIME, digest, jid, letter
from tests.support.servers import Server

NOW = datetime.now(UTC)  # anew for each test: the suite takes minutes
TIMEOUT = ERROR | {"message": "Read timed out after 30 s", "error_class": "IO::TimeoutError"}
REFUSED = ERROR | {"message": "Connection refused", "error_class": "Socket::ConnectError"}
LETTERS = [
    letter(0, "invoices", error=TIMEOUT, customer="Anna Brandt", iban="DE02120300000000202051"),
    letter(1, "emails", error=TIMEOUT, to="bob@example.com"),
    letter(2, "emails", error=REFUSED, subject="„Grüße“"),
    b'{"jid":"%s","retries":0,"max_retries":3,"expires":5,"status":"enqueued","n":3}' % jid(3).encode(),
    b'{"jid":"4","queue":"emails","status":"Dead","original_job_data":"{\\"to\\":\\"bob"}',
    b"not \xff json",
    letter(6, "invoices", error=REFUSED | {"failed_at": "2026-11-28T00:00:00Z"}),
]
DIED_AGO = [timedelta(hours=hours) for hours in (0, 0.5, 2, 3, 48, 192)]
HOSTILE = ["-1", "1e9", "1" * 400, "\0", "\n", "'", '"><svg onload=evil=1>', "{{ 7*7 }}", "%ff%fe", "ü", "\u202e", "*",
           "[a-", "(a+)+$", "x" * 3_000, "nan", "9999-12-31T23:59:59-23:59", "0001-01-01",
           "1-0123456789abcdef"]  # fmt: skip


@pytest.fixture(autouse=True)
def letters(valkey: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(globals(), "NOW", datetime.now(UTC))
    monkeypatch.setattr(background, "LINGER", 0.1)
    monkeypatch.setattr(searching, "SECONDS", 10.0)
    dated = {raw: ms(NOW - ago) for raw, ago in zip(LETTERS, DIED_AGO, strict=False)}
    valkey.client.zadd(keys.DEAD, dated | {LETTERS[6]: NO_TIME})
    yield
    nobody_counts()


def ms(at: datetime) -> int:
    return int(at.timestamp() * 1000)


def error_of(raw: bytes) -> str:
    return fingerprint(Entry(raw, DIED), redaction()).id


def numbers(page: HttpResponse) -> list[int]:
    """Which are shown, in their order."""
    assert page.status_code == 200, says(page)
    ids = [digest(raw)[:16] for raw in LETTERS]
    return [ids.index(url.partition("/?")[0].rstrip("/")[-16:]) for url in rows(page)]


def utc(ago: timedelta) -> str:
    return f"{NOW - ago:%Y-%m-%dT%H:%M:%S.%f}"


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ({}, [0, 1, 2, 3, 4, 5, 6]),
        ({"q": "", "error": "", "kind": "", "since": "", "until": "", "queue": "", "group": ""}, [0, 1, 2, 3, 4, 5, 6]),
        ({"q": "timed OUT"}, [0, 1]), ({"q": "brandt"}, [0]), ({"q": " bob "}, [1, 4]), ({"q": "GRÜSSE"}, [2]),
        ({"q": jid(3)}, [3]), ({"q": "connecterror"}, [2, 6]), ({"q": "DE0212"}, []), ({"q": "no such"}, []),
        ({"queue": "emails"}, [1, 2, 4]), ({"unknown": "1"}, [3, 5]), ({"queue": "emails", "q": "bob"}, [1, 4]),
        ({"error": "Socket::ConnectError"}, [2, 6]), ({"error": "Socket"}, []),
        ({"error": "Socket::ConnectError", "queue": "invoices"}, [6]),
        ({"kind": "job"}, [0, 1, 2, 6]), ({"kind": "expired"}, [3]), ({"kind": "placeholder"}, [4]),
        ({"kind": "malformed"}, [5]), ({"kind": "malformed", "queue": "emails"}, []),
        ({"group": error_of(LETTERS[0])}, [0, 1]), ({"group": error_of(LETTERS[0]), "queue": "emails"}, [1]),
        ({"since": "1h"}, [0, 1]), ({"since": "24h"}, [0, 1, 2, 3]), ({"since": "7d"}, [0, 1, 2, 3, 4]),
        ({"since": "30d"}, [0, 1, 2, 3, 4, 5]), ({"since": "24h", "q": "refused"}, [2]),
        ({"since": utc(timedelta(hours=2.5)), "until": utc(timedelta(hours=0.1))}, [1, 2]),
        ({"until": utc(timedelta(hours=4))}, [4, 5]), ({"until": utc(timedelta(hours=4)), "kind": "malformed"}, [5]),
        ({"undated": "1"}, [6]), ({"undated": "1", "q": "refused"}, [6]), ({"undated": "1", "queue": "emails"}, []),
        ({"undated": "1", "since": "2026-11-27"}, [6]), ({"undated": "1", "since": "2026-11-29"}, []),
    ],
)  # fmt: skip
def test_by(client: Client, query: dict[str, str], shown: list[int]) -> None:
    url = f"/dead-letters/?{urlencode(query)}"
    page, fragment = get(client, url), get(client, url, target="results")
    assert numbers(page) == numbers(fragment) == shown
    assert ("No entry" in says(page)) == (not shown)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("person=bob", "There is no filter “person”."), ("kind=jobs", "“jobs” is none of kind: job, expired"),
        ("since=2h", "“2h” is no time. Write 1h, 24h, 7d, 30d, or a time such as 2026-11-29T02:00."),
        ("since=2026-11-30&until=2026-11-29", "The time ends before it begins."),
        ("q=" + "x" * 2_001, "2,000 characters"),
        ("group=1", "“1” is no fingerprint of an error."),
        ("group=9-0123456789abcdef", "now it is rule 1. Open By error"),
        ("q=a&q=b", "A filter is given twice."), ("queue=a&unknown=1", "of a queue, or without a queue name."),
        ("before=1~&after=1~", "before a place or after one."), ("after=there", "“there” is no place in a list."),
        ("limit=many", "“many” is no number."), ("undated=2", "“2” is none of undated: 1, or nothing."),
        ("%E2%80%AE=1", "There is no filter “U+202E”."), ("seen=1.2", "There is no filter “seen”."),
    ],
)  # fmt: skip
def test_what_is_no_filter_is_told(client: Client, query: str, words: str) -> None:
    page = get(client, f"/dead-letters/?{query}")
    assert page.status_code == 400
    assert words in says(page)
    assert "Nothing was looked for." in says(page)
    assert link(page, "Dead letters") == "/dead-letters/"
    fragment = get(client, f"/dead-letters/?{query}", target="results")
    assert (fragment.status_code, fragment["HX-Redirect"]) == (400, f"/dead-letters/?{query}")


@pytest.mark.parametrize("name", ["q", "queue", "error", "group", "kind", "since", "until", "another"])
def test_hostile_filters_are_looked_for_or_refused(client: Client, valkey: Server, name: str) -> None:
    get(client, "/dead-letters/")
    before = contents(valkey.client)
    answers = {text: get(client, f"/dead-letters/?{name}={text if '%' in text else quote(text)}") for text in HOSTILE}
    assert {text: answer.status_code for text, answer in answers.items() if answer.status_code not in (200, 400)} == {}
    assert changed(before, contents(valkey.client)) == set()


def test_what_is_looked_for_stays_in_every_link_and_in_the_form(client: Client) -> None:
    given = {"queue": "emails", "error": "A b", "kind": "job", "q": 'ü"&', "since": "30d", "limit": "1"}
    page = get(client, f"/dead-letters/?{urlencode(given)}")
    assert get(client, f"/dead-letters/?{urlencode(given)}", target="results")["HX-Push-Url"].startswith(
        "/dead-letters/?queue=emails&error=A+b&kind=job&q=%C3%BC%22%26&since=30d"
    )
    (form,) = elements(page, "form", role="search")
    assert (form["action"], form.get("method", "get")) == ("/dead-letters/", "get")
    assert hidden(page)["queue"] == "emails"
    assert {each["name"]: each["value"] for each in elements(page, "input", type="search")} == {
        "q": 'ü"&', "error": "A b",
    }  # fmt: skip
    assert [each["value"] for each in elements(page, "option") if "selected" in each][-2:] == ["job", "30d"]
    kept = "?queue=invoices&error=A+b&kind=job&q=%C3%BC%22%26&since=30d"
    assert elements(page, "a", href=f"/dead-letters/{kept}")
    assert link(page, "Show all") == "/dead-letters/"


@pytest.mark.parametrize("given", ["0099-05-05T01:02:03", "2026-11-29T02:00", "9999-12-31T23:59:59"])
def test_the_form_keeps_any_time(client: Client, given: str) -> None:
    page = get(client, f"/dead-letters/?until={given}")
    assert [each["value"] for each in elements(page, "input", name="until")] == [given]


def test_an_exact_time_has_fields_of_its_own(client: Client) -> None:
    page = get(client, "/dead-letters/?since=7d&q=a")
    exact = get(client, link(page, "Exact time"))
    fields = {each["name"]: each["value"] for each in elements(exact, "input", type="datetime-local")}
    assert fields["until"] == ""
    begun = datetime.fromisoformat(f"{fields['since']}+00:00")
    assert abs(NOW - begun - timedelta(days=7)) < timedelta(minutes=2)
    assert not elements(exact, "select", name="since")
    assert link(exact, "Any time") == "/dead-letters/?q=a"
    assert {each["name"] for each in elements(get(client, "/dead-letters/"), "select")} >= {"kind", "since"}


def test_pages_join_up_and_say_how_many_there_are_where_that_is_known(client: Client, valkey: Server) -> None:
    valkey.client.flushall()
    valkey.client.zadd(keys.DEAD, {letter(n, error=(TIMEOUT, REFUSED)[n % 2]): ms(NOW) - n for n in range(240)})
    for query, said, wanted in (("q=refused", "1–50 , newest first", 120), ("since=24h", "1–50 of 240", 240)):
        page, shown = get(client, f"/dead-letters/?{query}"), list[str]()
        assert said in says(page)
        while True:
            shown += rows(page)
            older = [given["href"] for given in elements(page, "a", rel="next")]
            if not older:
                break
            assert query in older[0]
            page = get(client, older[0])
        assert len(set(shown)) == len(shown) == wanted
    assert "201–240 of 240" in says(page)
    assert "1–2 of 2" in says(
        get(client, f"/dead-letters/?q=refused&until={utc(timedelta(milliseconds=236))}&since=1h")
    )


def test_a_look_that_ends_early_says_how_far_it_came_and_goes_on(
    client: Client, valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    valkey.client.zadd(keys.DEAD, {letter(100 + n): ms(NOW) - 1_000 - n for n in range(400)})
    monkeypatch.setattr(searching, "BUDGET", 300)
    page = get(client, "/dead-letters/?q=timed+out")
    assert numbers(page) == [0]
    assert "1 found so far, read down to" in says(page)
    assert "Dead letters that match" in says(page)
    page = get(client, link(page, "Continue"))
    assert numbers(page) == [1]
    assert "so far" not in says(page)


@pytest.mark.parametrize(("more", "said"), [(1, "1–3 of 3 ,"), (60, "1–50 , newest first")])
def test_what_was_counted_when_there_were_fewer_is_not_told(
    client: Client, valkey: Server, monkeypatch: pytest.MonkeyPatch, more: int, said: str
) -> None:
    valkey.client.flushall()
    valkey.client.zadd(keys.DEAD, {letter(n, error=REFUSED): ms(NOW) for n in range(2)})
    eventually(lambda: (told := grouping().groups()).complete and told.total == 2)
    nobody_counts()
    monkeypatch.setattr(background.Background, "wake", lambda _: None)
    valkey.client.zadd(keys.DEAD, {letter(2 + n, error=REFUSED): ms(NOW) for n in range(more)})
    page = get(client, f"/dead-letters/?group={error_of(letter(0, error=REFUSED))}")
    assert said in says(page)
    assert " of 2" not in says(page)


def test_what_matches_nothing_acts_on_nothing(client: Client) -> None:
    page = get(client, "/dead-letters/?q=no+such+text&queue=emails")
    assert "0 dead letters match" in says(page)
    assert "No entry matches." in says(page)
    assert link(page, "All dead letters") == "/dead-letters/"
    assert not elements(page, "input", name="entry")
    assert not [each for each in elements(page, "button") if "Purge" in each.get("formaction", "")]
    assert not elements(page, "form", action="/dead-letters/redrive")


@pytest.mark.parametrize(
    ("query", "offered"),
    [
        ("", "/dead-letters/purge-all?everything=1"), ("queue=emails", "/dead-letters/purge-all?queue=emails"),
        ("unknown=1", "/dead-letters/purge-all?unknown=1"), ("undated=1", None), ("queue=emails&q=bob", None),
        ("q=bob", None), ("error=IO::TimeoutError", None), ("kind=job", None), ("since=24h", None), ("until=1h", None),
        (f"group={error_of(LETTERS[0])}", None), ("queue=emails&undated=1", None),
    ],
)  # fmt: skip
def test_all_of_a_queue_is_purged_only_where_nothing_else_is_looked_for(
    client: Client, query: str, offered: str | None
) -> None:
    found = [
        each["formaction"]
        for each in elements(get(client, f"/dead-letters/?{query}"), "button")
        if "formaction" in each
    ]
    assert [url for url in found if "purge-all" in url] == ([offered] if offered else [])


def test_a_press_comes_back_to_what_was_looked_for(client: Client, valkey: Server) -> None:
    page = get(client, "/dead-letters/?queue=emails&error=IO::TimeoutError&since=24h")
    assert numbers(page) == [1]
    form = hidden(page)
    assert form["back"] == "queue=emails&error=IO%3A%3ATimeoutError&since=24h"
    told = client.post("/dead-letters/redrive", form | {"entry": elements(page, "input", name="entry")[0]["value"]})
    assert "Redrove 1" in says(told)
    assert numbers(told) == []
    assert hidden(told).get("queue") == "emails"
    assert valkey.client.zcard(keys.DEAD) == len(LETTERS) - 1


def test_the_name_of_a_queue_that_no_form_can_send_is_not_dropped(client: Client, valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, {letter(50, "a\udcff"): ms(NOW)})
    page = get(client, "/dead-letters/?queue=a%FF")
    assert len(rows(page)) == 1
    assert "The name of this queue holds bytes that a form cannot send" in says(page)
    assert not elements(page, "input", type="search")


def test_an_error_says_what_it_is_and_leads_back_to_the_others(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    page = get(client, f"/dead-letters/?group={error_of(LETTERS[0])}")
    assert "2 dead letters: IO::TimeoutError" in says(page)
    assert "Read timed out after (n)" in says(page)
    assert link(page, "By error") == "/dead-letters/groups/"
    gone = get(client, "/dead-letters/?group=1-0123456789abcdef")
    assert "No dead letter of this error" in says(gone)
    monkeypatch.setattr(searching, "BUDGET", 3)
    so_far = get(client, "/dead-letters/?group=1-0123456789abcdef")
    assert "Dead letters of one error" in says(so_far)
    assert "None found so far, read down to" in says(so_far)


def test_the_classes_of_a_page_can_be_chosen(client: Client, valkey: Server) -> None:
    secret = ERROR | {"error_class": "password=hunter2 IO::Error"}
    valkey.client.zadd(keys.DEAD, {letter(60, error=secret): ms(NOW)})
    offered = [each["value"] for each in elements(get(client, "/dead-letters/"), "option") if "::" in each["value"]]
    assert offered == ["IO::TimeoutError", "Socket::ConnectError"]
