"""Addresses of what is not here: 410 with what became of it where that is known, else 404."""

from collections.abc import Sequence
from datetime import UTC, datetime

from django.http import HttpRequest, HttpResponse

from joobq_admin.connection import audit_log, dead_letters
from joobq_admin.joobq.audit import Record
from joobq_admin.joobq.entry import TIMES_FROM, TIMES_TO, Entry, EntryRef
from joobq_admin.joobq.lookup import BUDGET, Cursor
from joobq_admin.pages import answer, links, past, times
from joobq_admin.pages.answer import Problem
from joobq_admin.pages.rail import rail
from joobq_admin.pages.tokens import plain
from joobq_admin.triage import history


def entry(request: HttpRequest, ref: EntryRef) -> HttpResponse:
    """An entry that was looked up by its identity and is not here."""
    log, now = audit_log(), times.now()
    record = history.fate(log.of_digest(ref.digest))
    jid = ref.jid or (record.jid if record else "")
    here = dead_letters().near(jid) if jid else []
    records = log.of_jid(jid) if jid else []
    if record:
        return _tombstone(request, past.tombstone(record, here, request.user, now), here, records, now)
    if here or records:
        total = dead_letters().counts().total
        stone = past.untold(ref, here, log.oldest(), _looked_at(total))
        return _tombstone(request, stone, here, records, now)
    return _never_seen(request, jid, None, now)


def job(request: HttpRequest, jid: str, rest: Cursor | None = None) -> HttpResponse:
    """A job without an entry, as far as was looked; `rest`: where the entries begin that were not looked at."""
    log, now = audit_log(), times.now()
    records = log.of_jid(jid)
    left = history.fate(records)
    if left:
        over = "No entry of this job is in dead letters any more"
        return _tombstone(request, past.tombstone(left, [], request.user, now, over=over), [], records, now)
    return _never_seen(request, jid, rest, now)


def _tombstone(
    request: HttpRequest, stone: past.Tombstone, here: Sequence[Entry], records: Sequence[Record], now: datetime
) -> HttpResponse:
    context = {"title": stone.heading, "t": stone, "deaths": past.deaths(here, records, None, request.user, now)}
    shell = {"nav": "entries", "rail": rail(dead_letters().counts())}
    return answer.page(request, "dead_letters/tombstone.html", context, status=410, **shell)


def _never_seen(request: HttpRequest, jid: str, rest: Cursor | None, now: datetime) -> HttpResponse:
    counts, since = dead_letters().counts(), audit_log().oldest()
    log = f"and the audit log back to {since:%-d %b %Y}" if since else "and the audit log, which is empty"
    more = ((links.job(jid, after=str(rest)), "Keep looking", "primary"),) if rest else ()
    about = (("jid", plain(jid, 400), ""),) if jid else ()
    what = Problem(
        code=404,
        title="Never seen",
        heading="No entry of this job, and no trace of one",
        text="It is not in dead letters and not in the audit log.",
        facts=(*about, ("Looked at", _looked_at(counts.total, rest), log)),
        links=(*more, answer.home()),
    )
    return answer.problem(request, what, nav="entries", rail=rail(counts))


def _looked_at(total: int, rest: Cursor | None = None) -> str:
    """`rest`: where the look ended."""
    if rest and TIMES_FROM <= rest.score < TIMES_TO:
        return (
            f"those that died since {datetime.fromtimestamp(rest.score / 1000, UTC):%-d %b %Y, %H:%M:%S}, of {total:,}"
        )
    if total > BUDGET:
        return f"the newest {BUDGET:,} of {total:,} entries"
    return f"all {total:,} entries" if total != 1 else "the only entry"
