"""Sixteen workers with wrong clocks, killed at random, amid damage, upkeep and a gate that opens and closes: what the
server wrote down shows no step that a ledger may not take, and everybody was told the truth."""

import pytest

from tests.support.servers import KINDS, Server
from tests.support.storm import FILE, Storm


@pytest.mark.parametrize("kind", KINDS)
def test_it_adds_up(kind: str) -> None:
    with Server(kind, *FILE) as server:
        seen = Storm(server, seconds=6.5, seed=1).judge()
    for what in ("expired", "R", "C", "D"):
        assert seen[f"claim ended: {what}"], seen
    for what in ("settle: LOST", "again: ALREADY", "renewed", "renew: GATE_CLOSED", "gate opened", "killed"):
        assert seen[what], seen
    for what in ("quarantined", "discarded", "pruned"):
        assert seen[what], seen
