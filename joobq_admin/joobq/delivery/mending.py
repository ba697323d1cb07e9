"""Time and damage: leases that are over, indexes that lie, records that are corrupt, receipts that are old."""

from collections import Counter
from datetime import timedelta
from typing import Any

from joobq_admin.joobq.delivery import asked, steps
from joobq_admin.joobq.delivery.a_while import for_a_while
from joobq_admin.joobq.delivery.batches import MAX_BATCH, MAX_BATCH_BYTES
from joobq_admin.joobq.delivery.reading import MOST_A_PAGE, Reading
from joobq_admin.joobq.delivery.record import CorruptRecord, decode
from joobq_admin.joobq.delivery.shapes import MENDED, Mended, PrunePage, RepairPage
from joobq_admin.joobq.entry import to_text
from joobq_admin.joobq.scripts import Script


class Mending(Reading):
    """See delivery.ledger.Ledger. Every step here may be asked again after a lost answer, from the same cursor."""

    def expire(self, limit: int = MAX_BATCH) -> int:
        """Ends leases that are over, the first `limit` (1 to 128): READY, due now, without an owner; how many ended.

        The attempt is kept. Cheap: the leases index tells which, nothing is scanned.
        """
        ended: int = self._run(steps.EXPIRE, asked.limit(limit, MAX_BATCH))
        return ended

    def repair(self, cursor: str = "0", count: int = 100) -> str:
        """One step of a repair cycle, see repair_page; the next cursor, "0" = the cycle is done."""
        return self.repair_page(cursor, count).cursor

    def repair_page(self, cursor: str = "0", count: int = 100, dry_run: bool = False) -> RepairPage:
        """Looks at about `count` records (1 to 1000; fewer when payloads are large) and mends what is wrong with them.

        A corrupt one is quarantined, while exactly the bytes are stored that were seen: copied, taken out of both
        indexes, and left in its place as evidence. A lease that is over ends. An index that does not say what the
        record says is put right. What is in quarantine already is kept out of the indexes. Safe beside any traffic.
        `dry_run`: nothing is changed, the numbers say what would be.
        """
        args = asked.cursor(cursor), asked.limit(count, MOST_A_PAGE), MAX_BATCH_BYTES
        answer = self._inspect(steps.INSPECT, *args) if dry_run else self._run(steps.REPAIR, *args)
        after, scanned, expired, mended, quarantined, *sound = answer
        pairs = list(zip(sound[::2], sound[1::2], strict=True))
        for (request_id, header), payload in zip(pairs, self._payloads(pairs), strict=True):
            try:
                decode(to_text(request_id), header, payload)
            except CorruptRecord:
                quarantined += dry_run or self._set_aside(request_id, header, payload)
        return RepairPage(to_text(after), scanned, expired, mended, quarantined)

    def repair_indexes(self, cursor: str = "ready:0", count: int = 100, dry_run: bool = False) -> RepairPage:
        """The other direction: looks at about `count` entries of the ready index, then of the leases index.

        What has no record is taken out; of the others repair_page tells. "0" = the cycle is done.
        """
        args = *asked.index_cursor(cursor), asked.limit(count, MOST_A_PAGE)
        answer = self._inspect(steps.INSPECT_INDEXES, *args) if dry_run else self._run(steps.REPAIR_INDEXES, *args)
        (index, _, _), (after, scanned, mended) = args, answer
        goes_on = f"{index}:{to_text(after)}" if after != b"0" else "leases:0" if index == "ready" else "0"
        return RepairPage(goes_on, scanned, 0, mended, 0)

    def repair_for(self, seconds: float, cursor: str = "records:0", dry_run: bool = False) -> Mended:
        """Goes on with a repair cycle, all records and then both indexes, for about so long, from one page on."""
        found = Counter[str]()

        def step() -> bool:
            nonlocal cursor
            kind, at = asked.repair_cursor(cursor)
            if kind == "records":
                page = self.repair_page(at, dry_run=dry_run)
                cursor = f"records:{page.cursor}" if page.cursor != "0" else "ready:0"
            else:
                page = self.repair_indexes(f"{kind}:{at}", dry_run=dry_run)
                cursor = page.cursor if page.cursor != "0" else ""
            found["records" if kind == "records" else "entries"] += page.scanned
            found.update(expired=page.expired, mended=page.mended, quarantined=page.quarantined)
            return bool(cursor)

        for_a_while(seconds, step)
        return Mended(cursor, *(found[name] for name in MENDED))

    def prune(self, older_than: timedelta, cursor: str = "0", count: int = 100, dry_run: bool = False) -> PrunePage:
        """Deletes receipts (COMPLETED or DEAD) whose last change is longer ago, of a page of about `count` records.

        `max_records` counts receipts too: a ledger that is never pruned is full one day. A pruned request is forgotten:
        its id can be admitted again, and is then delivered again. Keep receipts longer than any producer tries again.
        `dry_run`: they are counted, and stay.
        """
        age = asked.duration("older_than", older_than, 0)
        args = asked.cursor(cursor), asked.limit(count, MOST_A_PAGE), age
        after, *numbers = self._inspect(steps.RECEIPTS, *args) if dry_run else self._run(steps.PRUNE, *args)
        return PrunePage(to_text(after), *numbers)

    def _inspect(self, script: Script, *args: Any) -> Any:
        (answer,) = self._read(script.call(self._keys, args, read_only=True))
        return answer

    def _set_aside(self, request_id: bytes, header: bytes, payload: bytes | None) -> int:
        """Quarantines a record whose payload does not fit; 0 when other bytes are stored by now."""
        done: int = self._run(steps.QUARANTINE, request_id, header, steps.seen(payload))
        return done
