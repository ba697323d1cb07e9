"""One ledger, and each record in its quarantine with the digest that a release or a discard asks for."""

import pytest

from joobq_admin.joobq.delivery import ReviewOutcome
from tests.support.commands import ledger
from tests.support.database import changed, contents
from tests.support.ledgers import ledger_of, mend, spoil_header, stored
from tests.support.operators import ANN
from tests.support.servers import Server

pytestmark = pytest.mark.usefixtures("with_django")


def test_it_tells_of_the_gate_and_of_each_record_set_aside(valkey: Server) -> None:
    emails = ledger_of(valkey.client)
    emails.admit_many([("a", "1"), ("\udcff", "2"), ("c", "3")])
    sound, _ = stored(emails, "c")
    valkey.client.hset(emails.records_key, b"\xff", b"x")
    spoil_header(emails, "c")
    mend(emails)
    valkey.client.hset(emails.records_key, "c", sound)  # it was mended by hand
    emails.close_gate(ANN, "look")
    before = contents(valkey.client)
    ran = ledger("show", "shop:emails")
    assert (ran.ended, ran.words) == (0, "")
    stats, *aside = ran.lines
    assert (stats["records"], stats["due"], stats["quarantined"]) == (3, 1, 2)
    assert (stats["gate"]["by"], stats["gate"]["reason"]) == ("u-1", "look")
    assert {tuple(each) for each in aside} == {
        ("quarantined", "digest", "corrupt"),
        ("quarantined_base64", "digest", "corrupt"),
    }
    by_id = {each.get("quarantined") or each["quarantined_base64"]: each for each in aside}
    assert by_id["/w=="]["corrupt"] == "the header has another form"
    assert by_id["c"]["corrupt"] is None
    assert changed(before, contents(valkey.client)) == set()
    assert emails.release("c", by_id["c"]["digest"], ANN) is ReviewOutcome.RELEASED
    assert emails.discard("\udcff", by_id["/w=="]["digest"], ANN) is ReviewOutcome.DISCARDED


@pytest.mark.parametrize("name", ["", "shop", "shop:", ":emails", "a{b:c", "a:b\n"])
def test_what_is_no_ledgers_name_is_told(valkey: Server, name: str) -> None:
    ran = ledger("show", name)
    assert (ran.ended, ran.lines) == (2, [])
    assert ran.words.startswith("A ledger is named namespace:queue")
