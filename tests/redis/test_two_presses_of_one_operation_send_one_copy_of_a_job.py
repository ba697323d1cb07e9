"""However the looks of two presses fall: the script itself sends no second entry of a job under one operation."""

from redis import Redis

from joobq_admin.joobq import keys, scripts
from joobq_admin.joobq.audit import AuditLog
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.outcome import Refusal
from tests.support.letters import DIED, jid, letter

HYPHENLESS = jid(1).replace("-", "").upper()


def test_the_second_looked_before_the_first_had_sent(redis: Redis) -> None:
    """Its newest entry is another one: the scores had changed between the two looks."""
    queue = DeadLetterQueue(redis, AuditLog(redis))
    queue.add(DIED, [letter(1), letter(HYPHENLESS, death=1)])
    one, other = (queue._operation(operation="press") for _ in range(2))
    first, second = queue.page()
    calls = [
        one._redrive_call(first, queue.preview(first)),
        other._redrive_call(second, queue.preview(second)),
        one._redrive_call(first, queue.preview(first)),
    ]
    assert scripts.write(redis, calls) == [scripts.Reply.DONE, scripts.Reply.SAME_JOB, scripts.Reply.DONE_BEFORE]
    assert redis.llen("emails") == 1
    assert redis.zrange(keys.DEAD, 0, -1) == [second.raw]
    assert queue.redrive_entries([second.ref], operation="press").refused[0].reason is Refusal.SAME_JOB
    assert queue.redrive_entries([second.ref], operation="another-press").done == (second.ref,)


def test_entries_without_a_jid_are_jobs_of_their_own(redis: Redis) -> None:
    queue = DeadLetterQueue(redis, AuditLog(redis))
    queue.add(DIED, [letter(1, jid=None, n=n) for n in range(3)])
    refs = [entry.ref for entry in queue.page()]
    assert queue.redrive_entries(refs, operation="press").done == tuple(refs)
