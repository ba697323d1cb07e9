"""What died within the hour, by error: told from the newest entries, which are looked at anew every few seconds."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import NamedTuple

from joobq_admin.joobq import lookup
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.entry import TIMES_TO
from joobq_admin.joobq.filters import Span
from joobq_admin.joobq.lookup import CHUNK, Cursor
from joobq_admin.joobq.spread import spread
from joobq_admin.triage.fingerprint import Fingerprint, fingerprint
from joobq_admin.triage.redact import Redaction

HOUR, MINUTES = timedelta(hours=1), timedelta(minutes=5)
LOOK = CHUNK  # entries
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
    """Deaths of one error in the last five minutes; not `whole`: at least so many."""

    count: int
    last: datetime
    whole: bool


@dataclass(frozen=True, slots=True)
class Look:
    """The newest of the `deaths` within the hour before `as_of` (the server's clock), by score; at most 200."""

    newest: tuple[Death, ...]
    errors: Mapping[str, Fingerprint]
    deaths: int
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
        """Is this error (a fingerprint's id) still arriving? `besides`: the digest of an entry that does not count."""
        since = self.as_of - MINUTES
        found = [
            death.at for death in self.newest if death.at >= since and death.error == error and death.digest != besides
        ]
        whole = len(self.newest) == self.deaths or self.newest[-1].at < since
        return Arriving(len(found), found[0], whole) if found else None


class Lately:
    """Kept by a process. `look` may be called from any thread; two that look at once look twice."""

    def __init__(self, queue: DeadLetterQueue, redaction: Redaction) -> None:
        self._queue, self._redaction = queue, redaction
        self._look: Look | None = None
        self._again_at = 0.0

    def look(self) -> Look:
        """At most five seconds old; a new one is two or three round trips. Raises Unreachable, or what Redis says."""
        if self._look is None or monotonic() >= self._again_at:
            self._look, self._again_at = self._looked(), monotonic() + LOOK_AGAIN
        return self._look

    def _looked(self) -> Look:
        redis = self._queue.redis
        as_of = spread(redis, [TIMES_TO]).as_of
        since = round((as_of - HOUR).timestamp() * 1000)
        page = lookup.walk(redis, Cursor(TIMES_TO), LOOK, span=Span(since, TIMES_TO))
        errors, newest = dict[str, Fingerprint](), list[Death]()
        for entry in page.entries:
            error = fingerprint(entry, self._redaction)
            errors.setdefault(error.id, error)
            newest.append(Death(error.id, entry.queue, datetime.fromtimestamp(entry.score / 1000, UTC), entry.digest))
        deaths = len(newest) if page.complete else spread(redis, [since, TIMES_TO]).between[0]
        return Look(tuple(newest), errors, max(deaths, len(newest)), as_of)
