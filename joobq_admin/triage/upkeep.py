"""Time and receipts of a ledger, as far as one request of a page may go on with them."""

import time
from datetime import timedelta

from joobq_admin.joobq.delivery import Ledger, PrunePage

A_PAGE = 100  # records of a page: their headers are about 1 ms of Redis


def expire(ledger: Ledger, seconds: float) -> tuple[int, bool]:
    """Ends leases that are over, for about so long: how many, and whether there may be more."""
    ended, until = 0, time.monotonic() + seconds
    while True:
        last = ledger.expire()
        ended += last
        if not last or time.monotonic() >= until:
            return ended, last > 0


def prune(ledger: Ledger, older_than: timedelta, cursor: str, seconds: float, dry_run: bool = False) -> PrunePage:
    """Deletes old receipts, or counts them, for about so long from this cursor on."""
    scanned, pruned, until = 0, 0, time.monotonic() + seconds
    while True:
        page = ledger.prune(older_than, cursor, A_PAGE, dry_run)
        cursor, scanned, pruned = page.cursor, scanned + page.scanned, pruned + page.pruned
        if cursor == "0" or time.monotonic() >= until:
            return PrunePage(cursor, scanned, pruned)
