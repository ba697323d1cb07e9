"""The dead letters that real JoobQ workers wrote (tests/data/README.md says how they came here)."""

import json
from base64 import b64decode
from pathlib import Path
from typing import NamedTuple

DATA = Path(__file__).parent.parent / "data"


class RealEntry(NamedTuple):
    """`score` as Redis returned it; `path`: the code in JoobQ that wrote it."""

    score: bytes
    raw: bytes
    path: str


def _lines(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (DATA / name).read_text().splitlines()]


#: All 76, in the order in which they were collected.
REAL = [
    RealEntry(line["score"].encode(), b64decode(line["member_b64"]), line["path"])
    for line in _lines("real_dead_letters.ndjson")
]

#: What becomes of each by a redrive, by its SHA-256: (queue, bytes with @EXPIRES@ for a new time), or a refusal's name.
EXPECTED: dict[str, tuple[bytes, bytes] | str] = {
    line["digest"]: (line["queue"].encode(), b64decode(line["member_b64"]))
    if line["outcome"] == "redriven"
    else line["refusal"]
    for line in _lines("expected_redrives.ndjson")
}
