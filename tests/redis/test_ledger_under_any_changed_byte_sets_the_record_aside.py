"""Of each of many records another byte was changed, removed or added: what is spoilt is never handed out and is set
aside, by the claim that meets it and by repair; the others go on."""

from collections.abc import Callable

import pytest
import redis as redis_py

from joobq_admin.joobq.delivery import Ledger
from tests.support.ledgers import ledger_of
from tests.support.spoiling import found_by_claims, found_by_repair
from tests.support.trials import trials

TURNS = trials(1, 100)  # in the lab each place of a hundred records, in each way


@pytest.mark.parametrize("found", [found_by_claims, found_by_repair], ids=["claims", "repair"])
def test_none_goes_unseen(redis: redis_py.Redis, found: Callable[[Ledger, int], None]) -> None:
    for turn in range(TURNS):
        redis.flushall()
        found(ledger_of(redis), turn)
