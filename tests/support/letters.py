"""Dead letters for tests: made ones, as JoobQ writes them, and the real ones of tests/data."""

import base64
import hashlib
import json
import uuid
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from joobq_admin.joobq.entry import Entry

DATA = Path(__file__).parents[1] / "data"
DIED = 1_795_955_390_586  # unix ms
NO_TIME = 604_800  # the score of a third of all dead letters: a lifetime in seconds
ERROR = {"failed_at": "2026-11-29T12:29:50Z", "message": "SMTP 550", "backtrace": "SMTP 550\nfrom ???", "cause": ""}


def jid(number: int) -> str:
    return str(uuid.UUID(int=number, version=4))


def letter(job: int | str = 1, queue: str = "emails", death: int = 0, **fields: Any) -> bytes:
    """One death of a job. `death` makes bytes of its own; `fields` are added, or replace JoobQ's own."""
    error = ERROR | {"failed_at": f"2026-11-29T{death // 3600:02d}:{death // 60 % 60:02d}:{death % 60:02d}Z"}
    own = {"jid": jid(job) if isinstance(job, int) else job, "queue": queue, "retries": 0, "max_retries": 3}
    own |= {"expires": 5, "status": "dead", "error": error}
    return json.dumps(own | fields, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogateescape")


def digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


@dataclass(frozen=True)
class Real:
    """An entry that a real worker wrote, and what becomes of it: pushed bytes with EXPIRES in them, or a refusal."""

    raw: bytes
    score: str  # as Redis returned it
    path: str  # the code in JoobQ that wrote it
    pushed: bytes | None
    queue: str
    refusal: str | None

    @property
    def entry(self) -> Entry:
        score = float(self.score)
        return Entry(self.raw, int(score) if score.is_integer() else score)


EXPIRES = b"@EXPIRES@"


@cache
def real_letters() -> list[Real]:
    expected = {row["digest"]: row for row in _rows("expected_redrives.ndjson")}
    found = []
    for row in _rows("real_dead_letters.ndjson"):
        raw = base64.b64decode(row["member_b64"])
        told = expected[digest(raw)]
        pushed = base64.b64decode(told["member_b64"]) if told["outcome"] == "redriven" else None
        found.append(Real(raw, row["score"], row["path"], pushed, told.get("queue", ""), told.get("refusal")))
    return found


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]
