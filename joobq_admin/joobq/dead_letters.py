"""The dead-letter queue: paged reads, redrive, purge, restore. Each state change is one atomic script.

Needs Redis 7.0 or Valkey 7.2. Reads raise Unreachable when Redis does not answer, redis.ResponseError when it refuses.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import islice
from typing import TypeVar

from redis import Redis

from joobq_admin.joobq import keys, lookup, scripts
from joobq_admin.joobq.audit import Actor, AuditLog
from joobq_admin.joobq.bin import Bin
from joobq_admin.joobq.counting import Counting, Counts
from joobq_admin.joobq.entry import Entry, EntryRef, Score, is_digest
from joobq_admin.joobq.lookup import BUDGET, TOP, Cursor, Page, Where
from joobq_admin.joobq.operation import CONFLICT, DONE, MISSING, Answer, Operation, reason_of
from joobq_admin.joobq.outcome import AnswerLost, NotDone, Outcome, Refused, What
from joobq_admin.joobq.redriven import CannotRedrive, Redriven, redriven
from joobq_admin.joobq.scripts import Reply

T = TypeVar("T", str, EntryRef)


class DeadLetterQueue:
    """JoobQ's dead set on `redis`, a client that returns bytes.

    With `audit` every change is recorded in the step that makes it; without, `operation` has no effect. With `bin`
    (which needs `audit`) a purge can be undone for a while. `lifetime`: from now to the new `expires` of a redriven job
    whose own is past.
    """

    KEY = keys.DEAD.decode()
    COUNTS = keys.COUNTS.decode()
    UNKNOWN = ""  # the queue of an entry that names none
    CHUNK = lookup.CHUNK

    def __init__(
        self,
        redis: Redis,
        audit: AuditLog | None = None,
        bin: Bin | None = None,
        lifetime: timedelta = timedelta(hours=72),
    ) -> None:
        if redis.get_encoder().decode_responses:
            raise ValueError("entries are bytes: the client must not decode responses")
        if bin and not audit:
            raise ValueError("a bin needs an audit log: it is written in the same step")
        self.redis, self.audit, self.bin, self.lifetime = redis, audit, bin, lifetime
        self.counting = Counting(redis)

    # -- reading

    def count(self, queue: str | None = None) -> int:
        """Entries in all, or of one queue ('' = those that name none)."""
        counts = self.counts()
        return counts.total if queue is None else counts.get(queue, 0)

    def counts(self) -> Counts:
        """Entries per queue, without reading them; says itself how sure it is."""
        return self.counting.counts()

    def recount(self, deadline: float | None = None) -> Counts:
        """Exact counts now, without stopping Redis; `deadline`: when to give up, by time.monotonic()."""
        return self.counting.recount(deadline)

    def page(self, offset: int = 0, limit: int = 50, queue: str | None = None) -> list[Entry]:
        """Entries by position, newest first; both page through those of `queue`. Reads all up to there."""
        if offset < 0 or limit < 0:
            raise ValueError("offset and limit must not be negative")
        if queue is None:
            entries = self._all(start=TOP._replace(up=-offset))
        else:
            entries = islice(self._all(lookup.in_queue(queue)), offset, None)
        return list(islice(entries, limit))

    def walk(
        self,
        cursor: Cursor | None = None,
        limit: int = 50,
        queue: str | None = None,
        where: Where | None = None,
        budget: int = BUDGET,
        newer: bool = False,
    ) -> Page:
        """Up to `limit` entries from `cursor` (None: the newest), older ones, or with `newer` newer ones.

        Reads at most `budget` entries; a page that ended early says in `older` (or `newer`) where to go on.
        """
        if limit < 1 or budget < 1:
            raise ValueError("limit and budget must be positive")
        enough = None
        if queue is not None:
            where = lookup.in_queue(queue, where)
            if cursor is None and not newer and (counts := self.counts()).exact:
                enough = counts.get(queue, 0)
                if not enough:
                    return Page((), None, None, 0, None, True, 0)
        return lookup.walk(self.redis, cursor or TOP, limit, where, budget, newer, enough)

    def find(self, jid: str) -> Entry | None:
        """The newest entry of this job; reads the whole set when there is none."""
        return next(self._all(lookup.of_jobs(jid)), None)

    def find_all(self, jid: str, at: Score | None = None) -> list[Entry]:
        """All entries of this job, newest first; `at`: only those with this score. Reads the whole set."""
        return [entry for entry in self._all(lookup.of_jobs(jid)) if at is None or entry.score == at]

    def near(self, jid: str) -> list[Entry]:
        """Entries of this job by a bounded look: those at score 604800, and those among the newest 4,000."""
        return lookup.nearby(self.redis, [jid])

    def look_up(self, ref: EntryRef) -> Entry | None:
        """One entry by its identity: at its score, else (its score may have been renewed) by a bounded look."""
        here = lookup.find(self.redis, [ref]).get(ref)
        jids = [ref.jid] if ref.jid else []
        return here or next((e for e in lookup.nearby(self.redis, jids) if e.digest.startswith(ref.digest)), None)

    # -- what a redrive would do

    def refusal(self, entry: Entry) -> Refused | None:
        """Why a redrive of this entry would be refused; None when it would be tried."""
        try:
            self.preview(entry)
        except CannotRedrive as no:
            return Refused(entry.ref, no.reason, no.detail)
        return None

    def preview(self, entry: Entry) -> Redriven:
        """What a redrive would push now. Raises CannotRedrive."""
        return redriven(entry.raw, int(time.time() * 1000), self.lifetime // timedelta(milliseconds=1))

    # -- changing

    def add(self, score: int, members: Iterable[bytes]) -> int:
        """Adds members with one score (unix ms); how many were new. One that is there already gets the new score."""
        members = list(members)
        if isinstance(score, bool) or not isinstance(score, int) or not all(isinstance(m, bytes) for m in members):
            raise ValueError("a score is an integer, a member is bytes")
        added = 0
        for start in range(0, len(members), self.CHUNK):
            args = (score, *members[start : start + self.CHUNK])
            (reply,) = scripts.send(self.redis, [scripts.ADD.call((keys.DEAD, keys.COUNTS), args)])
            if isinstance(reply, Exception):
                raise reply
            if isinstance(reply, Reply):
                raise AnswerLost("the answer of add was lost")
            added += reply
        return added

    def redrive(
        self, jids: Iterable[str], *, by: Actor | None = None, reason: str = "", operation: str | None = None
    ) -> Outcome:
        """Sends the newest entry of each job to the front of its queue. Reads the set until all are found."""
        press = self._press(by, reason, operation)
        return self._by_jid("redrive", jids, press)

    def purge(
        self, jids: Iterable[str], *, by: Actor | None = None, reason: str = "", operation: str | None = None
    ) -> Outcome:
        """Takes the newest entry of each job out of the set: into the bin, or without one for good."""
        press = self._press(by, reason, operation)
        return self._by_jid("purge", jids, press)

    def redrive_reviewed(
        self,
        jid: str,
        expected_digest: str,
        at: Score | None = None,
        *,
        by: Actor | None = None,
        reason: str = "",
        operation: str | None = None,
    ) -> Outcome:
        """Sends precisely the entry that was reviewed. `at`: its score, which makes it cheap."""
        if at is None:
            here = next((entry for entry in self.find_all(jid) if entry.digest == expected_digest), None)
            at = here.score if here else 0
        return self.redrive_entries([EntryRef(at, expected_digest, jid)], by=by, reason=reason, operation=operation)

    def redrive_entries(
        self, refs: Iterable[EntryRef], *, by: Actor | None = None, reason: str = "", operation: str | None = None
    ) -> Outcome:
        """Sends each of these entries to the front of its queue; of one job only the newest."""
        wanted = _checked(refs)
        return _outcome(wanted, self._press(by, reason, operation).redrive(wanted, self.lifetime))

    def purge_entries(
        self, refs: Iterable[EntryRef], *, by: Actor | None = None, reason: str = "", operation: str | None = None
    ) -> Outcome:
        """Takes each of these entries out of the set: into the bin, or without one for good."""
        wanted = _checked(refs)
        return _outcome(wanted, self._press(by, reason, operation).purge(wanted))

    def restore(
        self, digests: Iterable[str], *, by: Actor | None = None, reason: str = "", operation: str | None = None
    ) -> Outcome:
        """Brings entries (by their digests) back out of the bin, with exactly their bytes and scores."""
        wanted = list(dict.fromkeys(digests))
        if not self.bin or not all(map(is_digest, wanted)):
            raise ValueError("restore needs a bin, and digests of 64 hex digits")
        return _outcome(wanted, self._press(by, reason, operation).restore(wanted))

    def purge_all(
        self,
        queue: str | None = None,
        *,
        by: Actor | None = None,
        reason: str = "",
        operation: str | None = None,
    ) -> int:
        """Everything, or every entry of one queue, goes for good; how many went.

        Of a queue only those entries go that were there at the beginning; when that is cut, AnswerLost says after how
        many. The same operation again does nothing and answers as recorded. Raises NotDone when nothing was done.
        """
        press = self._press(by, reason, operation)
        if queue is None:
            return press.purge_all()[0]
        first = {bytes.fromhex(entry.digest) for entry in self._all(lookup.in_queue(queue))}
        planned, before = press.purge_all(len(first), queue) if self.audit else (len(first), False)
        if before:
            return planned
        gone, entries = 0, self._all(lookup.in_queue(queue))
        while block := list(islice(entries, scripts.PIPELINE)):
            calls = [press.purge_call(e, recorded=False) for e in block if bytes.fromhex(e.digest) in first]
            replies = scripts.write(self.redis, calls) if calls else []
            gone += replies.count(Reply.DONE)
            if not {Reply.UNKNOWN, Reply.NOT_SENT}.isdisjoint(replies):
                raise AnswerLost(f"an answer was lost after {gone} entries")
            if refused := [reply for reply in replies if reply not in (Reply.DONE, Reply.GONE)]:
                raise NotDone(reason_of(refused[0]))
        return gone

    def _press(self, by: Actor | None, reason: str, operation: str | None) -> Operation:
        return Operation(self.redis, self.audit, self.bin, by, reason, operation)

    def _by_jid(self, action: str, jids: Iterable[str], press: Operation) -> Outcome:
        wanted = list(dict.fromkeys(jids))
        if not all(isinstance(jid, str) for jid in wanted):
            raise ValueError("a jid is text")
        before = self.audit.of_operation(press.id) if self.audit else []
        answers: dict[str, Answer] = {r.jid: DONE for r in before if r.action == action and r.jid in wanted}
        open_jids = {jid for jid in wanted if jid not in answers}
        refs = dict[EntryRef, str]()
        for entry in self._all(lookup.of_jobs(*open_jids)) if open_jids else ():
            if entry.jid in open_jids:
                refs[entry.ref] = entry.jid
                open_jids.discard(entry.jid)
            if not open_jids:
                break
        answers |= dict.fromkeys(open_jids, MISSING)
        asked = list(refs)
        done = press.redrive(asked, self.lifetime) if action == "redrive" else press.purge(asked)
        for ref, answer in done.items():  # a look-up that lost its race never falls on to the job's next entry
            jid = refs[ref]
            refused = isinstance(answer, Refused)
            answers[jid] = Refused(jid, answer.reason, answer.detail) if refused else answer
        return _outcome(wanted, {jid: MISSING if a == CONFLICT else a for jid, a in answers.items()})

    def _all(self, where: Where | None = None, start: Cursor = TOP) -> Iterator[Entry]:
        """Every entry that `where` accepts, newest first, read as it is asked for."""
        cursor: Cursor | None = start
        while cursor:
            page = lookup.walk(self.redis, cursor, self.CHUNK, where)
            yield from page.entries
            cursor = page.older


def _checked(refs: Iterable[EntryRef]) -> list[EntryRef]:
    """Each once, in the order of asking. Raises ValueError for what identifies no entry."""
    wanted = list(dict.fromkeys(refs))
    for ref in wanted:
        if not isinstance(ref, EntryRef) or not is_digest(ref.digest) or not isinstance(ref.jid, str | None):
            raise ValueError("an entry is named by EntryRef(score, digest of 64 hex digits, jid or None)")
        if isinstance(ref.score, bool) or not isinstance(ref.score, int | float) or ref.score != ref.score:
            raise ValueError("a score is a number")
    return wanted


def _outcome(wanted: Sequence[T], answers: Mapping[T, Answer]) -> Outcome:
    groups: dict[str, tuple[What, ...]] = {}
    refused = []
    for what in wanted:
        answer = answers[what]
        if isinstance(answer, Refused):
            refused.append(answer)
        else:
            groups[answer] = (*groups.get(answer, ()), what)
    return Outcome(refused=tuple(refused), **groups)
