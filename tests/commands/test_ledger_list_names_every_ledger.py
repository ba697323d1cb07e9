"""One line a ledger, with what it holds, by Redis's own clock."""

from datetime import timedelta

import pytest

from joobq_admin.joobq.delivery import Ledger
from tests.support.commands import ledger, process
from tests.support.database import changed, contents
from tests.support.ledgers import HOUR, ledger_of
from tests.support.servers import Server

pytestmark = pytest.mark.usefixtures("with_django")


def test_it_tells_what_each_holds_and_touches_nothing(valkey: Server) -> None:
    emails, odd = ledger_of(valkey.client), Ledger(valkey.client, "é", "a:b")
    emails.admit_many([("a", "1"), ("b", "2")])
    emails.claim("w", lease=HOUR)
    odd.admit("a", "1", delay=timedelta(days=1))
    before = contents(valkey.client)
    ran = ledger("list")
    assert (ran.ended, ran.words) == (0, "")
    first, second = ran.lines
    due = emails.resolve("b").due_at
    assert first.pop("at") >= due
    assert first.pop("last_lease") == emails.resolve("a").lease_until
    numbers = {"records": 2, "due": 1, "later": 0, "leased": 1, "expired": 0, "quarantined": 0}
    assert first == {"ledger": "shop:emails", **numbers, "oldest_due": due, "gate": None}
    assert (second["ledger"], second["later"], second["oldest_due"]) == ("é:a:b", 1, None)
    assert changed(before, contents(valkey.client)) == set()


def test_without_any_there_is_no_line(valkey: Server) -> None:
    assert (ledger("list").lines, ledger("list").ended) == ([], 0)


def test_one_that_cannot_be_read_hides_no_other(valkey: Server) -> None:
    ledger_of(valkey.client).admit("a", "1")
    broken = Ledger(valkey.client, "shop", "broken")
    valkey.client.set(broken.records_key, "no hash")
    ran = ledger("list")
    assert (ran.ended, [told["ledger"] for told in ran.lines]) == (3, ["shop:emails"])
    assert ran.words.startswith("shop:broken: Redis said: WRONGTYPE")


def test_a_redis_that_does_not_answer_is_told(valkey: Server) -> None:
    """As a process: it needs no settings but two."""
    ledger_of(valkey.client).admit("a", "1")
    with process(valkey, "list") as running:
        out, words = running.communicate(timeout=20)
        assert (running.returncode, words) == (0, "")
        assert '"ledger": "shop:emails"' in out
    with Server() as gone:
        gone.stop()
        with process(gone, "list") as running:
            out, words = running.communicate(timeout=20)
            assert (running.returncode, out) == (1, "")
            assert words == f"Redis at 127.0.0.1:{gone.port} does not answer: Connection refused.\n"
