"""/audit/?…: by person, action, queue, time and text; what is no filter is told; pages join up, end with a budget."""

import re
from urllib.parse import quote, urlencode

import pytest
from django.http import HttpResponse
from django.test import Client

from joobq_admin.joobq import keys
from tests.support.html import elements, get, link, says
from tests.support.letters import jid
from tests.support.records import OPERATION, kept, record
from tests.support.servers import Server

HOUR, DAY = 3600, 86_400
HOSTILE = ["-1", "1e9", "1" * 400, "\0", "\n", "'", '"><svg onload=evil=1>', "{{ 7*7 }}", "%ff%fe", "ü", "\u202e", "*",
           "[a-", "(a+)+$", "x" * 3_000, "0-0", "1-" + "9" * 20, "9" * 20 + "-0", "1-1-1"]  # fmt: skip


@pytest.fixture(autouse=True)
def records(valkey: Server) -> None:
    kept(valkey.client, record(5, "purge_all", digest="", jid="", reason="Old"), ago=20 * DAY)
    kept(valkey.client, record(4, "purge", by="u-2", name="Bob", queue="x\udcff y", bin="1"), ago=3 * DAY)
    kept(valkey.client, record(3, "close-gate", by="dev", name="dev", queue="invoices"), ago=5 * HOUR)
    kept(valkey.client, record(2, "restore", queue="invoices", reason="Wrong tenant, see INC-2093"), ago=HOUR // 2)
    kept(valkey.client, record(1, "redrive", by="u-2", name="Bob", reason=f"As {jid(2)}"))


def numbers(page: HttpResponse) -> list[int]:
    """Which records are shown, by their operation."""
    assert page.status_code == 200, says(page)
    return [int(given["href"][16:20]) for given in elements(page, "a") if given["href"].startswith("/operations/")]


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ({}, [1, 2, 3, 4, 5]),
        ({"q": "", "by": "", "action": "", "queue": "", "since": ""}, [1, 2, 3, 4, 5]),
        ({"by": "Bob"}, [1, 4]), ({"by": " bob "}, [1, 4]), ({"by": "u-1"}, [2, 5]), ({"by": "āBOL"}, [2, 5]),
        ({"by": "me"}, [3]), ({"by": "nobody"}, []),
        ({"action": "redrive"}, [1]), ({"action": "purge"}, [4]), ({"action": "restore"}, [2]),
        ({"action": "purge_all"}, [5]), ({"action": "other"}, [3]), ({"action": "unredacted"}, []),
        ({"queue": "invoices"}, [2, 3]), ({"queue": "invoice"}, []), ({"queue": b"x\xff y"}, [4]),
        ({"since": "1h"}, [1, 2]), ({"since": "24h"}, [1, 2, 3]), ({"since": "7d"}, [1, 2, 3, 4]),
        ({"since": "30d"}, [1, 2, 3, 4, 5]),
        ({"q": jid(2)}, [2]), ({"q": f"{2:064x}"}, [2]), ({"q": OPERATION.format(2)}, [2]), ({"q": "inc-2093"}, [2]),
        ({"q": f"{0:063x}"}, [1, 2, 3, 4]), ({"q": "00000004"}, [4]), ({"q": "as 0000"}, [1]),
        ({"q": "no such"}, []),
        ({"q": f"{0:063x}", "by": "bob", "since": "24h"}, [1]), ({"q": jid(4), "since": "1h"}, []),
        ({"by": "bob", "action": "purge"}, [4]), ({"by": "bob", "action": "restore"}, []),
    ],
)  # fmt: skip
def test_by(client: Client, query: dict[str, str | bytes], shown: list[int]) -> None:
    page = get(client, f"/audit/?{urlencode(query)}")
    assert numbers(page) == shown
    assert numbers(get(client, f"/audit/?{urlencode(query)}", target="records")) == shown
    exported = b"".join(get(client, f"/audit/export?format=ndjson&{urlencode(query)}").streaming_content).decode()
    assert [int(found) for found in re.findall(r'"operation": "0000(\d{4})', exported)] == shown
    if not shown:
        assert "No record matches." in says(page)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("person=bob", "There is no filter “person”."), ("unknown=1", "There is no filter “unknown”."),
        ("action=redriven", "“redriven” is none of action: redrive, purge, restore, purge_all, "),
        ("since=2h", "“2h” is none of since: 1h, 24h, 7d, 30d."), ("by=a&by=b", "A filter is given twice."),
        ("before=yesterday", "“yesterday” is no place in the audit log."), ("q=" + "x" * 2_001, "longer than 2,000"),
        ("%E2%80%AE=1", "There is no filter “U+202E”."),
    ],
)  # fmt: skip
def test_what_is_no_filter_is_told(client: Client, query: str, words: str) -> None:
    for url in ("/audit/?", "/audit/export?format=csv&"):
        page = get(client, url + query)
        assert page.status_code == 400
        assert "Nothing was looked for." in says(page)
        assert words in says(page) or url != "/audit/?"
    fragment = get(client, f"/audit/?{query}", target="records")
    assert fragment.status_code == 400
    assert fragment["HX-Redirect"] == f"/audit/?{query}"


@pytest.mark.parametrize("name", ["q", "by", "action", "queue", "since", "before", "limit", "format", "another"])
def test_hostile_filters_are_looked_for_or_refused(client: Client, name: str) -> None:
    for url in ("/audit/", "/audit/export"):
        answers = {text: get(client, f"{url}?{name}={text if '%' in text else quote(text)}") for text in HOSTILE}
        assert {
            text: answer.status_code for text, answer in answers.items() if answer.status_code not in (200, 400)
        } == {}


def test_htmx_gets_the_records_alone_under_an_address_without_what_is_empty(client: Client) -> None:
    page = get(client, "/audit/?q=&by=bob&action=&queue=&since=7d", target="records")
    assert page["HX-Push-Url"] == "/audit/?by=bob&since=7d"
    assert "<html" not in page.content.decode()
    assert elements(page, "section", id="records")
    assert numbers(page) == [1, 4]


def test_the_form_holds_what_is_asked_for_and_is_plain_html(client: Client) -> None:
    page = get(client, "/audit/?q=a%22b&by=bob&queue=q&action=purge&since=7d")
    (form,) = [form for form in elements(page, "form") if form.get("role") == "search"]
    assert (form["action"], form.get("method", "get")) == ("/audit/", "get")
    fields = {given["name"]: given["value"] for given in elements(page, "input", type="search")}
    assert fields == {"q": 'a"b', "by": "bob", "queue": "q"}
    chosen = [given["value"] for given in elements(page, "option") if "selected" in given]
    assert chosen[-2:] == ["purge", "7d"]


def test_pages_join_up(client: Client, valkey: Server) -> None:
    valkey.client.flushall()
    kept(valkey.client, *(record(n, by=f"u-{n % 2}") for n in reversed(range(120))))
    for query, wanted in (("", list(range(120))), ("by=u-0", list(range(0, 120, 2)))):
        page, shown = get(client, f"/audit/?{query}"), list[int]()
        while True:
            shown += numbers(page)
            assert "so far" not in says(page)
            older = [given["href"] for given in elements(page, "a", rel="next")]
            if not older:
                break
            assert query in older[0]
            page = get(client, older[0])
            assert link(page, "Newest") == f"/audit/?{query}".rstrip("?")
        assert shown == wanted


def test_the_last_full_page_leads_no_further(client: Client, valkey: Server) -> None:
    valkey.client.flushall()
    kept(valkey.client, *(record(n) for n in range(50)))
    for query in ("", "?q=" + f"{0:062x}"):
        page = get(client, f"/audit/{query}")
        assert len(numbers(page)) == 50
        assert not elements(page, "a", rel="next")


def test_records_of_one_name_are_paged_too(client: Client, valkey: Server) -> None:
    valkey.client.flushall()
    kept(valkey.client, *(record(n, jid=jid(7)) for n in reversed(range(70))))
    page = get(client, f"/audit/?q={jid(7)}")
    assert numbers(page) == list(range(50))
    assert numbers(get(client, link(page, "Older"))) == list(range(50, 70))


def test_a_look_ends_with_its_budget_says_so_and_goes_on(client: Client, valkey: Server) -> None:
    valkey.client.flushall()
    kept(
        valkey.client,
        record(1, reason="needle", jid="far"),
        *(record(2) for _ in range(4_000)),
        record(3, reason="needle"),
    )
    valkey.client.config_resetstat()
    page = get(client, "/audit/?q=needle")
    assert numbers(page) == [3]
    assert "1 found so far, read back to" in says(page)
    assert calls(valkey) == 20
    page = get(client, link(page, "Continue"))
    assert numbers(page) == [1]
    assert "so far" not in says(page)
    assert numbers(get(client, "/audit/?q=far")) == [1], "by its name it is found at once"
    none = get(client, "/audit/?q=nothing+like+it")
    assert "None found so far, read back to" in says(none)
    assert "Nothing older matches." in says(get(client, link(none, "Continue")))


def calls(server: Server) -> int:
    """Blocks of 200 records that were read."""
    return int(server.client.info("commandstats")["cmdstat_xrevrange"]["calls"])


def test_the_limit_is_clamped(client: Client, valkey: Server) -> None:
    valkey.client.flushall()
    kept(valkey.client, *(record(n) for n in range(110)))
    assert [len(numbers(get(client, f"/audit/?limit={limit}"))) for limit in ("2", "0", "1000", "")] == [2, 1, 100, 50]
    assert "limit=2" in link(get(client, "/audit/?limit=2"), "Older")


def test_looking_changes_nothing(client: Client, valkey: Server) -> None:
    before = valkey.client.dump(keys.AUDIT), valkey.client.dump(keys.AUDIT_INDEX)
    for url in ("/audit/", f"/audit/?q={jid(1)}", "/audit/export?format=csv"):
        get(client, url)
    assert (valkey.client.dump(keys.AUDIT), valkey.client.dump(keys.AUDIT_INDEX)) == before
    assert valkey.client.dbsize() == 2
