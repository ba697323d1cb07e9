"""The bin, as its page prints it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from django.urls import reverse

from joobq_admin.joobq.bin import Bin, Binned, BinPage
from joobq_admin.pages import links, times
from joobq_admin.pages.bar import Bar
from joobq_admin.pages.forms import ROWS
from joobq_admin.pages.list_forms import Listing
from joobq_admin.pages.rows import face
from joobq_admin.pages.sends import why
from joobq_admin.pages.times import When
from joobq_admin.pages.tokens import plain
from joobq_admin.pages.undo import left
from joobq_admin.sso.roles import Action, User


@dataclass(frozen=True, slots=True)
class Row:
    tick: str
    when: When
    by: str
    why: str
    cls: str
    queue: str
    args: str
    url: str
    left: str


def read(kept: Bin, asked: Listing, user: User) -> dict[str, Any]:
    """The bin as it is now, the last purged first. Raises TROUBLE."""
    now = times.now()
    page = kept.page(asked.cursor, asked.limit, asked.newer)
    n = f"{page.total:,} purged {'entry' if page.total == 1 else 'entries'} in the bin"
    return {
        "title": n,
        "n": f"{page.total:,}",
        "words": n.partition(" ")[2],
        "sub": f"Each stays {left(kept.keep)}, then it is gone for good. {_full(page, kept)}Read {times.named(now)}",
        "rows": [_row(each, kept, now) for each in page.entries],
        "operation": str(uuid4()) if page.entries and user.can(Action.RESTORE) else "",
        "may_empty": user.can(Action.PURGE_FOR_GOOD),
        "back": url(asked).partition("?")[2],
        "bar": _bar(asked, page),
    }


def _full(page: BinPage, kept: Bin) -> str:
    return "" if page.bytes is None else f"{size(page.bytes)} of {size(kept.room)}. "


def url(asked: Listing) -> str:
    """Where this very page is."""
    return links.bin(**{"before" if asked.newer else "after": str(asked.cursor or "")}, limit=_limit(asked))


def _bar(asked: Listing, page: BinPage) -> Bar:
    end = "" if page.entries else "Nothing is in the bin: what is purged stays here for a while."
    if page.total and not page.entries:
        end = "No entry is on this page of the bin."
    return Bar(
        shown="The last purged first",
        back_url=links.bin(before=str(page.newer), limit=_limit(asked)) if page.newer else "",
        older_url=links.bin(after=str(page.older), limit=_limit(asked)) if page.older else "",
        end=end,
        clear="The newest",
        clear_url=reverse("bin") if page.total else "",
    )


def _limit(asked: Listing) -> str:
    return str(asked.limit) if asked.limit != ROWS else ""


def _row(each: Binned, kept: Bin, now: datetime) -> Row:
    shown, rest = face(each.entry), each.purged_at + kept.keep - now
    return Row(
        tick=links.tick(each.entry.ref),
        when=times.when(each.purged_at, now),
        by=plain(each.name or each.by, 80) or "nobody that is named",
        why=why(each.reason, 400),
        cls=shown.cls,
        queue=shown.queue or "no queue name",
        args=shown.args,
        url=links.entry(each.entry.ref),
        left=f"in {left(rest)}" if rest.total_seconds() > 0 else "with the next change",
    )


def size(count: int) -> str:
    """'27 KB', '256 MB'."""
    if count < 1 << 20:
        return f"{count / 1024:,.0f} KB" if count >= 1024 else f"{count} bytes"
    return f"{count / (1 << 20):,.0f} MB"
