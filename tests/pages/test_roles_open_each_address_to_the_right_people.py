"""Who gets what at which address: a table for all of them, asked of the real dashboard behind a proxy."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from joobq_admin.joobq import keys
from joobq_admin.sso.middleware import OPEN
from joobq_admin.sso.roles import Action
from tests.support.dashboard import Dashboard, signed_in
from tests.support.ledgers import at
from tests.support.letters import DIED, digest, jid, letter
from tests.support.servers import Server
from tests.support.wire import ask

RAW = letter(1, queue="emails")
ENTRY = f"/dead-letters/{DIED}-{digest(RAW)[:16]}/"
PRESS = {"jid": jid(1), "digest": digest(RAW), "score": str(DIED), "operation": "0123456789abcdef"}
TICKED = {"entry": f"{DIED}-{digest(RAW)}-{jid(1)}", "operation": "0123456789abcdef"}

# name in the URLconf: its address, the form that it takes, and what it needs. None: any role, and no role too.
ADDRESSES: dict[str, tuple[str, dict[str, str], Action | None]] = {
    "home": ("/", {}, Action.VIEW),
    "entries": ("/dead-letters/", {}, Action.VIEW),
    "groups": ("/dead-letters/groups/", {}, Action.VIEW),
    "fresh": ("/dead-letters/fresh?seen=0.0", {}, Action.VIEW),
    "entry": (ENTRY, {}, Action.VIEW),
    "entry-redrive": (f"{ENTRY.rstrip('/')}/redrive", PRESS, Action.REDRIVE),
    "entry-purge": (f"{ENTRY.rstrip('/')}/purge", PRESS | {"confirmed": "1", "reason": "why"}, Action.PURGE),
    "entry-unredacted": (
        f"{ENTRY.rstrip('/')}/unredacted",
        PRESS | {"confirmed": "1", "reason": "why"},
        Action.UNREDACTED,
    ),
    "redrive": ("/dead-letters/redrive", TICKED, Action.REDRIVE),
    "purge": ("/dead-letters/purge", TICKED | {"confirmed": "1", "reason": "why"}, Action.PURGE),
    "purge-all": (
        "/dead-letters/purge-all?everything=1",
        PRESS | {"confirmed": "1", "reason": "why"},
        Action.PURGE_ALL,
    ),
    "bin": ("/bin/", {}, Action.VIEW),
    "restore": ("/bin/restore", {"undo": "nothing", "operation": "0123456789abcdef"}, Action.RESTORE),
    "empty": ("/bin/empty", TICKED | {"confirmed": "1", "reason": "why", "count": "1"}, Action.PURGE_FOR_GOOD),
    "jobs": (f"/jobs/?jid={jid(1)}", {}, Action.VIEW),
    "job": (f"/jobs/{jid(1)}/", {}, Action.VIEW),
    "operation": ("/operations/0123456789abcdef/", {}, Action.VIEW),
    "deliveries": ("/deliveries/", {}, Action.VIEW),
    "ledger": (at("ledger/"), {}, Action.VIEW),
    "request": (at("request/", id="a"), {}, Action.VIEW),
    "close-gate": (at("close-gate"), PRESS | {"confirmed": "1", "reason": "why"}, Action.CLOSE_GATE),
    "open-gate": (at("open-gate"), PRESS, Action.OPEN_GATE),
    "repair": (at("repair"), PRESS, Action.REPAIR),
    "expire": (at("expire"), PRESS, Action.EXPIRE),
    "prune": (at("prune"), PRESS | {"days": "30", "count_first": "1"}, Action.PRUNE),
    "release": (at("release", id="a"), PRESS, Action.RELEASE),
    "discard": (at("discard", id="a"), PRESS | {"confirmed": "1", "reason": "why"}, Action.DISCARD),
    "audit": ("/audit/", {}, Action.VIEW),
    "audit-export": ("/audit/export?format=csv", {}, Action.VIEW),
    "display": ("/display/", {"theme": "dark"}, Action.VIEW),
    "dev-role": ("/auth/dev-role", {"role": "admin"}, None),
    "login": ("/auth/login", {}, None),
    "callback": ("/auth/callback", {}, None),
    "logout": ("/auth/logout", {}, None),
    "signed-out": ("/auth/signed-out", {}, None),
    "backchannel-logout": ("/auth/backchannel-logout", {}, None),
    "confirm": ("/auth/confirm", {"next": "/audit/"}, Action.VIEW),
}

# How each is asked for, and the answer to nobody, somebody without a role, a viewer, an operator, an admin.
PAGE, FRAGMENT, POST, HTMX_POST = "page", "fragment", "post", "htmx post"
WHO = ("nobody", "none", "viewer", "operator", "admin")
# Of a ledger without anything in it: the answer to a viewer, an operator, an admin who must confirm the gates first.
OF_A_LEDGER = {
    "close-gate": (403, 403, 403), "open-gate": (403, 403, 403), "repair": (403, 409, 409), "expire": (403, 200, 200),
    "prune": (403, 403, 200), "release": (403, 403, 409), "discard": (403, 403, 409),
}  # fmt: skip
ANSWERS = {
    ("home", PAGE): (401, 403, 302, 302, 302),
    ("home", FRAGMENT): (401, 403, 302, 302, 302),
    ("home", POST): (401, 403, 405, 405, 405),
    ("home", HTMX_POST): (401, 403, 405, 405, 405),
    ("entries", PAGE): (401, 403, 200, 200, 200),
    ("entries", FRAGMENT): (401, 403, 200, 200, 200),
    ("entries", POST): (401, 403, 405, 405, 405),
    ("entries", HTMX_POST): (401, 403, 405, 405, 405),
    ("groups", PAGE): (401, 403, 200, 200, 200),
    ("groups", FRAGMENT): (401, 403, 200, 200, 200),
    ("groups", POST): (401, 403, 405, 405, 405),
    ("groups", HTMX_POST): (401, 403, 405, 405, 405),
    ("fresh", PAGE): (401, 403, 200, 200, 200),
    ("fresh", FRAGMENT): (401, 403, 200, 200, 200),
    ("fresh", POST): (401, 403, 405, 405, 405),
    ("fresh", HTMX_POST): (401, 403, 405, 405, 405),
    ("entry", PAGE): (401, 403, 200, 200, 200),
    ("entry", FRAGMENT): (401, 403, 200, 200, 200),
    ("entry", POST): (401, 403, 405, 405, 405),
    ("entry", HTMX_POST): (401, 403, 405, 405, 405),
    ("entry-redrive", PAGE): (401, 403, 302, 302, 302),
    ("entry-redrive", FRAGMENT): (401, 403, 302, 302, 302),
    ("entry-redrive", POST): (401, 403, 403, 303, 303),
    ("entry-redrive", HTMX_POST): (401, 403, 403, 200, 200),
    ("entry-purge", PAGE): (401, 403, 302, 302, 302),
    ("entry-purge", FRAGMENT): (401, 403, 302, 302, 302),
    ("entry-purge", POST): (401, 403, 403, 303, 303),
    ("entry-purge", HTMX_POST): (401, 403, 403, 200, 200),
    ("entry-unredacted", PAGE): (401, 403, 302, 302, 302),
    ("entry-unredacted", FRAGMENT): (401, 403, 302, 302, 302),
    ("entry-unredacted", POST): (401, 403, 403, 403, 403),  # an admin too must have confirmed it
    ("entry-unredacted", HTMX_POST): (401, 403, 403, 403, 403),
    ("redrive", PAGE): (401, 403, 302, 302, 302),
    ("redrive", FRAGMENT): (401, 403, 302, 302, 302),
    ("redrive", POST): (401, 403, 403, 200, 200),
    ("redrive", HTMX_POST): (401, 403, 403, 200, 200),
    ("purge", PAGE): (401, 403, 302, 302, 302),
    ("purge", FRAGMENT): (401, 403, 302, 302, 302),
    ("purge", POST): (401, 403, 403, 200, 200),
    ("purge", HTMX_POST): (401, 403, 403, 200, 200),
    ("purge-all", PAGE): (401, 403, 302, 302, 302),
    ("purge-all", FRAGMENT): (401, 403, 302, 302, 302),
    ("purge-all", POST): (401, 403, 403, 403, 403),  # an admin too must have confirmed it
    ("purge-all", HTMX_POST): (401, 403, 403, 403, 403),
    ("bin", PAGE): (401, 403, 200, 200, 200),
    ("bin", FRAGMENT): (401, 403, 200, 200, 200),
    ("bin", POST): (401, 403, 405, 405, 405),
    ("bin", HTMX_POST): (401, 403, 405, 405, 405),
    ("restore", PAGE): (401, 403, 302, 302, 302),
    ("restore", FRAGMENT): (401, 403, 302, 302, 302),
    ("restore", POST): (401, 403, 403, 409, 409),
    ("restore", HTMX_POST): (401, 403, 403, 409, 409),
    ("empty", PAGE): (401, 403, 302, 302, 302),
    ("empty", FRAGMENT): (401, 403, 302, 302, 302),
    ("empty", POST): (401, 403, 403, 403, 403),  # an admin too must have confirmed it
    ("empty", HTMX_POST): (401, 403, 403, 403, 403),
    ("jobs", PAGE): (401, 403, 200, 200, 200),
    ("jobs", FRAGMENT): (401, 403, 200, 200, 200),
    ("jobs", POST): (401, 403, 405, 405, 405),
    ("jobs", HTMX_POST): (401, 403, 405, 405, 405),
    ("job", PAGE): (401, 403, 200, 200, 200),
    ("job", FRAGMENT): (401, 403, 200, 200, 200),
    ("job", POST): (401, 403, 405, 405, 405),
    ("job", HTMX_POST): (401, 403, 405, 405, 405),
    ("operation", PAGE): (401, 403, 404, 404, 404),
    ("operation", FRAGMENT): (401, 403, 404, 404, 404),
    ("operation", POST): (401, 403, 405, 405, 405),
    ("operation", HTMX_POST): (401, 403, 405, 405, 405),
    **{(name, how): (401, 403, 200, 200, 200) for name in ("deliveries", "ledger") for how in (PAGE, FRAGMENT)},
    **{("request", how): (401, 403, 404, 404, 404) for how in (PAGE, FRAGMENT)},
    **{
        (name, how): (401, 403, 405, 405, 405)
        for name in ("deliveries", "ledger", "request")
        for how in (POST, HTMX_POST)
    },
    **{(name, how): (401, 403, 302, 302, 302) for name in OF_A_LEDGER for how in (PAGE, FRAGMENT)},
    **{(name, how): (401, 403, *OF_A_LEDGER[name]) for name in OF_A_LEDGER for how in (POST, HTMX_POST)},
    ("audit", PAGE): (401, 403, 200, 200, 200),
    ("audit", FRAGMENT): (401, 403, 200, 200, 200),
    ("audit", POST): (401, 403, 405, 405, 405),
    ("audit", HTMX_POST): (401, 403, 405, 405, 405),
    ("audit-export", PAGE): (401, 403, 200, 200, 200),
    ("audit-export", FRAGMENT): (401, 403, 200, 200, 200),
    ("audit-export", POST): (401, 403, 405, 405, 405),
    ("audit-export", HTMX_POST): (401, 403, 405, 405, 405),
    ("display", PAGE): (401, 403, 200, 200, 200),
    ("display", FRAGMENT): (401, 403, 200, 200, 200),
    ("display", POST): (401, 403, 303, 303, 303),
    ("display", HTMX_POST): (401, 403, 204, 204, 204),
    **{(name, how): (401, 404, 404, 404, 404) for name in sorted(OPEN) for how in (PAGE, FRAGMENT, POST, HTMX_POST)},
    ("dev-role", PAGE): (401, 405, 405, 405, 405),
    ("dev-role", FRAGMENT): (401, 405, 405, 405, 405),
    ("dev-role", POST): (401, 404, 404, 404, 404),
    ("dev-role", HTMX_POST): (401, 404, 404, 404, 404),
    ("confirm", PAGE): (401, 403, 302, 302, 302),
    ("confirm", FRAGMENT): (401, 403, 302, 302, 302),
    ("confirm", POST): (401, 403, 303, 303, 303),
    ("confirm", HTMX_POST): (401, 403, 303, 303, 303),
}
CASES = [(name, how, who, status) for (name, how), row in ANSWERS.items() for who, status in zip(WHO, row, strict=True)]
MOVES = {(name, how, who) for name in ("entry-redrive", "entry-purge", "redrive", "purge") for how in (POST, HTMX_POST)
         for who in ("operator", "admin")}  # fmt: skip
SLIPS = ("entry-redrive", "entry-purge", "restore")
TOKEN = "t" * 32  # a token is whatever the browser's own cookie holds


@pytest.mark.parametrize(("name", "how", "who", "status"), CASES)
def test_everybody_gets_what_the_table_says_and_nothing_moves_but_by_an_operator(
    guarded: Dashboard, valkey: Server, name: str, how: str, who: str, status: int
) -> None:
    valkey.client.zadd(keys.DEAD, {RAW: DIED})
    address, form, _ = ADDRESSES[name]
    headers = {} if who == "nobody" else signed_in(f"{who}-of-{name}", who)  # nobody presses too often
    if how in (FRAGMENT, HTMX_POST):
        headers |= {"HX-Request": "true", "HX-Target": "action" if name in SLIPS else "results"}
    if how in (POST, HTMX_POST):
        headers |= {"Cookie": f"csrf={TOKEN}"}
        answer = ask(guarded.url + address, headers, "POST", form | {"csrfmiddlewaretoken": TOKEN})
    else:
        answer = ask(guarded.url + address, headers)
    assert answer.status == status, answer.text
    moved = (name, how, who) in MOVES
    assert valkey.client.zrange(keys.DEAD, 0, -1) == ([] if moved else [RAW])
    assert valkey.client.llen("emails") == (moved and name.endswith("redrive"))
    assert moved or not valkey.client.exists(keys.AUDIT)
    assert answer.headers["Cache-Control"] == "no-store, private"
    assert {"HX-Request", "Cookie"} <= set(answer.headers["Vary"].split(", "))
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    if status in (401, 403):
        assert jid(1) not in answer.text
        assert "SMTP" not in answer.text


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "REDRIVE"])
@pytest.mark.parametrize("name", ADDRESSES)
def test_an_operator_moves_nothing_by_any_other_method(
    guarded: Dashboard, valkey: Server, name: str, method: str
) -> None:
    valkey.client.zadd(keys.DEAD, {RAW: DIED})
    headers = signed_in("otto") | {"Cookie": f"csrf={TOKEN}", "X-CSRFToken": TOKEN, "X-HTTP-Method-Override": "POST"}
    answer = ask(guarded.url + ADDRESSES[name][0], headers, method, ADDRESSES[name][1])
    assert answer.status in (200, 302, 404, 405)
    assert valkey.client.zrange(keys.DEAD, 0, -1) == [RAW]
    assert not valkey.client.exists("emails", keys.AUDIT)


@pytest.mark.parametrize(("who", "words"), [("none", "have no role here"), ("viewer", "Your role is Viewer")])
def test_a_denied_press_is_told_in_the_slip_and_written_to_the_log(
    guarded: Dashboard, valkey: Server, who: str, words: str
) -> None:
    valkey.client.zadd(keys.DEAD, {RAW: DIED})
    headers = signed_in("vera", who) | {"HX-Request": "true", "HX-Target": "action", "Cookie": f"csrf={TOKEN}"}
    url = guarded.url + ADDRESSES["entry-redrive"][0]
    answer = ask(url, headers, "POST", PRESS | {"csrfmiddlewaretoken": TOKEN})
    assert answer.status == 403
    assert words in answer.text
    assert 'id="action"' in answer.text
    assert "<html" not in answer.text
    denied, answered = guarded.log.splitlines()[-2:]
    id_ = answer.headers["X-Request-ID"]
    assert f'"message": "denied", "request": "{id_}", "action": "redrive", "method": "POST"' in denied
    assert '"user": "vera"' in denied
    assert f'"message": "answered", "request": "{id_}"' in answered


def patterns(under: URLResolver) -> Iterator[URLPattern]:
    for each in under.url_patterns:
        if isinstance(each, URLResolver):
            yield from patterns(each)
        else:
            yield each


def test_every_view_says_what_it_needs(with_django: None) -> None:
    said: dict[Any, Any] = {each.name: vars(each.callback).get("needs") for each in patterns(get_resolver())}
    assert said == {name: needed for name, (_, _, needed) in ADDRESSES.items()}
    assert {name for name, needed in said.items() if needed is None} == {"dev-role", *OPEN}


def test_a_form_needs_no_token_of_ours_only_where_the_provider_itself_sends_it(with_django: None) -> None:
    free = {each.name for each in patterns(get_resolver()) if vars(each.callback).get("csrf_exempt")}
    assert free == {"backchannel-logout"}


def test_the_table_has_every_address_in_every_way() -> None:
    assert set(ANSWERS) == {(name, how) for name in ADDRESSES for how in (PAGE, FRAGMENT, POST, HTMX_POST)}
