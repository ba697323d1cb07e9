from datetime import UTC, datetime, timedelta

from redis import Redis

from joobq_admin.joobq import keys
from joobq_admin.joobq.audit import AuditLog, RecordPage

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


def kept(redis: Redis, records: int) -> AuditLog:
    """A record a minute until noon, by turns by ann and bob; the newest is operation 0."""
    for n in reversed(range(records)):
        at = int((NOON - timedelta(minutes=n)).timestamp() * 1000)
        redis.xadd(keys.AUDIT, {"action": "redrive", "operation": n, "by": "ab"[n % 2]}, id=f"{at}-0")
    return AuditLog(redis)


def operations(page: RecordPage) -> list[int]:
    return [int(record.operation) for record in page.records]


def test_pages_join_up(redis: Redis) -> None:
    log = kept(redis, 450)
    pages, older = [log.page(limit=100)], None
    while older := pages[-1].older:
        pages.append(log.page(older, limit=100))
    assert [operation for page in pages for operation in operations(page)] == list(range(450))


def test_by_somebody(redis: Redis) -> None:
    page = kept(redis, 30).page(limit=10, where=lambda record: record.by == "b")
    assert operations(page) == list(range(1, 21, 2))
    assert operations(kept_on(redis, page)) == [21, 23, 25, 27, 29]


def kept_on(redis: Redis, page: RecordPage) -> RecordPage:
    assert page.older
    return AuditLog(redis).page(page.older, limit=10, where=lambda record: record.by == "b")


def test_since(redis: Redis) -> None:
    page = kept(redis, 30).page(since=NOON - timedelta(minutes=4))
    assert operations(page) == [0, 1, 2, 3, 4]
    assert page.older is None


def test_a_look_ends_with_its_budget_and_goes_on(redis: Redis) -> None:
    log = kept(redis, 30)
    page = log.page(limit=10, where=lambda record: record.operation == "29", budget=20)
    assert (operations(page), page.older is not None) == ([], True)
    assert operations(log.page(page.older or "", where=lambda record: record.operation == "29")) == [29]


def test_an_empty_log(redis: Redis) -> None:
    assert AuditLog(redis).page() == RecordPage((), None)
