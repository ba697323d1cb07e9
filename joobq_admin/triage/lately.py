"""What died within the hour, by error: told from the newest entries, which are looked at anew every few seconds."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any, NamedTuple

from joobq_admin.joobq import lookup, scripts
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.entry import Score, unix_ms
from joobq_admin.joobq.filters import Span
from joobq_admin.joobq.lookup import CHUNK, Cursor
from joobq_admin.joobq.spread import spread_call, spread_of
from joobq_admin.triage.fingerprint import Fingerprint, fingerprint, id_of, key_of
from joobq_admin.triage.redact import Redaction

HOUR, MINUTES = timedelta(hours=1), timedelta(minutes=5)
AHEAD = timedelta(minutes=1)  # a worker's clock may be so far ahead; what is dated later tells nothing of this hour
APART = timedelta(seconds=30)  # and ours from the server's, or it is asked again by that
LOOK, SECONDS = CHUNK, 0.15  # entries, and for how long they are looked at: a message can be made to be slow
LOOK_AGAIN = 5.0  # seconds
MOST, FEWEST = 0.5, 10  # an incident: so large a part of those that were looked at is one error, and so many


class Death(NamedTuple):
    """`error`: its fingerprint's id."""

    error: str
    queue: str
    at: datetime
    digest: str


@dataclass(frozen=True, slots=True)
class Incident:
    """One error that most of the hour died of: `count` of the `looked` newest of its `deaths`.

    `queues`: how many of each, most first. `first`: the earliest of them.
    """

    error: Fingerprint
    count: int
    looked: int
    deaths: int
    queues: tuple[tuple[str, int], ...]
    first: datetime

    @property
    def percent(self) -> int:
        """Of those that were looked at, rounded down."""
        return 100 * self.count // self.looked

    @property
    def whole(self) -> bool:
        """Was all of the hour looked at? Else `first` may not be the first."""
        return self.looked == self.deaths


@dataclass(frozen=True, slots=True)
class Arriving:
    """Deaths of one error since a moment; not `whole`: at least so many."""

    count: int
    last: datetime
    whole: bool


@dataclass(frozen=True, slots=True)
class Look:
    """The newest of the `deaths` within the hour before `as_of` (the server's clock), by score; at most 200.

    `since`: when this hour began. Clocks that are a little ahead are taken back to `as_of`.
    """

    newest: tuple[Death, ...]
    errors: Mapping[str, Fingerprint]
    deaths: int
    since: datetime
    as_of: datetime

    @property
    def incident(self) -> Incident | None:
        """The error that makes up most of the last hour, as far as the newest tell."""
        for name, count in Counter(death.error for death in self.newest).most_common(1):
            if count >= max(FEWEST, MOST * len(self.newest)):
                of_it = [death for death in self.newest if death.error == name]
                queues = Counter(death.queue for death in of_it).most_common()
                return Incident(self.errors[name], count, len(self.newest), self.deaths, tuple(queues), of_it[-1].at)
        return None

    def arriving(self, error: str, besides: str = "") -> Arriving | None:
        """Is this error (a fingerprint's id) still arriving: who died of it within five minutes?

        `besides`: the digest of an entry that does not count.
        """
        return self.died(error, self.as_of - MINUTES, besides)

    def died(self, error: str, since: datetime, besides: str = "", queue: str | None = None) -> Arriving | None:
        """Who died of this error since then; of one queue, or of any."""
        found = [
            death.at
            for death in self.newest
            if death.error == error and death.at >= since and death.digest != besides and queue in (None, death.queue)
        ]
        return Arriving(len(found), found[0], self.covers(since)) if found else None

    def covers(self, since: datetime) -> bool:
        """Were all deaths since then looked at?"""
        if len(self.newest) < self.deaths:
            return self.newest[-1].at < since
        return since >= self.since


class Question:
    """What a look asks, to be sent with other calls; `look` reads the replies. `now`: by the server's clock."""

    def __init__(self, queue: DeadLetterQueue, redaction: Redaction, now: datetime) -> None:
        self._queue, self._redaction, self._now = queue, redaction, now
        self._span = Span(_score(now - HOUR), _score(now + AHEAD))
        self.calls = [spread_call(self._span), lookup.first_call(Cursor(self._span.until), LOOK, False, LOOK, False)]

    def look(self, replies: Sequence[Any]) -> Look:
        """Without asking more, unless entries are large or clocks differ. Raises Unreachable, or what Redis says."""
        found, rows, redis = spread_of(replies[0]), lookup.rows_of(replies[1]), self._queue.redis
        if abs(found.as_of - self._now) > APART:
            again = Question(self._queue, self._redaction, found.as_of)
            return again.look(scripts.read(redis, again.calls))
        page = lookup.walk(redis, Cursor(self._span.until), LOOK, rows=rows, span=self._span)
        errors, newest, deadline = dict[str, Fingerprint](), list[Death](), monotonic() + SECONDS
        for entry in page.entries:
            error = id_of(key_of(entry, self._redaction))
            if error not in errors:
                errors[error] = fingerprint(entry, self._redaction)
            died = min(datetime.fromtimestamp(entry.score / 1000, UTC), found.as_of)
            newest.append(Death(error, entry.queue, died, entry.digest))
            if monotonic() > deadline:
                break
        return Look(tuple(newest), errors, max(found.between[0], len(newest)), self._now - HOUR, found.as_of)


class Lately:
    """The last look of a process. May be called from any thread; two that look at once look twice."""

    def __init__(self, queue: DeadLetterQueue, redaction: Redaction) -> None:
        self._queue, self._redaction = queue, redaction
        self._look: Look | None = None
        self._again_at, self._ahead = 0.0, timedelta()  # by so much the server's clock is ahead of ours

    def question(self) -> Question | None:
        """What `look` is to be told; None while the last look is at most five seconds old."""
        fresh = self._look is not None and monotonic() < self._again_at
        return None if fresh else Question(self._queue, self._redaction, datetime.now(UTC) + self._ahead)

    def look(self, question: Question | None = None, replies: Sequence[Any] = ()) -> Look:
        """At most five seconds old; one round trip, or none with the `replies` to a `question`.

        Raises Unreachable, or what Redis says.
        """
        if not replies and (question := self.question()):
            replies = scripts.read(self._queue.redis, question.calls)
        if question:
            look = self._look = question.look(replies)
            self._again_at, self._ahead = monotonic() + LOOK_AGAIN, look.as_of - datetime.now(UTC)
        assert self._look
        return self._look


def _score(at: datetime) -> Score:
    return round(unix_ms(at))
