"""A page of 50 rows, ticks and all, is at most 60 KB of HTML: it is opened from phones, and again and again."""

from django.test import Client

from demo.letters import day
from joobq_admin.joobq import keys
from joobq_admin.pages.times import now
from tests.support.html import get, rows
from tests.support.servers import Server

MOST = 60 * 1024


def test_a_usual_day(client: Client, valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, {raw: score for score, raw in day(int(now().timestamp() * 1000))})
    for query in ("", "?undated=1", "?queue=invoices", "?queue=webhooks"):
        page = get(client, f"/dead-letters/{query}")
        assert len(rows(page)) == 50
        assert len(page.content) <= MOST, query
