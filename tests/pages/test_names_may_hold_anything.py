"""Queues and jids may be anything: links to them lead where they say, or are left out; ids in HTML are hashes."""

import re

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import to_bytes
from tests.support.html import elements, get, hidden, press, rows, says
from tests.support.letters import DIED, digest, jid, letter
from tests.support.servers import Server

QUEUES = [
    "a/b", "a+b", "a b", "ü", ".", "..", "%2F", "a?b#c", '"><svg onload=evil=1>', "x" * 600, "a&b=c", "\u202eevil", "'",
    "{{ 7*7 }}", "queue\udcff", "\\", "日本", " ", "a;b", "tab\tname", "\U0001d518" * 250,
]  # fmt: skip
JIDS = [
    "a/b",
    "..",
    "%2F",
    "a?b#c",
    '"><svg onload=evil=1>',
    "x" * 600,
    "\u202e",
    "line\nbreak",
    "\udcff",
    "é" * 300,
    " ",
]


def with_queue(queue: str) -> bytes:
    return letter(1).replace(b'"emails"', _json(queue))


def _json(text: str) -> bytes:
    return b'"%s"' % to_bytes(text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t").replace("\n", "\\n"))


@pytest.mark.parametrize("queue", QUEUES)
def test_the_list_of_a_queue_is_found_by_its_link(client: Client, valkey: Server, queue: str) -> None:
    valkey.client.zadd(keys.DEAD, {with_queue(queue): DIED, letter(2, queue="other"): DIED})
    page = get(client, "/dead-letters/")
    links = {given["href"] for given in elements(page, "a") if "queue=" in given["href"]}
    (its_own,) = [href for href in links if href != "/dead-letters/?queue=other"]
    assert [digest(with_queue(queue))[:16] in href for href in rows(get(client, its_own))] == [True]


def test_a_name_that_fits_no_address_has_no_link(client: Client, valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, {with_queue("\U0001d518" * 251): DIED, letter(2, queue="other"): DIED})
    links = [given["href"] for given in elements(get(client, "/dead-letters/"), "a") if "queue=" in given["href"]]
    assert set(links) == {"/dead-letters/?queue=other"}


@pytest.mark.parametrize("queue", QUEUES)
def test_an_entry_of_it_opens_and_is_redriven_or_clearly_refused(client: Client, valkey: Server, queue: str) -> None:
    raw = with_queue(queue)
    valkey.client.zadd(keys.DEAD, {raw: DIED})
    (address,) = rows(get(client, "/dead-letters/"))
    page = get(client, address)
    assert page.status_code == 200
    form = hidden(page) or {"score": str(DIED), "digest": digest(raw), "operation": "op"}
    answer = press(client, address, form)
    if answer.status_code == 200:
        assert valkey.client.llen(to_bytes(queue)) == 1
    else:
        assert answer.status_code == 422
        assert "Refused: its queue's name cannot be used" in says(answer)


@pytest.mark.parametrize("name", JIDS)
def test_an_entry_of_such_a_jid_opens_by_its_row(client: Client, valkey: Server, name: str) -> None:
    raw = letter(1).replace(b'"%s"' % jid(1).encode(), _json(name))
    valkey.client.zadd(keys.DEAD, {raw: DIED, letter(2): DIED})
    (address,) = [href for href in rows(get(client, "/dead-letters/")) if digest(raw)[:16] in href]
    page = get(client, address)
    assert page.status_code == 200
    assert "Cannot be redriven: its jid is no UUID" in says(page)


@pytest.mark.parametrize("name", [name for name in JIDS if name.isprintable()])
def test_its_job_is_found_by_the_link_to_copy(client: Client, valkey: Server, name: str) -> None:
    raw = letter(1).replace(b'"%s"' % jid(1).encode(), _json(name))
    valkey.client.zadd(keys.DEAD, {raw: DIED})
    page = get(client, rows(get(client, "/dead-letters/"))[0])
    (link,) = [given["data-text"] for given in elements(page, "button", aria_label="Copy link to this job")]
    found = get(client, link.removeprefix("http://127.0.0.1:8000"))
    assert found.status_code == 200
    assert digest(raw) in found.content.decode()


@pytest.mark.parametrize("queue", QUEUES)
def test_ids_in_html_are_hashes(client: Client, valkey: Server, queue: str) -> None:
    valkey.client.zadd(keys.DEAD, {with_queue(queue): DIED})
    page = get(client, "/dead-letters/")
    ids = [given["id"] for tag, given in _all(page) if "id" in given]
    assert len(ids) == len(set(ids))
    assert [name for name in ids if not re.fullmatch(r"[a-z-]+", name)] == [digest(with_queue(queue))[:16]]


def _all(page: object) -> list[tuple[str, dict[str, str]]]:
    tags = ("tr", "section", "nav", "div", "dialog", "symbol", "main", "header", "select", "input", "form", "h2")
    return [(tag, given) for tag in tags for given in elements(page, tag)]
