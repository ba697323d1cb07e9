"""A secret in any place where a job, an error or a request may hold one is on no page, in no dialog and no answer."""

import json
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from joobq_admin.joobq import keys
from tests.support.html import get, press
from tests.support.ledgers import at, held, ledger_of, set_aside
from tests.support.letters import DIED, ERROR, digest, jid, letter
from tests.support.servers import Server
from tests.support.ticking import HTMX

SECRET = "Zq!7Secr3t!Va1ue"
PIECES = ("q!7", "t!V")  # a view of bytes has no more of it in one line
TEXT = f"login with password={SECRET} failed"
PAYLOAD = json.dumps({"password": SECRET, "note": TEXT}).encode()
PLACES: dict[str, dict[str, Any]] = {
    "a field": {"password": SECRET},
    "a field deep down": {"to": [{"card": {"number": SECRET}}]},
    "a field of text": {"note": TEXT},
    "text that is JSON": {"note": PAYLOAD.decode()},
    "the message": {"error": ERROR | {"message": TEXT}},
    "the backtrace": {"error": ERROR | {"backtrace": f"{TEXT}\nfrom src/{TEXT}.cr:1:1 in '{TEXT}'"}},
    "the cause": {"error": ERROR | {"cause": TEXT}},
    "the class": {"error": ERROR | {"error_class": TEXT, "error_type": TEXT}},
    "where it ran": {"error": ERROR | {"system_context": {"hostname": TEXT, "worker_id": TEXT}}},
    "what is refused": {"retries": TEXT},
}
LETTERS = {place: letter(1, queue="invoices", **fields) for place, fields in PLACES.items()}
PLACEHOLDERS = {"a job that was cut": PAYLOAD.decode()[:-1], "text that is no job": f"no JSON, {TEXT}"}
LETTERS |= {
    place: letter("unparseable_1", original_job_data=text, error=ERROR | {"message": TEXT}).replace(
        b'"retries":0,', b""
    )
    for place, text in PLACEHOLDERS.items()
}
LETTERS |= {"bytes that are no job": f"no JSON, {TEXT}".encode(), "a list": b"[%s]" % PAYLOAD}


@pytest.mark.parametrize("place", LETTERS)
def test_of_a_dead_letter(client: Client, valkey: Server, place: str) -> None:
    raw, job = LETTERS[place], "unparseable_1" if place in PLACEHOLDERS else jid(1)
    valkey.client.zadd(keys.DEAD, {raw: DIED})
    entry, form = f"/dead-letters/{DIED}-{digest(raw)}/", {"score": str(DIED), "digest": digest(raw), "jid": job}
    client.post("/auth/confirm", {"next": "/"})
    tick = {"entry": f"{DIED}-{digest(raw)}-{job}", "operation": "op-1"}
    looks = ("/dead-letters/", "/dead-letters/?q=login", entry, f"{entry}?bytes=1", f"/jobs/{job}/", "/audit/")
    told = [get(client, url) for url in looks]
    told += [
        client.post(f"{entry}{verb}", form | {"operation": "op-0"}, headers=HTMX) for verb in ("purge", "unredacted")
    ]
    told += [client.post("/dead-letters/redrive", tick), press(client, entry, form | {"operation": "op-2"})]
    valkey.client.zadd(keys.DEAD, {raw: DIED, raw.replace(b"12:29:50", b"12:29:51"): DIED + 1})
    told += [get(client, url) for url in (*looks, "/operations/op-1/")]
    told += [
        client.post(f"{entry}purge", form | {"operation": "op-3", "confirmed": "1", "reason": "why"}, headers=HTMX)
    ]
    told += [get(client, url) for url in ("/bin/", entry, "/operations/op-3/")]
    told += [client.post("/bin/restore", {"undo": "op-3", "operation": "op-4"})]
    assert [answer.status_code for answer in told if answer.status_code not in (200, 303, 404, 409, 410, 422)] == []
    assert [at_ for at_, answer in enumerate(told) if tells(answer)] == []


def test_of_a_request(client: Client, valkey: Server) -> None:
    ledger = ledger_of(valkey.client)
    held(ledger, "held", owner=TEXT)
    set_aside(ledger, "aside", PAYLOAD)
    ledger.admit("due", PAYLOAD)
    pages = [get(client, at("request/", id=name)) for name in ("held", "aside", "due")]
    pages += [get(client, url) for url in (at("ledger/"), "/deliveries/")]
    assert [page.status_code for page in pages] == [200] * 5
    assert [at_ for at_, page in enumerate(pages) if tells(page)] == []


def tells(answer: HttpResponse) -> bool:
    return any(piece in answer.content.decode() for piece in PIECES)
