"""The queue that an entry names by Redis's own word: the Lua that our scripts include, over many texts a call."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import redis

from joobq_admin import joobq

INCLUDED = Path(joobq.__file__).parent / "lua" / "include" / "queue_of.lua"
_SCRIPT = f"""{INCLUDED.read_text()}
local queues = {{}}
for i, text in ipairs(ARGV) do queues[i] = queue_of(text) end
return queues
"""
BLOCK = 500


def queues_in_redis(client: redis.Redis, texts: Sequence[bytes]) -> list[bytes]:
    """One queue a text, b'' when it names none."""
    return [queue for start in range(0, len(texts), BLOCK) for queue in _block(client, texts[start : start + BLOCK])]


def _block(client: redis.Redis, texts: Sequence[bytes]) -> Iterator[bytes]:
    answer = client.eval(_SCRIPT, 0, *texts)
    assert isinstance(answer, list)
    assert len(answer) == len(texts)
    yield from answer
