"""The page of an entry: what it is, its exact bytes, its neighbours, and for a viewer no button."""

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import EntryRef
from joobq_admin.pages import tokens
from tests.support.html import elements, get, link, rows, says
from tests.support.letters import DIED, ERROR, NO_TIME, digest, jid, letter
from tests.support.operators import ANN, dead_letters
from tests.support.servers import Server

TRACE = "boom (E)\nfrom /usr/share/crystal/src/a.cr:1:2 in 'tcp'\nfrom src/jobs.cr:36:9 in 'perform'\nfrom ???"
LETTER = letter(
    1,
    queue="invoices",
    expires=4_000_000_000_000,
    error=ERROR | {"error_class": "Socket::ConnectError", "error_type": "connection_error", "backtrace": TRACE,
                   "cause": "refused", "system_context": {"hostname": "app-04", "process_id": "14046"}},
    invoice_id=9007199254740993, amount=149.0, iban="DE89370400440532013000", tags=["net-30", "überfällig"],
)  # fmt: skip
ENTRY = f"/dead-letters/{DIED}-{digest(LETTER)[:16]}/?jid={jid(1)}"


@pytest.fixture(autouse=True)
def letters(valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, {letter(5): DIED + 1, LETTER: DIED, letter(6): DIED - 1})


def test_what_went_wrong_and_with_which_job(client: Client) -> None:
    words = says(get(client, ENTRY))
    for word in (
        "Dead letter in invoices", "12:29:50", "Retries left 0 of 3", f"{len(LETTER):,} bytes", jid(1),
        "invoice_id 9007199254740993", "amount 149.0", 'tags ["net-30","überfällig"]',
        "Socket::ConnectError connection_error SMTP 550", "Caused by refused", "On app-04, process 14046",
        "1 line of your code in 3", "src/jobs.cr:36:9 in 'perform'",
    ):  # fmt: skip
        assert word in words


def test_where_its_time_of_death_comes_from_is_said(client: Client, valkey: Server) -> None:
    """A score that is no time leaves what its error says."""
    raw = letter(9, error=ERROR | {"failed_at": "2026-11-28T01:02:03Z"})
    valkey.client.zadd(keys.DEAD, {raw: NO_TIME})
    assert "from error.failed_at Queue" in says(get(client, f"/dead-letters/{NO_TIME}-{digest(raw)[:16]}/"))
    assert "from error.failed_at" not in says(get(client, ENTRY))
    titles = [given["title"] for given in elements(get(client, "/dead-letters/"), "abbr")]
    assert [title.endswith(", from error.failed_at") for title in titles] == [False, False, False, True]


def test_secrets_are_hidden_and_it_says_so(client: Client) -> None:
    for url in (ENTRY, f"{ENTRY}&bytes=1", "/dead-letters/"):
        assert "DE8937" not in get(client, url).content.decode()
    assert "iban is hidden by this dashboard. The job itself is untouched." in says(get(client, ENTRY))
    assert "iban hidden" in says(get(client, "/dead-letters/"))
    assert "22 characters" not in says(get(client, "/dead-letters/")), "a row has no room for it"


def test_exact_bytes_as_a_page_and_as_a_fragment(client: Client) -> None:
    exact = link(get(client, ENTRY), "Exact bytes")
    for answer in (get(client, exact), get(client, exact, target="payload")):
        assert answer.status_code == 200
        assert "000000 7b 22 6a 69 64 22 3a 22 30 30 30 30 30 30 30 30" in says(answer)
        assert digest(LETTER) in says(answer)
        assert "iban is replaced by * here" in says(answer)
    assert b"<html" not in answer.content
    assert '"invoice_id": 9007199254740993' in says(get(client, link(answer, "Fields"), target="payload")).replace(
        " :", ":"
    )


def test_its_neighbours_in_the_list(client: Client) -> None:
    page = get(client, ENTRY)
    newer, older = elements(page, "a", rel="prev")[0]["href"], elements(page, "a", rel="next")[0]["href"]
    assert [newer, ENTRY, older] == rows(get(client, "/dead-letters/"))
    assert elements(get(client, newer), "a", rel="prev") == []
    assert elements(get(client, older), "a", rel="next") == []


def test_by_sixteen_digits_or_by_all_with_or_without_its_jid(client: Client) -> None:
    for url in (ENTRY, ENTRY.partition("?")[0], ENTRY.replace(digest(LETTER)[:16], digest(LETTER))):
        assert digest(LETTER) in get(client, url).content.decode()


def test_a_renewed_score_does_not_lose_it(client: Client, valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED + 500})
    assert digest(LETTER) in get(client, ENTRY).content.decode()


def test_other_deaths_and_what_was_done_stand_in_one_line(client: Client, valkey: Server) -> None:
    first, second = letter(1, queue="invoices", death=1), letter(1, queue="invoices", death=2)
    valkey.client.zadd(keys.DEAD, {first: DIED - 5000, second: DIED - 4000})
    dead_letters(valkey.client).redrive_entries(
        [EntryRef(DIED - 5000, digest(first), jid(1))], by=ANN, reason="up", operation="op-1"
    )
    page = get(client, ENTRY)
    kinds = [given["data-k"] for given in elements(page, "li") if "data-k" in given]
    assert kinds == ["redriven", "died", "died", "died"]
    words = says(page)
    for word in ("Redriven to invoices by Ann Āboliņa", "up", "this entry", "Left dead letters with that redrive.",
                 "2 deaths of this job", "From the entries that are here and the audit log."):  # fmt: skip
        assert word in words


def test_a_viewer_reads_it_and_is_told_whom_to_ask(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("django.conf.settings.SUPPORT_CONTACT", "#queue-ops")
    client.post("/auth/dev-role", {"role": "viewer"})
    page = get(client, ENTRY)
    assert page.status_code == 200
    words = says(page)
    assert "You can read this entry, not act on it" in words
    assert "Your role is Viewer. Redrive and purge need Operator. Ask #queue-ops." in words
    assert elements(page, "button", id="redrive") == []
    assert elements(page, "form", hx_target="#action") == []
    assert f"/jobs/{jid(1)}/" in words


def test_who_lost_the_role_meanwhile_is_told_in_place(client: Client, valkey: Server) -> None:
    form = {"score": str(DIED), "digest": digest(LETTER), "operation": "op-1"}
    client.post("/auth/dev-role", {"role": "viewer"})
    url = f"{ENTRY.partition('?')[0].rstrip('/')}/redrive"
    answer = client.post(url, form, headers={"HX-Request": "true", "HX-Target": "action"})
    assert answer.status_code == 403
    assert "You can read this entry, not act on it" in says(answer)
    assert "Nothing was done. Your role is Viewer. Redrive and purge need Operator." in says(answer)
    assert elements(answer, "section", id="action")
    assert valkey.client.zcard(keys.DEAD) == 3


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"no json", "Malformed entry"),
        (b'{"jid":"z","expires":5}', "It never failed: it had expired before a worker took it."),
        (letter(9, error=None), "No error is told in this entry."),
        (letter(9, max_retries=0), "It runs once: its max_retries is 0"),
        (letter(9).replace(b'"jid":"%s",' % jid(9).encode(), b""), "It has no jid: a worker gives it a new one"),
        (letter(9, status="enqueued", expires=1), "It is sent with a new expiry."),
    ],
)  # fmt: skip
def test_what_is_special_is_said(client: Client, valkey: Server, raw: bytes, said: str) -> None:
    valkey.client.zadd(keys.DEAD, {raw: DIED})
    assert said in says(get(client, f"/dead-letters/{DIED}-{digest(raw)[:16]}/"))


def test_a_theme_comes_with_the_cookie(client: Client) -> None:
    for theme, wanted in (("dark", "dark"), ("light", "light"), ('"><script>', None), ("", None)):
        client.cookies["theme"] = theme
        (html,) = elements(get(client, ENTRY), "html")
        assert html.get("data-theme") == wanted


@pytest.mark.parametrize("blank", ["", " "])
def test_of_thousands_of_arguments_some_are_read(
    client: Client, valkey: Server, monkeypatch: pytest.MonkeyPatch, blank: str
) -> None:
    """However they are written, no more are read than are shown: the list and the page do not wait for the rest."""
    raw = letter(7, **{f"field{n}": n for n in range(20_000)}).replace(b'"field0":', b'"field0":' + blank.encode())
    valkey.client.zadd(keys.DEAD, {raw: DIED + 9})
    looked_at, inline = list[object](), tokens.inline
    monkeypatch.setattr(tokens, "inline", lambda value, longest: looked_at.append(value) or inline(value, longest))
    assert "field0 0" in says(get(client, "/dead-letters/"))
    page = get(client, f"/dead-letters/{DIED + 9}-{digest(raw)[:16]}/")
    assert "19,800 more stand in the whole entry below." in says(page)
    assert len(looked_at) < 250


def test_a_fragment_has_no_shell(client: Client) -> None:
    for url, target in (("/dead-letters/", "results"), (f"{ENTRY}&bytes=1", "payload")):
        assert "shell" not in get(client, url, target=target).context
