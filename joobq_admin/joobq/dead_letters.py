"""The dead-letter queue: paged reads, redrive, purge, restore. Each state change is one atomic script.

Needs Redis 7.0 or Valkey 7.2. Reads raise Unreachable when Redis does not answer, redis.ResponseError when it refuses.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import islice, takewhile
from typing import Unpack

from redis import Redis

from joobq_admin.joobq import asked, keys, lookup, scripts
from joobq_admin.joobq.audit import AuditLog
from joobq_admin.joobq.bin import Bin
from joobq_admin.joobq.counting import Counting, Counts
from joobq_admin.joobq.entry import Entry, EntryRef, Score
from joobq_admin.joobq.filters import Where, in_queue, of_jobs
from joobq_admin.joobq.lookup import BUDGET, TOP, Cursor, Near, Page
from joobq_admin.joobq.operation import CONFLICT, MISSING, Operation, Press
from joobq_admin.joobq.outcome import Answer, AnswerLost, Outcome, Refusal, Refused, outcome_of
from joobq_admin.joobq.overview import ANY, NOTHING, Numbers, Overview, Wanted, overview
from joobq_admin.joobq.purging import Purging
from joobq_admin.joobq.redriven import CannotRedrive, Redriven, redriven
from joobq_admin.joobq.scripts import Reply
from joobq_admin.joobq.unredacted import Giving


class DeadLetterQueue:
    """JoobQ's dead set on `redis`, a client that returns bytes.

    With `audit` every change is recorded in the step that makes it; without, `operation` has no effect. With `bin`
    (which needs `audit`) a purge can be undone for a while. `lifetime`: from now to a redriven job's new `expires`.
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
        self.counting, self._in_bin = Counting(redis), [Bin.COUNT] if bin else []

    # -- reading

    def count(self, queue: str | None = None) -> int:
        """Entries in all, or of one queue ('' = those that name none)."""
        counts = self.counts()
        return counts.total if queue is None else counts.get(queue, 0)

    def counts(self) -> Counts:
        """Entries per queue, without reading them; says itself how sure it is."""
        return self.counting.counts()

    def numbers(self) -> Numbers:
        """The same with the number of the bin, in one round trip."""
        counted, *binned = scripts.read(self.redis, [Counting.CALL], self._in_bin)
        return Numbers(self.counting.counts(counted), *binned)

    def recount(self, deadline: float | None = None) -> Counts:
        """Exact counts now, without stopping Redis; `deadline`: when to give up, by time.monotonic()."""
        return self.counting.recount(deadline)

    def page(self, offset: int = 0, limit: int = 50, queue: str | None = None) -> list[Entry]:
        """Entries by position, newest first; both page through those of `queue`. Reads all up to there."""
        asked.whole("offset", offset, 0)
        asked.whole("limit", limit, 0)
        asked.queue(queue)
        if queue is None:
            step = max(1, min(limit, self.CHUNK))
            entries = lookup.every(self.redis, start=TOP._replace(up=-offset), step=step)
        else:
            entries = islice(lookup.every(self.redis, in_queue(queue)), offset, None)
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
        asked.whole("limit", limit, 1)
        asked.whole("budget", budget, 1)
        if not isinstance(cursor, Cursor | None):
            raise ValueError("no cursor")
        asked.queue(queue)
        enough = None
        if queue is not None:
            where = in_queue(queue, where)
            if cursor is None and not newer:
                enough = self.counting.certain(queue, *scripts.read(self.redis, [Counting.CALL]))
            if enough == 0:
                return NOTHING
        return lookup.walk(self.redis, cursor or TOP, limit, where, budget, newer, enough)

    def overview(
        self,
        cursor: Cursor | None = None,
        limit: int = 50,
        queue: str | None = None,
        newer: bool = False,
        wanted: Wanted = ANY,
        beside: Sequence[scripts.Call] = (),
    ) -> Overview:
        """What a list shows, the page as `walk` gives it; one round trip, unless a filter has to read on.

        `wanted`: what else is looked for, and within which time; `beside`: calls that change nothing, sent along.
        """
        asked.whole("limit", limit, 1)
        asked.queue(queue)
        around = (self.redis, self.counting, self._in_bin)
        return overview(*around, cursor, limit, queue, newer, wanted, beside)

    def find(self, jid: str) -> Entry | None:
        """The newest entry of this job; reads the whole set when there is none."""
        return next(lookup.every(self.redis, of_jobs(asked.jid(jid))), None)

    def find_all(self, jid: str, at: Score | None = None) -> list[Entry]:
        """All entries of this job, newest first, by reading the whole set; `at`: only those with this score."""
        of_job = of_jobs(asked.jid(jid))
        if at is None:
            return list(lookup.every(self.redis, of_job))
        here = lookup.every(self.redis, start=Cursor(asked.score(at), TOP.prefix))
        return list(filter(of_job, takewhile(lambda entry: entry.score == at, here)))

    def near(self, jid: str) -> Near:
        """Entries of this job by a bounded look: the newest 4,000 at score 604800, and those among the newest 4,000."""
        return lookup.nearby(self.redis, [asked.jid(jid)])

    def look_up(self, ref: EntryRef) -> Entry | None:
        """One entry by its identity: at its score, else (its score may have been renewed) by a bounded look."""
        here = lookup.find(self.redis, [asked.ref(ref)]).get(ref)
        if here is None:
            near = lookup.nearby(self.redis, [ref.jid] if ref.jid else [], [ref.digest])
            here = next((entry for entry in near.entries if entry.digest.startswith(ref.digest)), None)
        return here

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
        members, added = asked.members(members), 0
        asked.score(asked.whole("a score", score))
        for start in range(0, len(members), self.CHUNK):
            args = (score, *members[start : start + self.CHUNK])
            (reply,) = scripts.send(self.redis, [scripts.ADD.call((keys.DEAD, keys.COUNTS), args)])
            if isinstance(reply, Exception):
                raise reply
            if isinstance(reply, Reply):
                raise AnswerLost("the answer of add was lost")
            added += reply
        return added

    def redrive(self, jids: Iterable[str], **press: Unpack[Press]) -> Outcome:
        """Sends the newest entry of each job to the front of its queue. Reads the set until all are found."""
        wanted, operation = asked.jids(jids), self._operation(**press)
        return outcome_of(wanted, lambda: self._by_jid("redrive", wanted, operation))

    def purge(self, jids: Iterable[str], **press: Unpack[Press]) -> Outcome:
        """Takes the newest entry of each job out of the set: into the bin, or without one for good."""
        wanted, operation = asked.jids(jids), self._operation(**press)
        return outcome_of(wanted, lambda: self._by_jid("purge", wanted, operation))

    def redrive_reviewed(
        self, jid: str, expected_digest: str, at: Score | None = None, **press: Unpack[Press]
    ) -> Outcome:
        """Sends precisely the entry that was reviewed. `at`: its score, which makes it cheap."""
        wanted = asked.refs([EntryRef(0 if at is None else at, expected_digest, asked.jid(jid))])
        operation = self._operation(**press)

        def redrive() -> Mapping[EntryRef, Answer]:
            if at is None:
                with scripts.looking(Refusal.DEAD_BROKEN):
                    deaths = lookup.every(self.redis, of_jobs(jid))
                    wanted[0] = next((death.ref for death in deaths if death.digest == expected_digest), wanted[0])
            return operation.redrive(wanted, self.lifetime)

        return outcome_of(wanted, redrive)

    def redrive_entries(self, refs: Iterable[EntryRef], **press: Unpack[Press]) -> Outcome:
        """Sends each of these entries to the front of its queue; of one job only the newest."""
        wanted, operation = asked.refs(refs), self._operation(**press)
        return outcome_of(wanted, lambda: operation.redrive(wanted, self.lifetime))

    def purge_entries(self, refs: Iterable[EntryRef], for_good: bool = False, **press: Unpack[Press]) -> Outcome:
        """Takes each of these entries out of the set: into the bin, or without one or `for_good` for good."""
        wanted, operation = asked.refs(refs), self._operation(**press)
        return outcome_of(wanted, lambda: operation.purge(wanted, for_good))

    def restore(self, digests: Iterable[str], **press: Unpack[Press]) -> Outcome:
        """Brings entries (by their digests) back out of the bin, with exactly their bytes and scores."""
        wanted, operation = asked.digests(digests), self._operation(**press)
        if not self.bin:
            raise ValueError("restore needs a bin")
        return outcome_of(wanted, lambda: operation.restore(wanted))

    def empty(self, digests: Iterable[str], **press: Unpack[Press]) -> Outcome:
        """Takes entries (by their digests) out of the bin for good."""
        wanted, operation = asked.digests(digests), self._operation(**press)
        if not self.bin:
            raise ValueError("there is no bin")
        return outcome_of(wanted, lambda: operation.empty(wanted))

    def purge_all(self, queue: str | None = None, **press: Unpack[Press]) -> int:
        """Everything, or every entry of one queue, goes for good; how many went.

        Of a queue only those entries go that were there at the beginning. AnswerLost when that is cut: the same
        operation goes on with it, and once all is done answers as recorded. NotDone when nothing was done.
        """
        operation = Purging(self.redis, self.audit, self.bin, **press)
        asked.queue(queue)
        return operation.purge_all() if queue is None else operation.purge_queue(queue)

    def unredacted(self, ref: EntryRef, **press: Unpack[Press]) -> bytes | Outcome:
        """Exactly this entry's bytes, once a record says who has them; else what stood in the way. Needs an audit log.

        The same operation of the same person again is no second record.
        """
        (wanted,) = asked.refs([ref])
        return Giving(self.redis, self.audit, None, **press).unredacted(wanted)

    def ask_the_primary(self) -> None:
        """Raises NotDone when this server may lag behind another or takes no changes: "not here" is no answer then."""
        self._operation().ask_the_primary()

    def _operation(self, **press: Unpack[Press]) -> Operation:
        return Operation(self.redis, self.audit, self.bin, **press)

    def _by_jid(self, action: str, jids: Sequence[str], operation: Operation) -> Mapping[str, Answer]:
        answers = operation.done_before(action, jids)
        with scripts.looking(Refusal.DEAD_BROKEN):
            newest = lookup.newest_of(self.redis, {jid for jid in jids if jid not in answers})
        answers |= operation.done_before(action, [jid for jid in jids if jid not in answers])  # done while we looked
        refs = {ref: jid for jid, ref in newest.items() if jid not in answers}
        if missing := [jid for jid in jids if jid not in answers and jid not in newest]:
            operation.ask_the_primary()
            answers |= dict.fromkeys(missing, MISSING)
        done = operation.redrive(list(refs), self.lifetime) if action == "redrive" else operation.purge(list(refs))
        for ref, answer in done.items():  # a look-up that lost its race never falls on to the job's next entry
            if isinstance(answer, Refused):
                answer = Refused(refs[ref], answer.reason, answer.detail)
            answers[refs[ref]] = MISSING if answer == CONFLICT else answer
        return answers
