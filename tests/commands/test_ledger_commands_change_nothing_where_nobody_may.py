"""With JOOBQ_ADMIN_READ_ONLY commands look, and do nothing else."""

from pathlib import Path

import pytest
from django.test import override_settings

from tests.support.commands import ledger
from tests.support.database import changed, contents
from tests.support.ledgers import ledger_of
from tests.support.servers import Server

pytestmark = pytest.mark.usefixtures("with_django")


def test_what_changes_something_is_refused_and_the_rest_goes_on(valkey: Server, tmp_path: Path) -> None:
    ledger_of(valkey.client).admit("a", "1")
    file = tmp_path / "emails.ndjson"
    file.touch()
    before = contents(valkey.client)
    changing = [("gate", "close", "--reason", "x"), ("gate", "open"), ("repair",), ("repair", "--watch"), ("expire",),
                ("prune", "--older-than=0s"), ("import", file)]  # fmt: skip
    looking = [("show",), ("resolve", "a"), ("gate",), ("export",)]
    with override_settings(READ_ONLY=True):
        for what, *more in changing:
            ran = ledger(what, "shop:emails", *more)
            assert (ran.ended, ran.lines) == (1, [])
            assert ran.words == "JOOBQ_ADMIN_READ_ONLY is set: nobody changes anything.\n"
        for what, *more in looking:
            assert ledger(what, "shop:emails", *more).ended == 0
        assert ledger("list").ended == 0
        assert ledger("import", "shop:emails", file, "--dry-run").ended == 3  # its gate is open
    assert changed(before, contents(valkey.client)) == set()
    assert [path.name for path in tmp_path.iterdir()] == ["emails.ndjson"]
