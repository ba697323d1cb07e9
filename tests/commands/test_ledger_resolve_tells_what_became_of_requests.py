"""One line a request, in the order of asking."""

from base64 import b64decode

import pytest
from django.core.management import CommandError

from joobq_admin.joobq.delivery import State
from tests.support.commands import ledger
from tests.support.database import changed, contents
from tests.support.ledgers import TRACE, held, ledger_of, spoil_payload
from tests.support.servers import Server

pytestmark = pytest.mark.usefixtures("with_django")


def test_each_is_told_as_it_is_stored(valkey: Server) -> None:
    emails = ledger_of(valkey.client)
    emails.settle(held(emails, "done", owner="w \udcfe"), State.DEAD)
    emails.admit("\udcff", b"\0\xff", traceparent=TRACE)
    before = contents(valkey.client)
    ran = ledger("resolve", "shop:emails", "\udcff", "done")
    assert (ran.ended, ran.words) == (0, "")
    waits, done = ran.lines
    record = emails.resolve("\udcff")
    assert b64decode(waits.pop("payload_base64")) == b"\0\xff"
    times = {"due_at": record.due_at, "admitted_at": record.admitted_at, "updated_at": record.updated_at}
    told = {"request_id_base64": "/w==", "state": "READY", "owner": "", "lease_until": None, "attempt": 0}
    assert waits == told | times | {"traceparent": TRACE}
    assert (done["request_id"], done["state"], done["attempt"]) == ("done", "DEAD", 1)
    assert (b64decode(done["owner_base64"]), done["traceparent"]) == (b"w \xfe", None)
    assert changed(before, contents(valkey.client)) == set()


def test_what_is_not_there_or_corrupt_has_no_state(valkey: Server) -> None:
    emails = ledger_of(valkey.client)
    emails.admit("a", b"1")
    spoil_payload(emails, "a")
    ran = ledger("resolve", "shop:emails", "never\x1b[31m", "a")
    assert ran.ended == 3
    assert ran.lines[0] == {"request_id": "never\x1b[31m", "state": None, "corrupt": None}
    assert ran.lines[1] == {"request_id": "a", "state": None, "corrupt": "the payload does not fit its digest"}
    assert ran.words == (  # and nothing in an id steers a terminal
        "never\\x1b[31m was never admitted, or it was pruned.\na is corrupt: the payload does not fit its digest.\n"
    )


def test_an_id_that_is_too_long_is_told(valkey: Server) -> None:
    with pytest.raises(CommandError, match="a request id is text of 1 to 512 bytes"):
        ledger("resolve", "shop:emails", "x" * 513)
