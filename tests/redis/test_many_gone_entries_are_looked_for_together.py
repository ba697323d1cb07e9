"""Of many entries that are gone none costs a look of its own: round trips and entries read stay those of one."""

from redis import Redis

from joobq_admin.joobq.audit import AuditLog
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.entry import EntryRef
from tests.support.letters import DIED, digest, jid, letter
from tests.support.trips import sends


def test_a_hundred(redis: Redis) -> None:
    queue = DeadLetterQueue(redis, AuditLog(redis))
    for n in range(0, 3000, 100):
        queue.add(DIED + n, [letter(n + i) for i in range(100)])
    gone = [EntryRef(DIED + n, digest(b"%d" % n), jid(n)) for n in range(5000, 5100)]
    queue.redrive_entries(gone)
    redis.config_resetstat()
    with sends(redis) as count:
        assert set(queue.redrive_entries(gone).missing) == set(gone)
    assert count() <= 3000 / 200 + 10, "one look at the newest entries, and a few questions for all together"
    assert redis.info("commandstats")["cmdstat_zrevrange"]["calls"] < 400
