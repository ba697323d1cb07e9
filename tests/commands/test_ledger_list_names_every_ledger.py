"""One line a ledger, with what it holds, by Redis's own clock."""

import os
import re
import termios
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


def test_on_a_terminal_that_is_narrow_nothing_is_cut(valkey: Server) -> None:
    name = "emails-of-the-second-warehouse"
    Ledger(valkey.client, "shop-production", name).admit("a", "1")
    screen, its_end = os.openpty()
    termios.tcsetwinsize(its_end, (24, 60))
    with open(screen, "rb") as shown, process(valkey, "list", stdout=its_end) as running:
        assert running.wait(20) == 0
        head, row, *_ = re.sub(r"\x1b\[\d*m", "", os.read(shown.fileno(), 10_000).decode()).splitlines()
    os.close(its_end)
    assert " ".join(head.split()) == "ledger records due later leased expired quarantined oldest due gate"
    assert row.split()[:7] == [f"shop-production:{name}", "1", "1", "0", "0", "0", "0"]
    assert row.split()[-1] == "open"
