"""The bin is full, Redis is, or its user may not touch the bin: a press says so, loses nothing, and can be repeated."""

from collections.abc import Callable, Iterator

import pytest
from django.http import HttpResponse
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import Entry, EntryRef
from tests.support import ticking
from tests.support.database import changed, contents
from tests.support.elsewhere import redis_at
from tests.support.html import get, hidden, press, says
from tests.support.letters import DIED, digest, jid, letter
from tests.support.operators import ANN, dead_letters
from tests.support.purging import HTMX, answered, asked
from tests.support.servers import Server
from tests.support.ticking import form, ticks

LETTERS = [letter(n) for n in range(8)]
REFS = [EntryRef(DIED, digest(raw), jid(n)) for n, raw in enumerate(LETTERS)]
ENTRY = f"/dead-letters/{DIED}-{digest(LETTERS[0])[:16]}/?jid={jid(0)}"
ROWS = ticking.HTMX

Press = Callable[[], HttpResponse]
Prepared = Callable[[Client], Press]
Fault = Callable[[Server], None]


@pytest.fixture(scope="module")
def fragile(with_django: None) -> Iterator[Server]:
    with Server() as server, redis_at(server.url):
        yield server


@pytest.fixture
def own(client: Client, fragile: Server) -> Iterator[Server]:
    """Five entries, and three more that Ann has purged: one, and two at once."""
    fragile.client.flushall()
    queue = dead_letters(fragile.client)
    queue.add(DIED, LETTERS)
    assert queue.purge_entries(REFS[5:6], by=ANN, operation="one").done
    assert queue.purge_entries(REFS[6:], by=ANN, operation="two").done
    yield fragile
    mend(fragile)


def mend(server: Server) -> None:
    server.client.config_set("maxmemory", 0)
    server.client.execute_command("ACL", "SETUSER", "default", "~*")
    if server.client.hget(keys.BIN, "bytes") == b"%d" % FULL:
        server.client.hset(keys.BIN, "bytes", sum(map(len, server.client.hvals(keys.BIN))) - len(str(FULL)))


FULL = 256 << 20


def full_bin(server: Server) -> None:
    server.client.hset(keys.BIN, "bytes", FULL)


def out_of_memory(server: Server) -> None:
    server.client.config_set("maxmemory", 1 << 20)


def without_the_bin(server: Server) -> None:
    others = ("~joobq:dead_letter*", "~joobq:admin:audit*", "~joobq:admin:counts*", "~joobq:retry_lock:*", "~emails")
    server.client.execute_command("ACL", "SETUSER", "default", "resetkeys", *others)


FAULTS = [full_bin, out_of_memory, without_the_bin]


def redrive(client: Client) -> Press:
    fields = hidden(get(client, ENTRY))
    return lambda: press(client, ENTRY, fields)


def purge(client: Client) -> Press:
    question = asked(client, ENTRY)
    return lambda: answered(client, question)


def undo(client: Client) -> Press:
    return lambda: client.post("/bin/restore", {"undo": "one", "operation": "press"}, headers=HTMX)


def undo_of_two(client: Client) -> Press:
    return lambda: client.post("/bin/restore", {"undo": "two", "operation": "press"}, headers=ROWS)


def redrive_ticked(client: Client) -> Press:
    fields = ticking.ticked(client)
    return lambda: ticking.redrive(client, fields)


def purge_ticked(client: Client) -> Press:
    question = client.post("/dead-letters/purge", ticking.ticked(client), headers=ROWS)
    fields = form(question, "/dead-letters/purge") | {"reason": "Load test"}
    return lambda: client.post("/dead-letters/purge", fields, headers=ROWS)


def restore_ticked(client: Client) -> Press:
    page = get(client, "/bin/")
    fields = form(page, "/bin/restore") | {"entry": ticks(page)}
    return lambda: client.post("/bin/restore", fields, headers=ROWS)


PURGES, RESTORES = (purge, purge_ticked), (undo, undo_of_two, restore_ticked)
PRESSES = (redrive, redrive_ticked, *PURGES, *RESTORES)
NOT_ALLOWED = "Redis does not allow it", "The Redis user of this dashboard may not make every change that this needs."
NOT_READ = "Redis said: No permissions to access a key. Nothing was done."

#: What is told by a press that does nothing. Any other is done.
REFUSED = {
    (full_bin, purge): (422, ("Refused: the bin is full", "256 MB of purged entries are kept. Nothing was purged.")),
    (full_bin, purge_ticked): (200, ("Purged 0 of 5", "5 refused", "The bin is full.")),
    (without_the_bin, purge): (422, NOT_ALLOWED),
    (without_the_bin, purge_ticked): (200, ("Purged 0 of 5", "5 refused", *NOT_ALLOWED)),
    (without_the_bin, undo): (503, (NOT_READ, "Undo")),
    (without_the_bin, undo_of_two): (503, (NOT_READ,)),
    (without_the_bin, restore_ticked): (200, ("Restored 0 of 3", "3 refused", *NOT_ALLOWED)),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("prepared", PRESSES)
def test_done_or_told_why_not_and_once_it_is_mended_done_once(
    client: Client, own: Server, fault: Fault, prepared: Prepared
) -> None:
    act = prepared(client)
    before = contents(own.client)
    fault(own)
    answer = act()
    mend(own)
    status, words = REFUSED.get((fault, prepared), (200, ()))
    assert answer.status_code == status
    assert [word for word in words if word not in says(answer)] == []
    after = contents(own.client)
    assert bool(words) == (changed(before, after) <= RECOUNTED), "what is told as done was, and only that"
    nothing_is_lost(own)
    again = act()
    assert again.status_code == 200
    assert "refused" not in says(again)
    nothing_is_lost(own)
    if not words:
        assert changed(after, contents(own.client)) <= RECOUNTED, "a second press does nothing"


RECOUNTED = {keys.COUNTS, keys.PROVED}


def nothing_is_lost(server: Server) -> None:
    """Each job is in dead letters, in the bin, or in its queue: once. The counts are right."""
    redis = server.client
    dead = redis.zrange(keys.DEAD, 0, -1)
    binned = [value.partition(b"\n")[2] for name, value in redis.hgetall(keys.BIN).items() if name != b"bytes"]
    everything = [*dead, *binned, *redis.lrange("emails", 0, -1)]
    assert sorted(Entry(raw, 0).jid or "" for raw in everything) == sorted(jid(n) for n in range(8))
    assert set(dead) | set(binned) <= set(LETTERS)
    assert dead_letters(redis).counts() == ({"emails": len(dead)} if dead else {})


@pytest.mark.parametrize(
    "url", ["/dead-letters/", "/audit/", ENTRY, f"/jobs/{jid(5)}/", "/operations/one/", "/operations/two/"]
)
def test_pages_do_without_the_bin(client: Client, own: Server, url: str) -> None:
    without_the_bin(own)
    page = get(client, url)
    assert page.status_code in (200, 410)
    assert 'name="undo"' not in page.content.decode()


def test_the_bin_itself_says_why_it_is_not_shown(client: Client, own: Server) -> None:
    without_the_bin(own)
    page = get(client, "/bin/")
    assert page.status_code == 503
    assert "The bin cannot be read Redis does not let it be read. Nothing in it was changed." in says(page)
