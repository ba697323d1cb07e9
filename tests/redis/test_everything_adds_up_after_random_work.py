"""Four processes add, redrive, purge and restore at random, and press the same operations again and again, while
connections are killed. What the server wrote down is replayed by a model, and what they were told compared with it.
"""

from collections import Counter

import pytest

from tests.support.model import trial
from tests.support.servers import KINDS

ENOUGH = 6
MUST = [f"{what}, by the server" for what in ("add", "redrive", "purge", "restore", "empty", "purge_all", "trim")]
MUST.append("redrive: refused")


@pytest.mark.parametrize("kind", KINDS)
def test_it_adds_up(kind: str) -> None:
    """Again, where others leave the machine little time, until each was seen."""
    seen = Counter[str]()
    for seed in range(1, 6):
        seen += trial(kind, seconds=2, seed=seed, kill=True)
        if min(seen[what] for what in MUST) >= ENOUGH:
            break
    assert min(seen[what] for what in MUST) >= ENOUGH
