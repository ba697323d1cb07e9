"""/audit/export: all that matches, as CSV or NDJSON, a record a line, streamed; no cell is a formula."""

import csv
import io
import json
import re
from typing import Any

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import EntryRef
from joobq_admin.pages.files import cell
from tests.support.html import get, says
from tests.support.letters import DIED, digest, jid, letter
from tests.support.operators import ANN, dead_letters
from tests.support.records import kept, record
from tests.support.servers import Server


def exported(client: Client, kind: str, query: str = "") -> bytes:
    answer = get(client, f"/audit/export?format={kind}{query}")
    assert answer.status_code == 200
    assert answer["Content-Disposition"] == f'attachment; filename="joobq-admin-audit.{kind}"'
    assert answer["Cache-Control"] == "no-store, private"
    return b"".join(answer.streaming_content)


def lines(client: Client, query: str = "") -> list[dict[str, Any]]:
    return [json.loads(line) for line in exported(client, "ndjson", query).decode().splitlines()]


def cells(client: Client, query: str = "") -> list[dict[str, str]]:
    text = exported(client, "csv", query).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def test_a_redrive_as_it_was_recorded(client: Client, valkey: Server) -> None:
    raw = letter(1, queue="invoices", iban="DE02120300000000202051", password="hunter2")
    valkey.client.zadd(keys.DEAD, {raw: DIED})
    ref = EntryRef(DIED, digest(raw), jid(1))
    assert dead_letters(valkey.client).redrive_entries([ref], by=ANN, reason="Gateway, up", operation="op-1").done
    (told,), (row,) = lines(client), cells(client)
    known = {"action": "redrive", "operation": "op-1", "by": "u-1", "name": "Ann Āboliņa", "reason": "Gateway, up",
             "queue": "invoices", "jid": jid(1), "digest": digest(raw), "score": str(DIED)}  # fmt: skip
    assert {name: told[name] for name in known} == known
    assert {name: row[name] for name in known} == known
    ((id_, _),) = valkey.client.xrange(keys.AUDIT)
    assert told["id"] == row["id"] == id_.decode()
    assert told["at"] == row["at"]
    assert told["at"].endswith("Z")
    assert [change["field"] for change in told["changes"]] == ["retries", "expires", "status", "error"] or told[
        "changes"
    ]
    assert {"field": "retries", "was": "0", "now": "3"} in told["changes"]
    assert "retries 0 → 3" in row["changes"]
    for kind in ("csv", "ndjson"):
        assert not [word for word in (b"DE0212", b"hunter2", b"SMTP 550") if word in exported(client, kind)]


def test_all_that_matches_is_there_in_order_and_once(client: Client, valkey: Server) -> None:
    kept(valkey.client, *(record(n, by=f"u-{n % 2}") for n in reversed(range(1_001))))
    for query, wanted in (("", range(1_001)), ("&by=u-1", range(1, 1_001, 2)), ("&q=" + jid(7), [7])):
        assert [told["jid"] for told in lines(client, query)] == [jid(n) for n in wanted]
        assert [row["jid"] for row in cells(client, query)] == [jid(n) for n in wanted]


def test_it_is_read_as_it_is_sent(client: Client, valkey: Server) -> None:
    kept(valkey.client, *(record(n) for n in range(1_001)))
    valkey.client.config_resetstat()
    answer = get(client, "/audit/export?format=ndjson")
    read, sizes = [calls(valkey)], []
    for block in answer.streaming_content:
        sizes.append(block.count(b"\n"))
        read.append(calls(valkey))
    assert sizes == [200, 200, 200, 200, 200, 1]
    assert read == [1, 1, 2, 3, 4, 5, 6]


def test_what_matches_seldom_is_read_so_too(client: Client, valkey: Server) -> None:
    kept(valkey.client, record(1, reason="needle"), *(record(n) for n in range(2, 1_001)))
    valkey.client.config_resetstat()
    answer = get(client, "/audit/export?format=ndjson&q=needle")
    assert calls(valkey) == 1
    assert [block.count(b"\n") for block in answer.streaming_content] == [0, 1], "an empty block would end the answer"
    assert calls(valkey) == 6


def calls(server: Server) -> int:
    return int(server.client.info("commandstats")["cmdstat_xrevrange"]["calls"])


def test_nothing_matches(client: Client) -> None:
    assert exported(client, "ndjson") == b""
    assert exported(client, "csv").decode().startswith('\ufeff"id","at","action","operation","by","name","reason"')
    assert cells(client) == []


@pytest.mark.parametrize("query", ["", "?format=", "?format=xlsx", "?format=csv&format=csv", "?format=csv&before=1-0"])
def test_what_it_cannot_do_is_told(client: Client, query: str) -> None:
    page = get(client, f"/audit/export{query}")
    assert page.status_code == 400
    assert "Content-Disposition" not in page
    assert "Nothing was looked for." in says(page)


@pytest.mark.parametrize(
    "start",
    [
        "=",
        "+",
        "-",
        "@",
        "\t",
        "\r",
        "\n",
        "＝",
        " =",
        "\u200b=",
        "\t=",
        '"=',
        '";=',
        "'=",
        ",=",
        ";=",
        "\n=",
        "\r\n@",
        "|-",
    ],
)
@pytest.mark.parametrize("before", ["", "x ", 'x"', "x;", "x\n"])
def test_no_cell_is_a_formula(client: Client, valkey: Server, start: str, before: str) -> None:
    text = f'{before}{start}HYPERLINK("http://x")'
    kept(valkey.client, record(1, queue=text, jid=text, by=text, name=text, reason=text, operation=text, digest=text))
    (row,) = cells(client)
    for name in ("queue", "jid", "by", "name", "reason", "operation", "digest"):
        assert not begins_a_formula(row[name]), row[name]
        assert row[name].isprintable()
    (told,) = lines(client)
    assert told["reason"] == text


#: At the start, and behind whatever begins a cell somewhere.
begins_a_formula = re.compile(r"(?:^|[\",;|\t\r\n]|\\[nrt])\s*[=+\-@＝＋－＠]").search


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("=1", "'=1"), ("+1", "'+1"), ("-1", "'-1"), ("@x", "'@x"), ("\tx", r"'\tx"), ("\rx", r"'\rx"),
        ("\nx", r"'\nx"),
        ("a;=1", "a;'=1"), ("a, =1", "a, '=1"), ('a"=1', "a\"'=1"), ("a\n=1", r"a\n'=1"), ("a=1", "a=1"),
        ("1-2", "1-2"), ("x - y", "x - y"), (jid(1), jid(1)), ("", ""),
        ("a\0b\x1b[31m\u202e", r"a\u0000b\u001b[31m\u202e"), ("x\udcff", r"x\xff"), ("\U000e0001", r"\U000e0001"),
        ("Āü→", "Āü→"),
    ],
)  # fmt: skip
def test_a_cell(text: str, shown: str) -> None:
    assert cell(text) == shown


def test_names_with_control_characters_stay_one_line_and_harmless(client: Client, valkey: Server) -> None:
    name = b"a\r\nb\x1b[31m\x00\xc2\x85\xe2\x80\xa8\xe2\x80\xae\xff\xf3\xa0\x80\x81z"
    fields = {key: value.encode() for key, value in record(1).items()} | {"jid": name, "queue": name}
    valkey.client.xadd(keys.AUDIT, fields)
    for kind, ends in (("csv", b"\r\n"), ("ndjson", b"\n")):
        raw = exported(client, kind)
        assert raw.count(ends) == (2 if kind == "csv" else 1)
        assert raw.decode("utf-8-sig").replace("\r\n", "").replace("\n", "").isprintable()
    (told,) = lines(client)
    assert told["queue"] == name.replace(b"\xff", rb"\xff").decode()
    assert cells(client)[0]["queue"] == r"a\r\nb\u001b[31m\u0000\u0085\u2028\u202e\xff\U000e0001z"


def test_fields_that_are_not_ours_stay_where_they_are(client: Client, valkey: Server) -> None:
    kept(valkey.client, record(1, "renew", payload="hunter2"))
    assert "payload" not in lines(client)[0]
    assert b"hunter2" not in exported(client, "csv")
