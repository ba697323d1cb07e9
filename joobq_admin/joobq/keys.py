"""Every Redis key that this product reads or writes. Ours lie under `joobq:admin:`; the rest is JoobQ's own."""

DEAD = b"joobq:dead_letter"  # zset: member = an entry's exact bytes, score = when it died (see entry.TIMES_FROM)
COUNTS = b"joobq:dead_letter:counts"  # hash: queue -> how many entries
DELAYED = b"joobq:delayed_jobs"  # zset: jobs to be retried, score = due, unix ms
PROCESSED = b"joobq:stats:processed"  # hash: queue -> how many jobs its workers have run, ever

AUDIT = b"joobq:admin:audit"  # stream: what operators did
AUDIT_INDEX = b"joobq:admin:audit:index"  # zset: records by operation, digest and jid
BIN = b"joobq:admin:bin"  # hash: digest -> a purged entry
BIN_TIMES = b"joobq:admin:bin:times"  # zset: digest, score = when it was purged, unix ms
PROVED = b"joobq:admin:counts:proved"  # string: stands while COUNTS was proved exact and only added to since
RECOUNTING = b"joobq:admin:counts:lock"  # string with TTL: one process at a time puts counts right

DELIVERY = "joobq:delivery:"
DELIVERY_KINDS = {  # of a ledger, with their types
    "records": "hash", "payloads": "hash", "ready": "zset", "leases": "zset", "quarantine": "hash", "gate": "string",
}  # fmt: skip


def revoked(session: str) -> bytes:
    """String with a TTL: until when sessions of this id that began are over (see sessions)."""
    return b"joobq:admin:revoked:" + session.encode()


def plan(operation: str) -> list[bytes]:
    """All with a TTL: what is still to go of a purge of one queue, see lua/include/parts.lua.

    First a hash: `queue`, and `over` once it is. Then 256 sets: 16 bytes of the digest of each entry, by the first one.
    """
    head = f"joobq:admin:plan:{operation}"
    return [head.encode(), *(f"{head}:{first:02x}".encode() for first in range(256))]


def repair(namespace: str, queue: str) -> bytes:
    """Hash with a TTL: the repair cycle of a ledger that goes on, or the last one; in the slot of its keys."""
    return f"joobq:admin:repair:{{{namespace}:{queue}}}".encode()


def retry_lock(jid: bytes) -> bytes:
    """String with a TTL: a retry of this job is scheduled."""
    return b"joobq:retry_lock:" + jid


def processing(queue: bytes) -> bytes:
    """List: jobs of this queue that are being run, or were left behind by a crash."""
    return b"joobq:processing:" + queue


def delivery(namespace: str, queue: str) -> list[bytes]:
    """A ledger's keys; what stands in braces puts them into one slot of a cluster. In this order:

    `records` hash, request id -> header (see delivery.record) · `payloads` hash, request id -> payload · `ready` zset,
    request id, score = due · `leases` zset, request id, score = end of its lease · `quarantine` hash, request id ->
    bytes of a corrupt record · `gate` string, exists = closed. Scores in unix ms.
    """
    return [f"{DELIVERY}{{{namespace}:{queue}}}:{kind}".encode() for kind in DELIVERY_KINDS]
