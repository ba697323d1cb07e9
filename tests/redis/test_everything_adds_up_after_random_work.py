"""Four processes add, redrive, purge and restore at random, and press the same operations again and again, while
connections are killed. What the server wrote down is replayed by a model, and what they were told compared with it.
"""

import pytest

from tests.support.model import trial
from tests.support.servers import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_it_adds_up(kind: str) -> None:
    seen = trial(kind, seconds=2, seed=1, kill=True)
    actions = ("add", "redrive", "purge", "restore", "empty", "purge_all", "trim")
    assert min(seen[f"{what}, by the server"] for what in actions) > 5
    assert seen["redrive: refused"] > 5
