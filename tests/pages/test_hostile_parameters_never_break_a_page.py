"""What no page of ours writes into an address or a form is refused (400) or clamped; never a 500, and nothing moves."""

from urllib.parse import quote

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.pages import forms
from tests.support import ledgers
from tests.support.database import changed, contents
from tests.support.html import get, press, rows, says
from tests.support.letters import DIED, digest, jid, letter
from tests.support.operators import ANN
from tests.support.servers import Server

LETTER = letter(1, queue="invoices")
ENTRY = f"/dead-letters/{DIED}-{digest(LETTER)[:16]}/"
FORM = {"score": str(DIED), "digest": digest(LETTER), "jid": jid(1), "operation": "op-1"}
HOSTILE = [
    "", "0", "-1", "1e9", "1" * 400, "abc", "\0", "\n", "'", '"><svg onload=evil=1>', "{{ 7*7 }}", "../../etc/passwd",
    "%00", "%ff%fe", "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), "ü", "\u202e", "inf", "nan", "1~",
    "1~_", "1~" + "A" * 9_000, "1~AAA~999999999", "-inf~", "1e400~", "1~=", "*", "[a-", "(a+)+$", "x" * 7_000,
    "1.5e308", f"1.5e308-{'a' * 16}", f"-1.7e308-{'a' * 64}", "1.5e308~", f"9e999-{'a' * 16}",
]  # fmt: skip


@pytest.fixture(autouse=True)
def letters(valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED, letter(2): 604_800})


def encoded(value: str) -> str:
    return value if value.startswith("%") else quote(value)


@pytest.mark.parametrize("name", ["queue", "unknown", "undated", "before", "after", "limit", "page", "q"])
def test_of_the_list(client: Client, valkey: Server, name: str) -> None:
    get(client, "/dead-letters/")
    before = contents(valkey.client)
    answers = {value: get(client, f"/dead-letters/?{name}={encoded(value)}").status_code for value in HOSTILE}
    assert {value: status for value, status in answers.items() if status not in (200, 400)} == {}
    assert changed(before, contents(valkey.client)) == set()


@pytest.mark.parametrize("path", ["/dead-letters/{}/", "/jobs/{}/", "/operations/{}/"])
def test_of_a_path(client: Client, path: str) -> None:
    answers = {value: get(client, path.format(quote(value, safe=""))).status_code for value in HOSTILE}
    assert {value: status for value, status in answers.items() if status not in (200, 301, 302, 400, 404)} == {}


@pytest.mark.parametrize(
    "url",
    [
        f"{ENTRY}?jid=", f"{ENTRY}?bytes=", "/jobs/?jid=", f"/jobs/?jid={jid(9)}&after=", "/operations/op/?entry=",
        f"/operations/op/?action=redrive&entry={DIED}-{digest(LETTER)}-", "/operations/op/?entry=1&action=",
        "/deliveries/ledger/?queue=a&namespace=", "/deliveries/ledger/?namespace=a&queue=", "/deliveries/request/?id=",
        f"{ledgers.at('ledger/')}&quarantine=", f"{ledgers.at('request/')}&id=",
    ],
)  # fmt: skip
def test_of_everything_else(client: Client, url: str) -> None:
    answers = {value: get(client, url + encoded(value)).status_code for value in HOSTILE}
    assert {value: status for value, status in answers.items() if status not in (200, 302, 400, 404, 410)} == {}


@pytest.mark.parametrize("name", ["score", "digest", "operation"])
def test_of_the_form(client: Client, valkey: Server, name: str) -> None:
    before = contents(valkey.client)
    for value in HOSTILE:
        if (name, value) not in FINE:
            answer = press(client, ENTRY, FORM | {name: value})
            assert answer.status_code == 400, value
            assert "Nothing was done." in says(answer)
    assert changed(before, contents(valkey.client)) == set()


FINE = {("operation", "0"), ("operation", "-1"), ("operation", "1e9"), ("operation", "abc"), ("operation", "inf"),
        ("operation", "nan"), ("operation", HOSTILE[-1]), ("score", f"{DIED}")}  # fmt: skip


@pytest.mark.parametrize("name", ["jid", "reviewed", "older", "csrfmiddlewaretoken", "another"])
def test_of_the_fields_that_decide_nothing(client: Client, valkey: Server, name: str) -> None:
    for at, value in enumerate(HOSTILE, 1):
        valkey.client.zadd(keys.DEAD, {LETTER: DIED})
        assert press(client, ENTRY, FORM | {name: value, "operation": f"op-{at}"}).status_code == 200
        assert valkey.client.llen("invoices") == at


OF_A_LEDGER = {
    "repair": ("look", {"look": "1"}), "prune": ("days", {"days": "9", "count_first": "1"}),
    "open-gate": ("mark", {}), "release": ("digest", {"digest": "0" * 64}), "discard": ("reason", {"digest": "0" * 64}),
}  # fmt: skip


@pytest.mark.parametrize("view", OF_A_LEDGER)
@pytest.mark.parametrize("name", ["", "cursor", "operation", "confirmed"])
def test_of_the_forms_of_a_ledger(client: Client, valkey: Server, view: str, name: str) -> None:
    client.post("/auth/confirm", {"next": "/"})
    ledger = ledgers.ledger_of(valkey.client)
    ledgers.set_aside(ledger)
    ledger.close_gate(ANN, "why")
    own, form = OF_A_LEDGER[view]
    before = contents(valkey.client)
    for value in HOSTILE:
        answer = client.post(ledgers.at(view, id="a"), {"operation": "op-1"} | form | {name or own: value})
        assert answer.status_code in (200, 400, 409, 422), value
    assert changed(before, contents(valkey.client)) == set()


def test_a_form_about_another_entry_than_its_address_is_refused(client: Client, valkey: Server) -> None:
    other = letter(2)
    answer = press(client, ENTRY, FORM | {"digest": digest(other), "score": "604800"})
    assert answer.status_code == 400
    assert valkey.client.zcard(keys.DEAD) == 2


@pytest.mark.parametrize(("limit", "shown"), [("1", 1), ("0", 1), ("-5", 1), ("1" * 29, 100), ("", 50), ("100", 100)])
def test_the_limit_is_clamped(client: Client, valkey: Server, limit: str, shown: int) -> None:
    valkey.client.zadd(keys.DEAD, {letter(3 + n): DIED + n for n in range(150)})
    assert len(rows(get(client, f"/dead-letters/?limit={limit}"))) == shown


def test_a_thousand_parameters_are_too_many(client: Client) -> None:
    assert get(client, "/dead-letters/?" + "a=1&" * 1_000).status_code == 400


@pytest.mark.parametrize("query", ["queue=a&unknown=1", "before=1~&after=1~"])
def test_what_excludes_each_other_is_refused(client: Client, query: str) -> None:
    assert get(client, f"/dead-letters/?{query}").status_code == 400


def test_a_reference_reads_what_links_write() -> None:
    for score in ("604800", "1795955390586", "0.5", "-3", "1.0000000000000001e+21", "inf", "-inf"):
        ref = forms.entry_ref(f"{score}-{'a' * 16}", None)
        assert ref.score == float(score)
        ticked = forms.ticked(f"{score}-{'a' * 64}-a-b-c")
        assert (ticked.score, ticked.jid) == (float(score), "a-b-c")
