"""Time and receipts of a ledger, as far as one request of a page may go on with them."""

from datetime import timedelta

from joobq_admin.joobq.delivery import Ledger, PrunePage
from joobq_admin.joobq.delivery.a_while import for_a_while

A_PAGE = 100  # records of a page: their headers are about 1 ms of Redis


def expire(ledger: Ledger, seconds: float) -> tuple[int, bool]:
    """Ends leases that are over, for about so long: how many, and whether there may be more."""
    ended = 0

    def step() -> bool:
        nonlocal ended
        last = ledger.expire()
        ended += last
        return last > 0 or ledger.stats().expired > 0  # among entries that lie none ends, but there are those behind

    more = for_a_while(seconds, step)
    return ended, more


def prune(ledger: Ledger, older_than: timedelta, cursor: str, seconds: float, dry_run: bool = False) -> PrunePage:
    """Deletes old receipts, or counts them, for about so long from this cursor on."""
    scanned = pruned = 0

    def step() -> bool:
        nonlocal cursor, scanned, pruned
        page = ledger.prune(older_than, cursor, A_PAGE, dry_run)
        cursor, scanned, pruned = page.cursor, scanned + page.scanned, pruned + page.pruned
        return cursor != "0"

    for_a_while(seconds, step)
    return PrunePage(cursor, scanned, pruned)
