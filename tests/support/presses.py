"""One entry, everything that can be done to it, and what the database must hold when exactly that was done once."""

import redis as redis_py

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import EntryRef, job_key
from joobq_admin.joobq.outcome import NotDone, Outcome, Refusal
from tests.support.database import Contents, contents
from tests.support.letters import NO_TIME, digest, jid, letter
from tests.support.operators import ANN, dead_letters, told

LETTER, BINNED = letter(1, death=1), letter(1, death=2)
REF, BINNED_REF = EntryRef(NO_TIME, digest(LETTER), jid(1)), EntryRef(7, digest(BINNED), jid(1))
QUEUE, LOCK = b"emails", keys.retry_lock(jid(1).encode())
ALL_KEYS = (keys.DEAD, keys.COUNTS, keys.AUDIT, keys.AUDIT_INDEX, keys.BIN, keys.BIN_TIMES, QUEUE, LOCK)

REDRIVES = ("redrive", "redrive by jid")
PURGES = ("purge", "purge by jid")
ALL_PURGES = ("purge all", "purge a queue")
ACTIONS = (*REDRIVES, *PURGES, "restore", *ALL_PURGES)


def prepare(redis: redis_py.Redis, action: str) -> Contents:
    """An entry in the set (for a restore: in the bin), another in the bin, a job on the queue, a retry lock."""
    redis.flushall()
    queue = dead_letters(redis)
    queue.add(NO_TIME, [LETTER])
    queue.add(7, [BINNED])
    redis.rpush(QUEUE, "other")
    assert queue.purge_entries([BINNED_REF], operation="op0").done
    if action == "restore":
        assert queue.purge_entries([REF], operation="op0").done
    redis.set(LOCK, "retrying")
    return contents(redis)


def press(redis: redis_py.Redis, action: str, operation: str = "op1") -> str:
    """What it said: a group of Outcome, or the reason of a refusal."""
    queue, who = dead_letters(redis), {"by": ANN, "reason": "because", "operation": operation}
    acts = {
        "redrive": lambda: queue.redrive_entries([REF], **who),
        "redrive by jid": lambda: queue.redrive([jid(1)], **who),
        "purge": lambda: queue.purge_entries([REF], **who),
        "purge by jid": lambda: queue.purge([jid(1)], **who),
        "restore": lambda: queue.restore([REF.digest], **who),
        "purge all": lambda: queue.purge_all(**who),
        "purge a queue": lambda: queue.purge_all(QUEUE.decode(), **who),
    }
    try:
        answer = acts[action]()
    except NotDone as no:
        return no.reason
    if not isinstance(answer, Outcome):
        return "done" if answer else "missing"
    ((group, things),) = told(answer).items()
    return things[0] if group == "refused" else group


def is_done_once(before: Contents, after: Contents, action: str, counted: bool = True, recorded: bool = True) -> bool:
    """Does the database hold what it held before, changed by exactly this? `recorded`: the stream took a record."""
    name = "purge_all" if action in ALL_PURGES else action.split()[0]
    dead, lists, lock = {}, [b"other"], True
    binned = {BINNED_REF.digest.encode()}
    if name == "redrive":
        lists, lock = [b"other", redriven()], False
    elif name == "purge":
        binned.add(REF.digest.encode())
    elif name == "restore":
        dead = {LETTER: float(NO_TIME)}
    return (
        dict(held(after, keys.DEAD, [])) == dead
        and (held(after, QUEUE, [b"other"]) == lists or after[QUEUE][0] != b"list")
        and (LOCK in after) == lock
        and (not counted or numbers(after) == ({QUEUE: len(dead)} if dead else {}))
        and bin_holds(after, binned)
        and (not recorded or is_recorded(before, after, name))
        and after.keys() <= {*ALL_KEYS, keys.PROVED}
    )


def redriven() -> bytes:
    return LETTER.replace(b'"retries":0', b'"retries":3').replace(b'"dead"', b'"enqueued"')


def held(found: Contents, key: bytes, otherwise: list) -> list:
    values = found[key][1] if key in found else otherwise
    if key != QUEUE or not isinstance(values, list):
        return values
    return [value if b'"jid"' not in value else with_old_expires(value) for value in values]


def with_old_expires(pushed: bytes) -> bytes:
    """The pushed bytes with the values of `expires` and `error` that the entry had: what is left must be equal."""
    own, error = LETTER.partition(b'"error":')[0::2]
    head, _, tail = pushed.partition(b'"error":')
    before, _, rest = head.partition(b'"expires":')
    digits, _, status = rest.partition(b",")
    assert digits.isdigit()
    assert tail == b"null}"
    assert b'"expires":5,' in own
    return before + b'"expires":5,' + status + b'"error":' + error


def numbers(found: Contents) -> dict[bytes, int]:
    return {queue: int(n) for queue, n in (found[keys.COUNTS][1] if keys.COUNTS in found else {}).items() if int(n)}


def bin_holds(found: Contents, digests: set[bytes]) -> bool:
    """Exactly these, each with its bytes; `bytes` is the sum. A bin that is broken is not looked at."""
    if any(found.get(key, (kind,))[0] != kind for key, kind in ((keys.BIN, b"hash"), (keys.BIN_TIMES, b"zset"))):
        return True
    values = dict(found[keys.BIN][1]) if keys.BIN in found else {}
    total = values.pop(b"bytes", b"0")
    times = dict(found[keys.BIN_TIMES][1]) if keys.BIN_TIMES in found else {}
    whole = all(digest(value.partition(b"\n")[2]).encode() == name for name, value in values.items())
    sound = not total.isdigit() or int(total) == sum(map(len, values.values()))
    return whole and sound and times.keys() == values.keys() == digests


def is_recorded(before: Contents, after: Contents, name: str) -> bool:
    """One record more, and its members of the index."""
    new = after[keys.AUDIT][1][len(before[keys.AUDIT][1]) :]
    if len(new) != 1:
        return False
    ((id_, record),) = new
    what = b"" if name == "purge_all" else REF.digest.encode()
    members = {b"o:op1\0%s\0%s\0%s" % (name.encode(), what, id_)}
    if name == "purge_all":
        members.add(b"a:purge_all\0" + id_)
    if what:
        members |= {b"d:%s\0%s" % (what, id_), b"j:%s\0%s" % (jid(1).encode(), id_)}
    if name == "redrive":
        members.add(b"s:op1\0%s\0%s" % (job_key(jid(1)).encode(), id_))
    added = {member for member, _ in after[keys.AUDIT_INDEX][1]} - {member for member, _ in before[keys.AUDIT_INDEX][1]}
    told_who = (record[b"action"], record[b"by"], record[b"reason"]) == (name.encode(), b"u-1", b"because")
    return told_who and added == members


def is_refusal(said: str) -> bool:
    return said in Refusal.__members__
