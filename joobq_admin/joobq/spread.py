"""How many dead letters lie between some scores: O(log n) each, in one moment, and no entry leaves Redis."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

from redis import Redis

from joobq_admin.joobq import keys, scripts
from joobq_admin.joobq.entry import Score, score_text
from joobq_admin.joobq.scripts import Call


class Spread(NamedTuple):
    """`between`: entries from each edge to below the next one; `below`: those under the first; `total`: all."""

    total: int
    below: int
    between: tuple[int, ...]
    as_of: datetime  # by the server's clock

    @property
    def beyond(self) -> int:
        """From the last edge on."""
        return self.total - self.below - sum(self.between)


def spread(redis: Redis, edges: Sequence[Score]) -> Spread:
    """`edges`: one or more, ascending. Raises Unreachable, or what Redis says."""
    (reply,) = scripts.read(redis, [spread_call(edges)])
    return spread_of(reply)


def spread_call(edges: Sequence[Score]) -> Call:
    """What `spread` asks, to be sent together with other calls. Its reply is for `spread_of`."""
    return scripts.SPREAD.call((keys.DEAD,), list(map(score_text, edges)), read_only=True)


def spread_of(reply: Sequence[Any]) -> Spread:
    seconds, micros, total, *below = reply
    as_of = datetime.fromtimestamp(int(seconds), UTC) + timedelta(microseconds=int(micros))
    return Spread(total, below[0], tuple(above - under for under, above in pairwise(below)), as_of)
