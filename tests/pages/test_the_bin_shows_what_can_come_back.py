"""The bin: what was purged, by whom, why and until when; the ticked rows come back with their bytes and scores."""

from collections.abc import Callable

import pytest
from django.test import Client
from redis import Redis

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import EntryRef
from tests.support.dashboard import Dashboard, signed_in
from tests.support.database import changed, contents
from tests.support.html import get, link, says
from tests.support.letters import DIED, digest, jid, letter
from tests.support.operators import ANN, dead_letters
from tests.support.servers import Server
from tests.support.ticking import HTMX, form, ticks
from tests.support.wire import ask


@pytest.fixture(autouse=True)
def purged(valkey: Server) -> None:
    """Five entries of which Ann purged three."""
    queue = dead_letters(valkey.client)
    queue.add(DIED, [letter(n) for n in range(5)])
    refs = [EntryRef(DIED, digest(letter(n)), jid(n)) for n in range(3)]
    assert len(queue.purge_entries(refs, by=ANN, reason="Load test", operation="op-1").done) == 3


def test_it_says_who_why_and_until_when_and_moves_nothing(client: Client, valkey: Server) -> None:
    before = contents(valkey.client)
    words = says(get(client, "/bin/"))
    assert "3 purged entries in the bin" in words
    assert "Each stays 24 h, then it is gone for good." in words
    assert "of 256 MB" in words
    assert words.count("Ann Āboliņa Load test") == 3
    assert words.count("in 23 h 59 min") == 3
    assert changed(before, contents(valkey.client)) == set()


def told(who: bytes, purged: bytes = b"1") -> Callable[[Redis], object]:
    value = b"%d %s %s\n%s" % (DIED, purged, who, letter(0))
    return lambda redis: redis.hset(keys.BIN, digest(letter(0)), value)


WHO = b'{"by":"u-1","name":"Ann","reason":"","operation":"op-1"}'
SPOILT = {
    "its size is no number": (3, lambda redis: redis.hset(keys.BIN, "bytes", "x")),
    "a name that is no digest": (3, lambda redis: redis.zadd(keys.BIN_TIMES, {b"\xff": 1})),
    "a time that never comes": (2, told(WHO, b"9" * 400)),
    "the last day of all": (2, told(WHO, b"253402300799000")),
    "no text that can be read": (2, told(b"[" * 100_000)),
}


@pytest.mark.parametrize("what", SPOILT)
def test_what_is_not_ours_hides_nothing_else(client: Client, valkey: Server, what: str) -> None:
    left, spoil = SPOILT[what]
    spoil(valkey.client)
    page = get(client, "/bin/")
    assert (page.status_code, len(ticks(page))) == (200, left)
    for url in ("/audit/", "/operations/op-1/", f"/jobs/{jid(0)}/", f"/jobs/{jid(1)}/"):
        assert get(client, url).status_code in (200, 410)


def test_it_is_paged(client: Client) -> None:
    page = get(client, "/bin/?limit=2")
    assert len(ticks(page)) == 2
    older = get(client, link(page, "Older"))
    assert len(ticks(older)) == 1
    assert ticks(get(client, link(older, "Newer"))) == ticks(page)


@pytest.mark.parametrize("htmx", [True, False])
def test_the_ticked_come_back_with_bytes_and_scores(client: Client, valkey: Server, htmx: bool) -> None:
    page = get(client, "/bin/")
    fields = form(page, "/bin/restore") | {"entry": ticks(page)[:2]}
    for _ in range(2):
        answer = client.post("/bin/restore", fields, headers=HTMX if htmx else {})
        assert answer.status_code == 200
        assert "Restored 2" in says(answer)
        assert "1 purged entry in the bin" in says(answer)
    members = valkey.client.zrange(keys.DEAD, 0, -1, withscores=True)
    assert len(members) == 4
    assert {score for _, score in members} == {DIED}
    assert {raw for raw, _ in members} < {letter(n) for n in range(5)}
    assert valkey.client.hgetall(keys.COUNTS) == {b"emails": b"4"}
    assert valkey.client.hlen(keys.BIN) == 2


def test_what_is_not_there_any_more_is_told(client: Client, valkey: Server) -> None:
    page = get(client, "/bin/")
    fields = form(page, "/bin/restore") | {"entry": ticks(page)}
    valkey.client.delete(keys.BIN, keys.BIN_TIMES)
    answer = client.post("/bin/restore", fields, headers=HTMX)
    assert "Restored 0 of 3" in says(answer)
    assert "3 already gone" in says(answer)
    assert "Nothing is in the bin" in says(answer)
    assert valkey.client.zcard(keys.DEAD) == 2


def test_a_viewer_sees_and_cannot_tick(valkey: Server, guarded: Dashboard) -> None:
    seen = ask(f"{guarded.url}/bin/", signed_in("vera", "viewer"))
    assert "Load test" in seen.text
    assert "Restore the selected" not in seen.text
    assert "Restore the selected" in ask(f"{guarded.url}/bin/", signed_in("otto")).text
