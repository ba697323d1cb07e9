"""The audit log, for pages that can do without it: where it cannot be read they tell less, and say so."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

from joobq_admin import connection
from joobq_admin.connection import audit_log
from joobq_admin.joobq.audit import Record
from joobq_admin.joobq.entry import Entry

T = TypeVar("T")


class OfJobs(NamedTuple):
    """What was done to each job, by jid, the newest first; `unread`: why that is not told."""

    by_jid: dict[str, list[Record]]
    unread: str


class OfEntry(NamedTuple):
    """What was done to an entry or to others of its job, the newest first; `unread`: why that is not told."""

    records: list[Record]
    unread: str


def of_jobs(jids: Iterable[str]) -> OfJobs:
    return OfJobs(*_read(lambda: audit_log().of_jids(jids), {}))


def of_entry(entry: Entry) -> OfEntry:
    log = audit_log()
    return OfEntry(*_read(lambda: log.of_jid(entry.jid) if entry.jid else log.of_digest(entry.digest), []))


def _read(look: Callable[[], T], without: T) -> tuple[T, str]:
    try:
        return look(), ""
    except connection.TROUBLE as trouble:
        if not connection.locked(trouble):
            raise
        said = connection.said(trouble).removesuffix(".")
        return without, f"What was done before is not told: the audit log cannot be read. Redis said: {said}."
