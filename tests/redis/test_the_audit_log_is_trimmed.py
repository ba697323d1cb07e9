"""The oldest records go a few at a time, with all that finds them; an operation is remembered as long as its record."""

import pytest
import redis as redis_py

from joobq_admin.joobq import audit, keys, scripts
from joobq_admin.joobq.audit import AuditLog
from joobq_admin.joobq.entry import EntryRef
from tests.support.letters import DIED, digest, jid, letter
from tests.support.operators import ANN, dead_letters

CAP = 100


@pytest.fixture(autouse=True)
def little_slack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "TRIM_SLACK", 50)
    monkeypatch.setattr(audit, "TRIM_STEP", 20)


def press(redis: redis_py.Redis, numbers: range) -> list[EntryRef]:
    """Each letter by an operation of its own."""
    queue, refs = dead_letters(redis, cap=CAP), []
    for n in numbers:
        name = ["x" * 200, "a\0b", jid(n), None][n % 4]
        raw = letter(death=n, jid=name)
        queue.add(DIED, [raw])
        refs.append(EntryRef(DIED, digest(raw), name))
        assert queue.purge_entries(refs[-1:], by=ANN, operation=f"op-{n}").done
    return refs


def expected_index(redis: redis_py.Redis) -> set[bytes]:
    found = set()
    for id_, record in redis.xrange(keys.AUDIT):
        found.add(b"\0".join((b"o:" + record[b"operation"], record[b"action"], record[b"digest"], id_)))
        found.add(b"d:" + record[b"digest"] + b"\0" + id_)
        if record[b"jid"]:
            found.add(b"j:" + record[b"jid"] + b"\0" + id_)
        if record.get(b"job"):
            found.add(b"\0".join((b"s:" + record[b"operation"], record[b"job"], id_)))
    return found


def test_within_its_slack_nothing_goes(redis: redis_py.Redis) -> None:
    press(redis, range(CAP + 50))
    assert redis.xlen(keys.AUDIT) == CAP + 50
    assert set(redis.zrange(keys.AUDIT_INDEX, 0, -1)) == expected_index(redis)


def test_beyond_it_the_oldest_go_with_their_members_of_the_index(redis: redis_py.Redis) -> None:
    refs = press(redis, range(CAP + 60))
    size = redis.xlen(keys.AUDIT)
    assert CAP <= size <= CAP + 50
    kept = [record[b"operation"].decode() for _, record in redis.xrange(keys.AUDIT)]
    assert kept == [f"op-{n}" for n in range(CAP + 60 - size, CAP + 60)]
    assert set(redis.zrange(keys.AUDIT_INDEX, 0, -1)) == expected_index(redis)
    log = AuditLog(redis)
    for n, ref in enumerate(refs):
        told = n >= CAP + 60 - size
        assert (log.recorded(f"op-{n}", "purge", ref.digest) is not None) == told
        assert len(log.of_digest(ref.digest)) == len(log.of_operation(f"op-{n}")) == told
    assert len(log.of_jid("x" * 200, most=1_000)) == len([n for n in range(CAP + 60 - size, CAP + 60) if n % 4 == 0])


def test_a_purge_of_everything_is_found_as_long_as_its_record(redis: redis_py.Redis) -> None:
    dead_letters(redis, cap=CAP).purge_all(by=ANN, operation="all")
    press(redis, range(CAP + 49))
    assert [record.operation for record in AuditLog(redis).of_purge_all()] == ["all"]
    press(redis, range(CAP + 49, CAP + 60))
    assert AuditLog(redis).of_purge_all() == []
    assert set(redis.zrange(keys.AUDIT_INDEX, 0, -1)) == expected_index(redis)


def test_an_operation_is_remembered_exactly_as_long_as_its_record(redis: redis_py.Redis) -> None:
    refs = press(redis, range(CAP + 51))
    queue = dead_letters(redis, cap=CAP)
    first_kept = CAP + 51 - redis.xlen(keys.AUDIT)
    assert first_kept == 20
    for n in (first_kept - 1, first_kept):
        assert queue.restore([refs[n].digest], operation=f"restore-{n}").done
        assert queue.purge_entries([refs[n]], operation=f"op-{n}").done
    assert redis.zrange(keys.DEAD, 0, -1) != []  # the remembered one did nothing
    (left,) = queue.page()
    assert left.digest == refs[first_kept].digest


def test_a_whole_log_over_its_cap_is_brought_back_in_steps(redis: redis_py.Redis) -> None:
    press(redis, range(140))
    call = scripts.TRIM_AUDIT.call(AuditLog.KEYS, (10, 0, 50))
    assert [scripts.send(redis, [call])[0] for _ in range(4)] == [50, 50, 30, 0]
    assert redis.xlen(keys.AUDIT) == 10
    assert set(redis.zrange(keys.AUDIT_INDEX, 0, -1)) == expected_index(redis)


def test_records_of_others_are_trimmed_too(redis: redis_py.Redis) -> None:
    for n in range(5):
        redis.xadd(keys.AUDIT, {"x": n, "operation": "o"})
    assert scripts.send(redis, [scripts.TRIM_AUDIT.call(AuditLog.KEYS, (1, 0, 300))]) == [4]
    assert redis.xlen(keys.AUDIT) == 1


def test_a_trim_that_fails_spoils_no_answer(redis: redis_py.Redis) -> None:
    press(redis, range(CAP + 50))
    redis.execute_command("ACL", "SETUSER", "no-trim", "on", "nopass", "~*", "+@all", "-xtrim", "-xlen")
    client = redis_py.Redis(port=redis.connection_pool.connection_kwargs["port"], username="no-trim", password="x")
    queue = dead_letters(client, cap=CAP)
    queue.add(DIED, [letter(1_000)])
    assert queue.purge([jid(1_000)], operation="op").done
    assert redis.xlen(keys.AUDIT) == CAP + 51
    client.close()
    redis.execute_command("ACL", "DELUSER", "no-trim")
