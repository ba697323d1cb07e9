"""Whatever a job holds is shown, and is never markup: in the list, on its page, in fragments and answers."""

import re
from typing import Any

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.audit import Actor
from joobq_admin.joobq.entry import EntryRef
from tests.support.html import elements, get, hidden, press, read, rows
from tests.support.letters import DIED, digest, jid, letter
from tests.support.operators import dead_letters
from tests.support.servers import Server
from tests.support.ticking import HTMX

PAYLOADS = [
    "<script>window.evil=1</script>",
    "<img src=x onerror=evil=1>",
    "</textarea><svg/onload=evil=1>",
    "<SCRIPT/QSS",
    '"onmouseover="evil=1',
    "{{ 7*7 }}",
    "{% debug %}",
    'hx-get="/x" hx-trigger="load"',
    '<p hx-get="/x" hx-trigger="load">',
    "</template></pre></dd>",
]


def poisoned(text: str) -> bytes:
    error: dict[str, Any] = {
        "failed_at": "2026-11-29T12:29:50Z", "message": text,
        "backtrace": f"{text}\nfrom src/{text}.cr:1:1 in '{text}'",
        "cause": text, "error_type": text, "error_class": text, "system_context": {"hostname": text, "worker_id": text},
    }  # fmt: skip
    return letter(1, queue=text, error=error, status="dead", **{text: text, "nested": {text: [text]}})


@pytest.mark.parametrize("text", PAYLOADS)
def test_it_is_text_wherever_it_is_shown(client: Client, valkey: Server, text: str) -> None:
    harmless = shape_of_all(client, valkey, "harmless")
    assert shape_of_all(client, valkey, text) == harmless


def shape_of_all(client: Client, valkey: Server, text: str) -> list[list[tuple[str, tuple[str, ...]]]]:
    """Elements and the names of their attributes, of every page and answer that shows the text."""
    valkey.client.flushall()
    raw = poisoned(text)
    valkey.client.zadd(keys.DEAD, {raw: DIED})
    (address,) = rows(get(client, "/dead-letters/"))
    page = get(client, address)
    answers = [
        get(client, "/dead-letters/"), get(client, "/dead-letters/", target="results"), page,
        get(client, f"{address}&bytes=1"), get(client, address, target="payload"), get(client, f"/jobs/{jid(1)}/"),
    ]  # fmt: skip
    assert [answer.status_code for answer in answers] == [200] * 6
    form, verbs = hidden(page), ("purge", "unredacted")
    client.post("/auth/confirm", {"next": "/"})
    answers += [client.post(f"{address.partition('?')[0]}{verb}", form, headers=HTMX) for verb in verbs]
    assert [elements(answer, "dialog") != [] for answer in answers[-2:]] == [True, True]
    who = Actor(text, text)
    ref = EntryRef(DIED, digest(raw), jid(1))
    assert dead_letters(valkey.client).redrive_entries([ref], by=who, reason=text, operation="op").done
    again = poisoned(text).replace(b"12:29:50", b"12:29:51")
    valkey.client.zadd(keys.DEAD, {again: DIED * 2})
    answers += [press(client, address, form), get(client, address), get(client, "/operations/op/")]
    assert [answer.status_code for answer in answers[-3:]] == [409, 410, 200]
    other = EntryRef(DIED * 2, digest(again), jid(1))
    assert dead_letters(valkey.client).purge_entries([other], by=who, reason=text, operation="op-2").done
    answers += [get(client, url) for url in ("/bin/", "/audit/", f"/jobs/{jid(1)}/", "/operations/op-2/")]
    assert [answer.status_code for answer in answers[-4:]] == [200, 200, 410, 200]
    return [shape(answer) for answer in answers]


def shape(answer: Any) -> list[tuple[str, tuple[str, ...]]]:
    # an invisible character or a long run may be cut into spans of its own: they hold no markup either
    found = [(tag, tuple(sorted(given))) for tag, given in read(answer).elements]
    return [one for one in found if one[0] != "span"]


@pytest.mark.parametrize("text", PAYLOADS)
def test_no_span_has_more_than_a_class(client: Client, valkey: Server, text: str) -> None:
    valkey.client.zadd(keys.DEAD, {poisoned(text): DIED})
    (address,) = rows(get(client, "/dead-letters/"))
    for answer in (get(client, "/dead-letters/"), get(client, address)):
        assert {name for given in elements(answer, "span") for name in given} <= {"class", "title", "aria-disabled",
                                                                                 "role", "aria-hidden",
                                                                                 "data-sel-count"}  # fmt: skip


def test_what_cannot_be_seen_is_written_out(client: Client, valkey: Server) -> None:
    raw = letter(1, text="a\u202eb\u2028c\u0000d").replace(b"SMTP 550", b"x\xff\xfey")
    valkey.client.zadd(keys.DEAD, {raw: DIED})
    for url in ("/dead-letters/", f"/dead-letters/{DIED}-{digest(raw)[:16]}/"):
        html = get(client, url).content.decode()
        assert "\u202e" not in html
        assert '<span class="ctl">U+202E</span>' in html
        assert re.search(r'x<span class="byte">\\xff(</span><span class="byte">)?\\xfe</span>y', html)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a":' + b"[" * 5_000 + b"]" * 5_000 + b"}",
        letter(1, long="x" * 1_000_000),
        letter(1).replace(b'"retries":0', b'"retries":' + b"9" * 5_000),
        letter(1).replace(b'"retries":0', b'"retries":1e309'),
        letter(1, text="X").replace(b'"X"', b'"\\ud800"'),
        letter(1, text="X").replace(b'"X"', b'"\xed\xa0\x80"'),
        letter(1).replace(b"SMTP 550", b"\x00\x01\xff"),
        b"",
        b"\x00",
        b"[]",
        b'"text"',
        b"{",
        letter(1, error="text"),
        letter(1, error={"failed_at": 5, "message": None, "backtrace": None, "system_context": []}),
        letter(1, error={"failed_at": "9999-99-99", "message": ["x"], "backtrace": "\n\n", "system_context": {"a": 1}}),
        letter(1, expires=10**30),
        letter(1, expires=-(10**17)),
        letter(1, jid=5, queue=5, retries=None, max_retries=None, expires=None, status=None),
    ],
    ids=range(18),
)
def test_bytes_of_any_kind_are_listed_and_open(client: Client, valkey: Server, raw: bytes) -> None:
    opens(client, valkey, raw, "1795955390586")


@pytest.mark.parametrize(
    "score",
    ["604800", "-5", "0.25", "inf", "-inf", "1e21", "1e14", "1795955390586.5", "1.5e308", "-1.7976931348623157e308"],
)
def test_any_score_is_listed_and_opens(client: Client, valkey: Server, score: str) -> None:
    opens(client, valkey, letter(1), score)
    opens(client, valkey, b"?", score)


def opens(client: Client, valkey: Server, raw: bytes, score: str) -> None:
    valkey.client.delete(keys.DEAD)
    valkey.client.zadd(keys.DEAD, {raw: score})
    page = get(client, "/dead-letters/")
    assert page.status_code == 200
    (address,) = rows(page)
    opened = get(client, address)
    assert opened.status_code == 200
    exact = get(client, f"{address}{'&' if '?' in address else '?'}bytes=1")
    assert exact.status_code == 200
    assert digest(raw) in exact.content.decode()
    assert max(len(one.content) for one in (page, opened, exact)) < 2_000_000
