"""Of each of many records another byte was changed, removed or added: what is spoilt is never handed out and is set
aside, by the claim that meets it and by repair; the others go on."""

import redis as redis_py

from tests.support.ledgers import ledger_of
from tests.support.spoiling import found_by_claims, found_by_repair


def test_claims_pass_it_over(redis: redis_py.Redis) -> None:
    found_by_claims(ledger_of(redis))


def test_repair_finds_it(redis: redis_py.Redis) -> None:
    found_by_repair(ledger_of(redis))
