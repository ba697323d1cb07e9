"""Records of the audit log, as scripts write them, and as those might that are not ours."""

import json
from datetime import UTC, datetime
from typing import Any

import redis as redis_py

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import to_bytes
from tests.support.letters import DIED, jid

OPERATION = "0000{:04d}-1111-4111-8111-000000000000"
CHANGES = [["retries", "0", "3"], ["error", "this one", "null"], ["status", '"dead"', '"enqueued"']]


def now_ms() -> int:
    return int(datetime.now(UTC).timestamp() * 1000)


def record(number: int, action: str = "redrive", **fields: Any) -> dict[str, Any]:
    """Of the job of this number, by Ann."""
    own = {"action": action, "operation": OPERATION.format(number), "digest": f"{number:064x}", "jid": jid(number)}
    own |= {"queue": "emails", "score": str(DIED), "by": "u-1", "name": "Ann Āboliņa", "reason": ""}
    own |= {"sent": "f" * 64, "changes": json.dumps(CHANGES)} if action == "redrive" else {}
    return own | fields


def kept(redis: redis_py.Redis, *records: dict[str, Any], ago: int = 0) -> None:
    """Writes them, the last is the newest: a millisecond apart, `ago` seconds ago. Found by their names too."""
    newest = redis.xrevrange(keys.AUDIT, count=1)
    at = max(now_ms() - ago * 1000 - len(records), int(newest[0][0].partition(b"-")[0]) + 1 if newest else 0)
    pipe = redis.pipeline(transaction=False)
    for number, fields in enumerate(records):
        id_ = f"{at + number}-0"
        pipe.xadd(keys.AUDIT, {name: to_bytes(value) for name, value in fields.items()}, id=id_)
        if {"operation", "action", "digest", "jid"} <= fields.keys():
            names = (f"o:{fields['operation']}\0{fields['action']}\0{fields['digest']}\0{id_}",
                     f"d:{fields['digest']}\0{id_}", f"j:{fields['jid']}\0{id_}")  # fmt: skip
            pipe.zadd(keys.AUDIT_INDEX, {to_bytes(name): 0 for name in names})
    pipe.execute()
