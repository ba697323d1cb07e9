"""The only bridge from the settings to the port. Everything is made when it is first asked for, so after the fork."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from functools import cache
from typing import Any, Unpack

from django.conf import settings
from redis import Redis, exceptions
from redis.backoff import NoBackoff
from redis.retry import Retry

from joobq_admin.joobq import conditions, lookup, queues, refusals, scripts, server, sessions
from joobq_admin.joobq.audit import AuditLog
from joobq_admin.joobq.bin import Bin
from joobq_admin.joobq.conditions import Condition, Question
from joobq_admin.joobq.counting import Counting
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.delivery import Discovery, Ledger, LedgerStats
from joobq_admin.joobq.entry import Entry, EntryRef
from joobq_admin.joobq.operation import Press
from joobq_admin.joobq.outcome import Refusal, Unreachable
from joobq_admin.joobq.purging import Purging
from joobq_admin.triage.groups import Grouping
from joobq_admin.triage.lately import Lately
from joobq_admin.triage.redact import Redaction

CONNECT_WITHIN = 2.0  # seconds

#: What reading may raise: Redis does not answer, or it answers that it will not.
TROUBLE: tuple[type[Exception], ...] = (Unreachable, exceptions.RedisError)


@cache
def client() -> Redis:
    """One pool of connections a process."""
    return connect(settings)


def connect(to: Any) -> Redis:
    """A client of the Redis that the settings name. Bytes in, bytes out; what fails, fails at once."""
    authority = {"ssl_ca_certs": to.REDIS_CA_FILE} if to.REDIS_CA_FILE else {}
    return Redis.from_url(
        to.REDIS_URL,
        socket_connect_timeout=CONNECT_WITHIN,
        socket_timeout=refusals.ANSWER_WITHIN,
        retry=Retry(NoBackoff(), 0),
        **authority,
    )


@cache
def audit_log() -> AuditLog:
    return AuditLog(client(), cap=settings.AUDIT_ENTRIES)


@cache
def dead_letters() -> DeadLetterQueue:
    return DeadLetterQueue(
        client(),
        audit=audit_log(),
        bin=Bin(client(), keep=timedelta(hours=settings.BIN_HOURS), room=settings.BIN_MB << 20),
        lifetime=timedelta(hours=settings.REDRIVE_EXPIRES_HOURS),
    )


def shortcoming() -> str | None:
    """Why the dashboard cannot work on what answers as Redis, in words; None when it can. Raises TROUBLE."""
    if shortcoming := server.shortcoming(client()):
        return shortcoming
    scripts.read(client(), [Counting.CALL])  # what every page reads first
    return None


def purging(**press: Unpack[Press]) -> Purging:
    """A purge of everything of one queue, for who goes on with it step by step."""
    return Purging(client(), audit_log(), None, **press)


def ledgers() -> list[tuple[str, str]]:
    """(namespace, queue) of every delivery ledger. Raises TROUBLE."""
    return Ledger.discover(client())


def ledger(namespace: str, queue: str, **limits: int) -> Ledger:
    """One delivery ledger; `limits` as its producers give them. Raises ValueError for names that none can have."""
    return Ledger(client(), namespace, queue, **limits)


@cache
def discovery() -> Discovery:
    """What this process knows of the ledgers there are."""
    return Discovery(client())


def stats_of(of: Sequence[Ledger]) -> list[LedgerStats | exceptions.RedisError]:
    """How much each of these ledgers holds; of one that is `locked` the error in its place. Raises TROUBLE."""
    return Ledger.stats_of(client(), of)


def holding(request_id: str, of: Sequence[Ledger]) -> tuple[list[Ledger], list[Ledger]]:
    """Those of these ledgers where something is kept under this request id, and those that are `locked`.

    Raises ValueError, TROUBLE.
    """
    return Ledger.holding(client(), request_id, of)


def trace(queue: str, jid: str) -> queues.Trace:
    """Where a job is now, dead or not, as far as one bounded look can tell. Raises TROUBLE."""
    return queues.trace(client(), queue, jid)


def found(refs: Sequence[EntryRef]) -> dict[EntryRef, Entry]:
    """Those of these entries that stand at their scores. Raises TROUBLE."""
    return lookup.find(client(), refs)


def while_signed_in(ids: Sequence[str], began: int) -> AbstractContextManager[Condition]:
    """Within it the first thing that is read, or asked, raises SessionOver if this session was ended elsewhere."""
    return conditions.first(sessions.still_on(ids, began))


def asking_for_changes() -> AbstractContextManager[Question]:
    """Within it the first thing that is read also asks whether Redis takes changes; `refused` reads what it said."""
    return conditions.behind(server.takes_changes())


def refused(question: Question) -> Refusal | None:
    """Why Redis takes no changes, as far as it said so."""
    return server.refused(question)


def ask() -> None:
    """Asks now what nobody has asked yet within `while_signed_in`. Raises SessionOver, TROUBLE."""
    scripts.read(client(), [])


def end_sessions(id_: str, until: int = sessions.ALL) -> None:
    """Ends the sessions of this id that began until then. Again is the same. Raises TROUBLE."""
    sessions.end(client(), id_, timedelta(hours=settings.SESSION_HOURS), until)


def address() -> str:
    """Where Redis is, without user and password."""
    options = client().connection_pool.connection_kwargs
    return str(options.get("path") or f"{options.get('host')}:{options.get('port')}")


@cache
def redaction() -> Redaction:
    """What of an entry is never shown."""
    return Redaction(settings.REDACT)


@cache
def lately() -> Lately:
    """What died within the hour."""
    return Lately(dead_letters(), redaction())


@cache
def grouping() -> Grouping:
    """The dead letters by error, counted while somebody looks."""
    return Grouping(dead_letters(), redaction())
