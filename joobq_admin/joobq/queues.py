"""Where a job is that is not dead: JoobQ's own lists, read only, and only their nearest jobs.

The front of a queue, which runs next, is the right end of its list.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from redis import Redis

from joobq_admin.joobq import keys, lookup, scripts
from joobq_admin.joobq.entry import TIMES_FROM, TIMES_TO, Entry, Score, read_score, to_bytes
from joobq_admin.joobq.filters import of_jobs
from joobq_admin.joobq.scripts import Call

LOOK, LOOK_BYTES = 200, 1 << 20  # jobs of each key, and bytes of all, that one look goes through: under 2 ms of Redis


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """What was seen of a job at `as_of`, by the server's clock."""

    as_of: datetime
    waiting: int | None  # jobs in `<queue>`; None when that key holds no list
    place: int | None  # in `<queue>`, from the front: 1 runs next
    processing: bool  # in `joobq:processing:<queue>`: a worker has it, or left it behind
    delayed: bool  # in `joobq:delayed_jobs`
    due: datetime | None  # when it will be retried, where its score there is a time
    whole: bool  # every job of the three keys was looked at: what was not seen is not there


@dataclass(frozen=True, slots=True)
class Trace:
    """What one look saw of a job: where it is when it is not dead, and which of its entries are in the dead set."""

    job: Whereabouts
    dead: tuple[Entry, ...]  # among the newest `looked`, and among those at 604800 that begin as an entry of the job
    looked: int
    back_to: Score | None  # entries with a higher score were all looked at; None: all entries were


@dataclass(frozen=True, slots=True)
class Workers:
    """What was seen of a queue's workers at `as_of`; they look for jobs ten times a second. None: not to be read.

    `waiting`: jobs in `<queue>`; `processing`: in `joobq:processing:<queue>`, being run or left behind by a crash;
    `processed`: its field in `joobq:stats:processed`, 0 when there is none.
    """

    as_of: datetime
    waiting: int | None
    processing: int | None
    processed: int | None

    @property
    def seen(self) -> bool:
        """Is there a sign of one? Not: nothing is being run though jobs wait, or though nothing ever was."""
        return self.processing != 0 or not (self.waiting or self.processed == 0)


class Outlook(NamedTuple):
    """`job`: where it is, dead or not; None without a jid. `beside`: the replies to the calls beside."""

    job: Whereabouts | None
    workers: Workers
    beside: Sequence[Any] = ()


def outlook(redis: Redis, queue: str, jid: str | None, beside: Sequence[Call] = ()) -> Outlook:
    """Where a job is besides the dead set, and its queue's workers, in one round trip.

    `beside`: calls that change nothing. Raises Unreachable, or what Redis says to these.
    """
    name = to_bytes(queue)
    signs = [("LLEN", name), ("LLEN", keys.processing(name)), ("HMGET", keys.PROCESSED, name)]
    job = [_whereabouts_call(queue, jid)] if jid else []
    (seconds, _), *replies = scripts.read(redis, [("TIME",), *beside], [*signs, *job])
    waiting, processing, processed, *seen = replies[len(beside) :]
    as_of = datetime.fromtimestamp(int(seconds), UTC)
    return Outlook(
        job=_whereabouts(seen[0]) if seen and seen[0] else None,
        workers=Workers(as_of, waiting, processing, None if processed is None else _count(processed[0])),
        beside=replies[: len(beside)],
    )


def _count(text: bytes | None) -> int | None:
    return int(text) if text and text.isdigit() else None if text else 0


def trace(redis: Redis, queue: str, jid: str) -> Trace:
    """Looks for a job and for its newest deaths, in one round trip. Raises Unreachable, or what Redis says."""
    untimed = lookup.beginning_as(jid)
    calls = [lookup.seek_call(lookup.TOP, "older", LOOK, LOOK_BYTES)]
    calls += [lookup.seek_call(untimed, "match", lookup.FIRST_LOOK, LOOK_BYTES)] if untimed else []
    seen, *found = scripts.read(redis, [_whereabouts_call(queue, jid), *calls])
    newest, *others = map(lookup.rows_of, found)
    entries = {entry.raw: entry for rows in (newest, *others) for entry in rows.entries if of_jobs(jid)(entry)}
    whole = len(newest.entries) >= newest.size
    return Trace(
        job=_whereabouts(seen),
        dead=tuple(sorted(entries.values(), key=lookup.newest, reverse=True)),
        looked=len(newest.entries),
        back_to=None if whole else newest.entries[-1].score,
    )


def _whereabouts_call(queue: str, jid: str) -> Call:
    name = to_bytes(queue)
    args = (to_bytes(jid), LOOK, LOOK_BYTES)
    return scripts.WHEREABOUTS.call((name, keys.processing(name), keys.DELAYED), args, read_only=True)


def _whereabouts(reply: list[Any]) -> Whereabouts:
    seconds, length, place, running, due, whole = reply
    score = read_score(due) if due else 0
    return Whereabouts(
        as_of=datetime.fromtimestamp(int(seconds), UTC),
        waiting=None if length < 0 else length,
        place=place or None,
        processing=bool(running),
        delayed=bool(due),
        due=datetime.fromtimestamp(score / 1000, UTC) if TIMES_FROM <= score < TIMES_TO else None,
        whole=bool(whole),
    )
