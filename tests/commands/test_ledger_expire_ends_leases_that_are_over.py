"""All of them, however many; and no other."""

import pytest

from tests.support.commands import ledger, noted
from tests.support.ledgers import HOUR, MS, agrees, ledger_of, run_out
from tests.support.servers import Server

pytestmark = pytest.mark.usefixtures("with_django")


def test_they_are_ready_again_and_others_stay_leased(valkey: Server) -> None:
    emails = ledger_of(valkey.client)
    emails.admit_many([(str(n), "x") for n in range(210)])
    over = [*emails.claim_many("w", 128, MS), *emails.claim_many("w", 72, MS)]
    kept = emails.claim_many("v", 10, HOUR)
    for claim in over:
        run_out(emails, claim)
    ran = ledger("expire", "shop:emails", "--reason", "worker w is gone")
    assert (ran.ended, ran.lines) == (0, [{"ledger": "shop:emails", "expired": 200}])
    assert {record.request_id for record in emails.in_flight(128)} == {claim.request_id for claim in kept}
    assert agrees(emails)
    (record,) = noted(valkey)
    assert (record.action, record.fields["expired"], record.reason) == ("expire", "200", "worker w is gone")


def test_those_behind_entries_that_lie_too(valkey: Server) -> None:
    emails = ledger_of(valkey.client)
    emails.admit("a", "x")
    run_out(emails, emails.claim("w", MS))
    valkey.client.zadd(emails.leases_key, {f"ghost {n}": 1 for n in range(300)})
    assert ledger("expire", "shop:emails").lines == [{"ledger": "shop:emails", "expired": 1}]
    assert agrees(emails)
