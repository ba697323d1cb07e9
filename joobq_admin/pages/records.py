"""The audit log, for pages that can do without it: where it cannot be read they tell less, and say so."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from joobq_admin import connection
from joobq_admin.connection import audit_log
from joobq_admin.joobq import refusals
from joobq_admin.joobq.audit import Record
from joobq_admin.joobq.entry import Entry

T = TypeVar("T")


def of_jobs(jids: Iterable[str]) -> tuple[dict[str, list[Record]], str]:
    """What was done to each job, by jid, the newest first; and why that is not told ('' = it is)."""
    return _read(lambda: audit_log().of_jids(jids), {})


def of_entry(entry: Entry) -> tuple[list[Record], str]:
    """The same of an entry and of others of its job."""
    log = audit_log()
    return _read(lambda: log.of_jid(entry.jid) if entry.jid else log.of_digest(entry.digest), [])


def _read(look: Callable[[], T], without: T) -> tuple[T, str]:
    try:
        return look(), ""
    except connection.TROUBLE as trouble:
        if not refusals.locked(trouble):
            raise
        said = refusals.said(trouble).removesuffix(".")
        return without, f"What was done before is not told: the audit log cannot be read. Redis said: {said}."
