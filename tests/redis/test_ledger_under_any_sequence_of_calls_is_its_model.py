"""Admission, claims, renewals, settlements, upkeep, damage and its repair in any order: the ledger and a plain Python
model of it answer and hold the same, in batches and one by one."""

import pytest
import redis as redis_py

from tests.support.ledger_machine import play
from tests.support.trials import trials


@pytest.mark.parametrize("optimized", [True, False], ids=["in batches", "one by one"])
def test_both_answer_the_same(redis: redis_py.Redis, optimized: bool) -> None:
    play(redis, "q", optimized, examples=trials(50, 1_000))
