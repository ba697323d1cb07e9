"""Records that were set aside: what is kept of each, and what an operator who has reviewed it does."""

import hashlib

from joobq_admin.joobq import scripts
from joobq_admin.joobq.audit import Actor
from joobq_admin.joobq.delivery import asked, steps
from joobq_admin.joobq.delivery.reading import MOST_A_PAGE, Reading, moment
from joobq_admin.joobq.delivery.record import CorruptRecord, Record, decode, evidence
from joobq_admin.joobq.delivery.shapes import Quarantined, QuarantinePage, ReviewOutcome, Seen
from joobq_admin.joobq.entry import to_text


class Reviewing(Reading):
    """See delivery.ledger.Ledger. `by` is who acts: an action of an operator always has a name to record."""

    def quarantined(self, cursor: str = "0", count: int = 10) -> QuarantinePage:
        """About `count` records that were set aside (1 to 1000), as they were found and as they are stored now."""
        call = ("HSCAN", self.quarantine_key, asked.cursor(cursor), "COUNT", asked.limit(count, MOST_A_PAGE))
        ((after, found),) = self._read(call)
        copies = dict(zip(found[::2], found[1::2], strict=True))
        stored = self._read(*(steps.STORED.call(self._keys, (name,), read_only=True) for name in copies))
        rows = zip(copies.items(), stored, strict=True)
        return QuarantinePage(to_text(after), tuple(_quarantined(*copy, *values) for copy, values in rows))

    def look(self, request_id: str) -> Seen:
        """All that is kept of this request, at one moment."""
        name = asked.request_id(request_id)
        (answer,) = self._read(steps.LOOK.call(self._keys, (name,), read_only=True))
        now, header, payload, due, ends, copy, gate = answer
        there = header is not None or copy is not None
        return Seen(
            request_id=request_id,
            at=now,
            header=header,
            payload=payload,
            record=_verdict(request_id, header, payload) if there else None,
            ready=moment(due),
            leases=moment(ends),
            quarantined=_quarantined(name, copy, header, payload) if copy is not None else None,
            gate=steps.gate(gate),
        )

    def release(self, request_id: str, digest: str, by: Actor) -> ReviewOutcome:
        """Puts a record that decodes now back under the indexes; `digest` as `quarantined` told it.

        RELEASED, or CHANGED, CORRUPT, MISSING. Asked again after a lost answer: MISSING.
        """
        return self._review(steps.RELEASE, request_id, digest, by)

    def discard(self, request_id: str, digest: str, by: Actor) -> ReviewOutcome:
        """Deletes a quarantined record and its copy; `digest` as `quarantined` told it. Its id can be admitted again.

        DISCARDED, or CHANGED, MISSING. Asked again after a lost answer: MISSING.
        """
        return self._review(steps.DISCARD, request_id, digest, by)

    def _review(self, script: scripts.Script, request_id: str, digest: str, by: Actor) -> ReviewOutcome:
        """Acts on the very bytes that were reviewed: what is stored is compared with the digest here, and in the script
        with what is stored then.
        """
        name = asked.request_id(request_id)
        asked.digest(digest)
        asked.actor(by)
        header, payload = self._stored(name)
        known = _digest(header, payload) == digest
        if known and script is steps.DISCARD:
            self._await_the_next_ms()
        if known and (script is steps.DISCARD or isinstance(_verdict(request_id, header, payload), Record)):
            return steps.outcome(ReviewOutcome, self._run(script, name, steps.seen(header), steps.seen(payload)))
        (aside,) = self._read(("HEXISTS", self.quarantine_key, name))
        if not aside:
            return ReviewOutcome.MISSING
        return ReviewOutcome.CORRUPT if known else ReviewOutcome.CHANGED

    def _await_the_next_ms(self) -> None:
        """By Redis's clock: what is admitted in the place of a record that was read before has a later stamp, so
        that no claim of the one is taken for one of the other.
        """
        began = self._ms()
        while self._ms() == began:
            pass

    def _ms(self) -> int:
        ((seconds, micros),) = self._read(("TIME",))
        return int(seconds) * 1_000 + int(micros) // 1_000


def _quarantined(request_id: bytes, copy: bytes, header: bytes | None, payload: bytes | None) -> Quarantined:
    verdict = _verdict(to_text(request_id), header, payload)
    return Quarantined(to_text(request_id), header, payload, _digest(header, payload), verdict, copy)


def _verdict(request_id: str, header: bytes | None, payload: bytes | None) -> Record | CorruptRecord:
    try:
        return decode(request_id, header or b"", payload)
    except CorruptRecord as corrupt:
        return corrupt


def _digest(header: bytes | None, payload: bytes | None) -> str:
    return hashlib.sha256(evidence(header, payload)).hexdigest()
