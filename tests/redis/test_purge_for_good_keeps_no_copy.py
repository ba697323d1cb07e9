from datetime import timedelta

from redis import Redis

from joobq_admin.joobq import keys
from joobq_admin.joobq.audit import AuditLog
from joobq_admin.joobq.bin import Bin
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from tests.support.letters import DIED, letter


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
    assert record.fields["bin"] == "0"
    assert queue.restore([ref.digest], operation="back").missing == (ref.digest,)
