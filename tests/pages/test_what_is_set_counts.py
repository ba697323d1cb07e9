"""A dashboard that is run with other values than the default ones does as they say."""

import json
import time
from collections.abc import Callable, Iterator
from http.cookies import SimpleCookie

import pytest

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import EntryRef
from tests.support.dashboard import Dashboard
from tests.support.ledgers import at
from tests.support.letters import DIED, digest, jid, letter
from tests.support.operators import ANN, dead_letters
from tests.support.records import kept, record
from tests.support.servers import Server
from tests.support.tls import Terminator, certificate
from tests.support.wire import Answer, ask

LETTER = letter(1, queue="invoices", note="between us", password="in sight")
HOUR = 3_600_000  # ms
WHY = {"confirmed": "1", "reason": "why"}
TOKEN = "t" * 32  # a token is whatever the browser's own cookie holds


@pytest.fixture(scope="module")
def set_otherwise(running: Callable[[str], Server], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """Its Redis it reaches by TLS, for which only its own file of certificates vouches."""
    file, before = tmp_path_factory.mktemp("tls") / "pem", Terminator()
    file.write_bytes(certificate())
    before.behind = running("valkey").port
    values = {
        "REDIS_CA_FILE": str(file), "ENVIRONMENT": "staging", "REAUTH_MINUTES": "3", "REDACT": "note",
        "REDRIVE_EXPIRES_HOURS": "5", "BIN_HOURS": "2", "BIN_MB": "1", "AUDIT_ENTRIES": "1000", "LOG_LEVEL": "debug",
    }  # fmt: skip
    environment = {f"JOOBQ_ADMIN_{name}": value for name, value in values.items()}
    with Dashboard(f"rediss://127.0.0.1:{before.port}/0", **environment) as dashboard:
        yield dashboard
    before.close()


@pytest.fixture
def url(set_otherwise: Dashboard, valkey: Server) -> str:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    return set_otherwise.url


def press(url: str, raw: bytes, action: str, cookies: str = "", **more: str) -> Answer:
    form = {"score": str(DIED), "digest": digest(raw), "jid": jid(1), "operation": "op-1", "csrfmiddlewaretoken": TOKEN}
    address = action if "/" in action else f"/dead-letters/{DIED}-{digest(raw)}/{action}"
    headers = {"Cookie": f"csrf={TOKEN}{cookies}", "HX-Request": "true", "HX-Target": "action"}
    return ask(url + address, headers, "POST", form | more)


def test_a_job_that_is_redriven_is_given_so_many_hours(url: str, valkey: Server) -> None:
    assert press(url, LETTER, "redrive").status == 200
    (job,) = valkey.client.lrange("invoices", 0, -1)
    assert json.loads(job)["expires"] - time.time() * 1000 == pytest.approx(5 * HOUR, abs=HOUR / 4)


def test_the_bin_keeps_for_so_many_hours_and_no_more_than_so_much(url: str, valkey: Server) -> None:
    old, large = letter(2), letter(1, note="x" * (1 << 20))
    queue = dead_letters(valkey.client)
    queue.add(DIED, [old, large])
    assert queue.purge_entries([EntryRef(DIED, digest(old), jid(2))], by=ANN).done
    for hours_ago, here in ((1, True), (3, False)):
        valkey.client.zadd(keys.BIN_TIMES, {digest(old): time.time() * 1000 - hours_ago * HOUR})
        assert press(url, large, "purge", **WHY).status == 422
        assert valkey.client.zcard(keys.DEAD) == 2
        assert press(url, LETTER, "purge", operation=f"op-{hours_ago}", **WHY).status == 200
        valkey.client.zadd(keys.DEAD, {LETTER: DIED})
        assert valkey.client.hexists(keys.BIN, digest(old)) == here


def test_the_audit_log_keeps_so_many(url: str, valkey: Server) -> None:
    kept(valkey.client, *(record(n) for n in range(2_100)))
    assert press(url, LETTER, "redrive").status == 200
    assert valkey.client.xlen(keys.AUDIT) < 2_000


def test_what_is_never_shown_is_what_they_name(url: str) -> None:
    page = ask(f"{url}/jobs/{jid(1)}/").text
    assert "between us" not in page
    assert "in sight" in page


def test_a_confirmation_counts_for_so_many_minutes(url: str) -> None:
    confirmed = SimpleCookie(press(url, LETTER, "/auth/confirm").headers["Set-Cookie"])["confirmed"]
    assert confirmed["max-age"] == "180"
    assert "not older than 3 minutes" in press(url, LETTER, "unredacted").text


def test_the_environment_is_told_on_every_page_and_in_every_dialog(url: str) -> None:
    for page in ("/dead-letters/", f"/jobs/{jid(1)}/", "/bin/", "/audit/", at("ledger/"), "/nowhere"):
        assert told(ask(url + page)), page
    tick = {"entry": f"{DIED}-{digest(LETTER)}-{jid(1)}"}
    everything = "/dead-letters/purge-all?everything=1"
    assert told(press(url, LETTER, everything)), "to confirm who it is"
    confirmed = press(url, LETTER, "/auth/confirm").headers["Set-Cookie"].partition(";")[0]
    for action in ("purge", "unredacted", "/dead-letters/purge", everything, "/bin/empty", at("close-gate")):
        asked = press(url, LETTER, action, f"; {confirmed}", **tick)
        assert (asked.status, "<dialog " in asked.text, told(asked)) == (200, True, True), action


def told(answer: Answer) -> bool:
    return '<span class="env" data-env="staging">staging</span>' in answer.text


def test_the_log_has_what_is_for_debugging(set_otherwise: Dashboard) -> None:
    assert '"path": "/healthz"' in set_otherwise.log
