"""Receipts whose last change is older than asked, and nothing else."""

import pytest
from django.core.management import CommandError

from joobq_admin.joobq.delivery import State
from tests.support.commands import ledger, noted
from tests.support.ledgers import agrees, held, ledger_of, until
from tests.support.servers import Server

pytestmark = pytest.mark.usefixtures("with_django")


def test_only_receipts_go_and_only_old_ones(valkey: Server) -> None:
    emails = ledger_of(valkey.client)
    for name in map(str, range(20)):
        emails.settle(held(emails, name), State.DEAD)
    held(emails, "leased")
    emails.admit("ready", "1")
    until(valkey.client, emails.stats().at)
    prune = ("prune", "shop:emails", "--older-than")
    assert ledger(*prune, "1h").lines == [{"ledger": "shop:emails", "older_than": "1:00:00", "pruned": 0}]
    ran = ledger(*prune, "0s", "--reason", "it is full")
    assert (ran.ended, ran.lines[0]["pruned"]) == (0, 20)
    assert {record.request_id for record in emails.records().records} == {"leased", "ready"}
    assert agrees(emails)
    newest, _ = noted(valkey)
    assert (newest.action, newest.fields["pruned"], newest.reason) == ("prune", "20", "it is full")


@pytest.mark.parametrize("age", ["", "30", "-1d", "1.5h", "1w", "99999999d"])
def test_an_age_that_is_none_is_told_and_nothing_goes(valkey: Server, age: str) -> None:
    with pytest.raises(CommandError, match="an age is such as 30d, 12h, 90m or 45s"):
        ledger("prune", "shop:emails", f"--older-than={age}")
    assert noted(valkey) == []
