"""A page of 50 rows, ticks and all, is at most 60 KB of HTML: it is opened from phones, and again and again."""

import pytest
from django.test import Client

from demo.letters import day
from joobq_admin.joobq import keys
from joobq_admin.pages.times import now
from joobq_admin.triage import search as searching
from tests.support.eventually import eventually
from tests.support.html import get, rows, says
from tests.support.servers import Server

MOST = 60 * 1024


@pytest.mark.parametrize("zone", ["", "Europe/Berlin"])
def test_a_usual_day(client: Client, valkey: Server, zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "SECONDS", 10.0)
    client.cookies["zone"] = zone
    valkey.client.zadd(keys.DEAD, {raw: score for score, raw in day(int(now().timestamp() * 1000))})
    eventually(lambda: "counted 0 of" not in says(get(client, "/dead-letters/")))  # then the queues are told too
    for query in ("", "?undated=1", "?queue=invoices", "?queue=webhooks", "?kind=expired", "?since=24h", "?q=a"):
        page = get(client, f"/dead-letters/{query}")
        assert len(rows(page)) == 50
        assert len(page.content) <= MOST, query
