"""The link that alert messages carry: whatever became of a job, it leads there."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from joobq_admin.connection import dead_letters
from joobq_admin.joobq.entry import Entry
from joobq_admin.joobq.filters import of_jobs
from joobq_admin.joobq.lookup import BUDGET, Cursor, Near
from joobq_admin.pages import answer, forms, gone, links, times
from joobq_admin.pages.counts import rail_now
from joobq_admin.pages.entry_page import opened
from joobq_admin.pages.looked import looked
from joobq_admin.pages.rows import error_of
from joobq_admin.pages.slip import short
from joobq_admin.pages.tokens import plain
from joobq_admin.sso.roles import Action, needs
from joobq_admin.triage.versions import one_job

MOST_SHOWN = 100
SAME = "They hold the same job and differ in the error."
NOT_SAME = "They do not all hold the same job: look at each before you press."


@needs(Action.VIEW)
@require_safe
def job(request: HttpRequest, jid: str = "") -> HttpResponse:
    """Its one entry, shown; several, to choose from; none: what became of it. `after`: look on from there."""
    given = forms.query(request)
    if not jid and "jid" not in given:
        return HttpResponseRedirect(reverse("entries"))
    jid = forms.job_id(jid or given["jid"])
    near = _look(jid, forms.cursor(given.get("after")))
    if not near.entries:
        return gone.job(request, jid, near)
    return opened(request, near.entries[0], near) if len(near.entries) == 1 else _choose(request, jid, near)


def _look(jid: str, start: Cursor | None) -> Near:
    """Entries of this job, and where to look on; at first among the newest and those at score 604800."""
    if start is None:
        return dead_letters().near(jid)
    page = dead_letters().walk(start, limit=forms.MOST_ROWS, where=of_jobs(jid), budget=BUDGET)
    return Near(list(page.entries), page.older)


def _choose(request: HttpRequest, jid: str, near: Near) -> HttpResponse:
    now, count, shown = times.now(), len(near.entries), near.entries[:MOST_SHOWN]
    far = looked(jid, near)
    newest = f"The newest {MOST_SHOWN} of them are shown. " if count > MOST_SHOWN else ""
    context = {
        "title": f"{count:,} deaths of a job",
        "heading": f"{count:,} deaths of this job are here",
        "jid": plain(jid, 400),
        "note": SAME if one_job(shown) else NOT_SAME,
        "deaths": [_death(entry, now) for entry in shown],
        "looked": newest if far.whole else f"{newest}Looked at {far.at}.",
        "more_url": far.onward[0][0] if far.onward else "",
    }
    return answer.page(request, "jobs/choose.html", context, nav="entries", rail=rail_now())


def _death(entry: Entry, now: object) -> dict[str, object]:
    cls, message = error_of(entry)
    return {
        "died": times.when(entry.died_at, now) if entry.died_at else None,
        "cls": cls,
        "msg": message,
        "retries": f"{entry.retries} of {entry.max_retries}" if entry.retries is not None else "not told",
        "short": short(entry.digest),
        "url": links.entry(entry.ref),
    }
