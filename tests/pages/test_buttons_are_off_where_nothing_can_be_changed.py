"""Where nobody may change anything, or Redis takes no changes, buttons stay in their places, do nothing and say why."""

import re
from collections.abc import Callable, Iterator

import pytest
from django.http import HttpResponse
from django.test import Client, override_settings

from joobq_admin.joobq.entry import EntryRef
from tests.support.database import changed, contents
from tests.support.elsewhere import redis_at
from tests.support.eventually import eventually
from tests.support.html import elements, get, press, says
from tests.support.ledgers import at, ledger_of, set_aside
from tests.support.letters import DIED, digest, jid, letter
from tests.support.operators import ANN, dead_letters
from tests.support.servers import Server

ONE, TWO, BINNED = (letter(n, queue="invoices") for n in (1, 2, 3))
ENTRY = f"/dead-letters/{DIED}-{digest(ONE)[:16]}/"
SLIP = {"score": str(DIED), "digest": digest(ONE), "jid": jid(1), "operation": "op-1"}
WHY = {"confirmed": "1", "reason": "why", "count": "1"}
TICKED = {"entry": f"{DIED}-{digest(ONE)}-{jid(1)}", "operation": "op-1"}
# where there are buttons that change something, and how many
PAGES = {
    f"{ENTRY}?jid={jid(1)}": 3,
    "/dead-letters/": 3,
    "/bin/": 2,
    "/audit/": 1,
    "/operations/purge-1/": 1,
    f"/jobs/{jid(3)}/": 1,
    at("ledger/"): 5,
    at("request/", id="a"): 2,
}
PRESSES = {
    f"{ENTRY}redrive": SLIP,
    f"{ENTRY}purge": SLIP | WHY,
    f"{ENTRY}unredacted": SLIP | WHY,
    "/dead-letters/redrive": TICKED,
    "/dead-letters/purge": TICKED | WHY,
    "/dead-letters/purge-all?everything=1": WHY | {"operation": "op-1", "n": "1"},
    "/bin/restore": {"undo": "purge-1", "operation": "op-1"},
    "/bin/empty": WHY | {"entry": f"{DIED}-{digest(BINNED)}-{jid(3)}", "operation": "op-1"},
    at("close-gate"): WHY | {"operation": "op-1"},
    at("repair"): {"begin": "1", "operation": "op-1"},
}
REPLICA = "Redis takes no changes now. It said READONLY. Load this page again to see whether it does."


def prepared(server: Server) -> Server:
    queue = dead_letters(server.client)
    queue.add(DIED, [ONE, TWO, BINNED])
    queue.purge_entries([EntryRef(DIED, digest(BINNED), jid(3))], by=ANN, reason="why", operation="purge-1")
    set_aside(ledger_of(server.client))
    return server


@pytest.fixture
def read_only(client: Client, valkey: Server) -> Iterator[Client]:
    prepared(valkey)
    with override_settings(READ_ONLY=True, SUPPORT_CONTACT="#ops"):
        yield client


@pytest.fixture
def replica(client: Client, new_server: Callable[..., Server]) -> Iterator[Server]:
    """The dashboard reads from it, with one entry purged."""
    primary = prepared(new_server())
    follower = new_server(replica_of=primary)
    eventually(lambda: follower.client.info("replication")["master_link_status"] == "up")
    with redis_at(follower.url):
        yield follower


def acting(page: HttpResponse) -> list[str]:
    """Buttons that would send a form which changes something; not how pages look, nor a role on one's own machine."""
    awake = re.sub(r"<template\b.*?</template>", "", page.content.decode(), flags=re.DOTALL)
    forms = re.findall(r"<form\b([^>]*)>(.*?)</form>", awake, re.DOTALL)
    changing = [inner for form, inner in forms if 'method="post"' in form and not re.search("/auth/|/display/", form)]
    buttons = [button for inner in changing for button in re.findall(r"<button\b([^>]*)>", inner)]
    return [button for button in buttons if not re.search(r'type="(button|reset)"', button)]


def off(page: HttpResponse) -> list[dict[str, str]]:
    buttons = elements(page, "button", aria_disabled="true", aria_describedby="off")
    assert [button for button in buttons if {"hx-post", "formaction"} & button.keys()] == []
    assert len(elements(page, "p", id="off")) == bool(buttons)
    return buttons


@pytest.mark.parametrize("url", PAGES)
def test_they_work_where_changes_are_taken(client: Client, valkey: Server, url: str) -> None:
    prepared(valkey)
    page = get(client, url)
    assert (len(acting(page)), off(page)) == (PAGES[url], [])


@pytest.mark.parametrize("url", PAGES)
def test_nobody_can_press_where_it_is_set_so(read_only: Client, url: str) -> None:
    page = get(read_only, url)
    assert (acting(page), len(off(page))) == ([], PAGES[url])
    assert "Read only. This dashboard is set so that nobody changes anything. Ask #ops." in says(page)


@pytest.mark.parametrize("url", PRESSES)
@pytest.mark.parametrize("htmx", [True, False])
def test_who_presses_all_the_same_is_told_and_nothing_is_done(
    read_only: Client, valkey: Server, caplog: pytest.LogCaptureFixture, url: str, htmx: bool
) -> None:
    before = contents(valkey.client)
    headers = {"HX-Request": "true", "HX-Target": "action"} if htmx else {}
    answer = read_only.post(url, PRESSES[url], headers=headers)
    assert answer.status_code == 403
    assert "Nothing was done. This dashboard is set so that nobody changes anything. Ask #ops." in says(answer)
    assert changed(before, contents(valkey.client)) == set()
    assert [line.message for line in caplog.records if line.name.startswith("joobq_admin.sso")] == ["denied: read only"]


def test_a_viewer_is_told_of_the_role_first(read_only: Client) -> None:
    read_only.post("/auth/dev-role", {"role": "viewer"})
    assert "Your role is Viewer." in says(press(read_only, ENTRY, SLIP))


def test_a_replica_is_seen_by_what_a_page_reads(client: Client, replica: Server) -> None:
    for url, n in PAGES.items():
        page = get(client, url)
        assert (acting(page), len(off(page))) == ([], n), url
        assert REPLICA in says(page)


def test_a_page_that_was_open_before_still_sends_and_is_told_by_redis(client: Client, replica: Server) -> None:
    answer = press(client, ENTRY, SLIP)
    assert answer.status_code == 503
    assert "Redis said READONLY. Nothing was changed." in says(answer)
    assert elements(answer, "button", type="submit", class_="btn"), "to try again"


def test_when_it_takes_them_again_the_next_page_has_its_buttons(client: Client, replica: Server) -> None:
    assert off(get(client, "/bin/"))
    replica.client.execute_command("REPLICAOF", "NO", "ONE")
    assert not off(get(client, "/bin/"))


def test_other_reasons_of_redis_and_of_its_rights(client: Client, new_server: Callable[..., Server]) -> None:
    server = prepared(new_server())
    with redis_at(server.url):
        server.client.config_set("min-replicas-to-write", 1)
        assert "Redis takes no changes now. It said NOREPLICAS." in says(get(client, "/dead-letters/"))
        server.client.config_set("min-replicas-to-write", 0)
        server.client.config_set("maxmemory", 1)  # redrive and purge make room
        assert not off(get(client, "/dead-letters/"))
        server.client.config_set("maxmemory", 0)
        server.client.execute_command("ACL", "SETUSER", "default", "-zrem")
        page = get(client, "/dead-letters/")
        assert "Redis does not allow changes. Its user may not take entries out of dead letters." in says(page)
        assert len(off(page)) == PAGES["/dead-letters/"]


def test_who_may_not_press_asks_for_nothing(client: Client, valkey: Server) -> None:
    client.post("/auth/dev-role", {"role": "viewer"})
    with valkey.client.monitor() as monitor:
        get(client, "/dead-letters/")
        valkey.client.ping()
        seen = [monitor.next_command()["command"].split()[0] for _ in range(3)]
    assert "ZREM" not in seen


def test_a_pause_of_writes_holds_a_page_no_longer_than_one_answer(
    client: Client, new_server: Callable[..., Server]
) -> None:
    """Whether it takes changes is good to know and no more: what was read is shown."""
    server = prepared(new_server())
    with redis_at(server.url):
        server.client.execute_command("CLIENT", "PAUSE", "10000", "WRITE")
        page = get(client, "/bin/")
        assert (page.status_code, off(page)) == (200, [])
        server.client.execute_command("CLIENT", "UNPAUSE")
