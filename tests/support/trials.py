"""How often chance is tried: a little each time the tests run, far more with LAB=1, as `make lab` runs them."""

import os

LAB = os.environ.get("LAB") == "1"


def trials(suite: int, lab: int) -> int:
    """So many each time, so many in the lab."""
    return lab if LAB else suite
