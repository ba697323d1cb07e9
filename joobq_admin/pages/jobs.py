"""The link that alert messages carry: whatever became of a job, it leads there."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from joobq_admin.connection import dead_letters
from joobq_admin.joobq.entry import Entry
from joobq_admin.joobq.filters import of_jobs
from joobq_admin.joobq.lookup import BUDGET, Cursor
from joobq_admin.pages import answer, forms, gone, links, times
from joobq_admin.pages.faces import error_of
from joobq_admin.pages.opened import opened
from joobq_admin.pages.rail import rail
from joobq_admin.pages.slip import short
from joobq_admin.pages.tokens import plain
from joobq_admin.sso.roles import Action, needs

MOST_SHOWN = 100


@needs(Action.VIEW)
@require_safe
def job(request: HttpRequest, jid: str = "") -> HttpResponse:
    """Its one entry, shown; several, to choose from; none: what became of it. `after`: look on from there."""
    given = forms.query(request)
    if not jid and "jid" not in given:
        return HttpResponseRedirect(reverse("entries"))
    jid = forms.job_id(jid or given["jid"])
    start = forms.cursor(given.get("after"))
    found, rest = _look(jid, start)
    if not found:
        return gone.job(request, jid, rest)
    return opened(request, found[0]) if len(found) == 1 else _choose(request, jid, found, rest)


def _look(jid: str, start: Cursor | None) -> tuple[list[Entry], Cursor | None]:
    """Entries of this job, and where to look on; at first among the newest and those at score 604800."""
    queue = dead_letters()
    near = queue.near(jid) if start is None else []
    if near:
        return near, None
    page = queue.walk(start, limit=forms.MOST_ROWS, where=of_jobs(jid), budget=BUDGET)
    return list(page.entries), page.older


def _choose(request: HttpRequest, jid: str, found: list[Entry], rest: Cursor | None) -> HttpResponse:
    now, counts = times.now(), dead_letters().counts()
    context = {
        "title": f"{len(found)} deaths of a job",
        "heading": f"{len(found)} deaths of this job are here",
        "jid": plain(jid, 400),
        "note": "They hold the same job and differ in the error.",
        "deaths": [_death(entry, now) for entry in found[:MOST_SHOWN]],
        "looked": _looked(len(found), counts.total),
        "more_url": links.job(jid, after=str(rest)) if rest else "",
    }
    return answer.page(request, "jobs/choose.html", context, nav="entries", rail=rail(counts))


def _looked(found: int, total: int) -> str:
    shown = f"The newest {MOST_SHOWN} of them are shown. " if found > MOST_SHOWN else ""
    return shown + (f"Looked at the newest {BUDGET:,} of {total:,} entries." if total > BUDGET else "")


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
