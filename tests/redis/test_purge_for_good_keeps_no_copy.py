from datetime import timedelta

import pytest
from redis import Redis

from joobq_admin.joobq import keys
from joobq_admin.joobq.audit import AuditLog
from joobq_admin.joobq.bin import Bin
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.entry import Entry
from tests.support.database import changed, contents
from tests.support.letters import DIED, letter
from tests.support.operators import dead_letters


def test_the_bin_is_passed_by_and_the_record_says_so(redis: Redis) -> None:
    log = AuditLog(redis)
    queue = DeadLetterQueue(redis, log, Bin(redis, timedelta(hours=1), room=0))
    queue.add(DIED, [letter(1)])
    (ref,) = [entry.ref for entry in queue.page()]
    assert queue.purge_entries([ref], for_good=True, operation="gone").done == (ref,)
    assert redis.zcard(keys.DEAD) == 0
    assert not redis.exists(keys.BIN, keys.BIN_TIMES)
    record = log.recorded("gone", "purge", ref.digest)
    assert record is not None
    assert (record.fields["bin"], record.fields["emptied"]) == ("0", "0")
    assert queue.restore([ref.digest], operation="back").missing == (ref.digest,)


def test_a_copy_of_the_same_bytes_from_an_earlier_purge_goes_in_the_same_step(redis: Redis) -> None:
    queue, refs = dead_letters(redis), [Entry(letter(n), DIED).ref for n in range(2)]
    queue.add(DIED, [letter(0), letter(1)])
    assert len(queue.purge_entries(refs, operation="kept").done) == 2
    other = redis.hget(keys.BIN, refs[1].digest)
    queue.add(DIED, [letter(0)])
    assert queue.purge_entries(refs[:1], for_good=True, operation="gone").done
    assert redis.hgetall(keys.BIN) == {refs[1].digest.encode(): other, b"bytes": b"%d" % len(other)}
    assert redis.zrange(keys.BIN_TIMES, 0, -1) == [refs[1].digest.encode()]
    assert queue.audit
    record = queue.audit.recorded("gone", "purge", refs[0].digest)
    assert record
    assert (record.fields["bin"], record.fields["emptied"]) == ("0", "1")
    before = contents(redis)
    assert queue.restore([refs[0].digest], operation="undo").missing == (refs[0].digest,)
    assert changed(before, contents(redis)) == set()


@pytest.mark.parametrize("key", [keys.BIN, keys.BIN_TIMES])
def test_a_bin_of_another_type_is_not_in_its_way(redis: Redis, key: bytes) -> None:
    queue, ref = dead_letters(redis), Entry(letter(1), DIED).ref
    for operation in ("kept", "gone"):
        queue.add(DIED, [letter(1)])
        assert queue.purge_entries([ref], for_good=operation == "gone", operation=operation).done
        if operation == "kept":
            redis.delete(key)
            redis.set(key, "of another type")
    assert redis.type(keys.BIN) == b"string" or not redis.hexists(keys.BIN, ref.digest)
