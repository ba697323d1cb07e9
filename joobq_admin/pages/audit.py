"""The audit log: who did what, when and why; as a page, and as a file of all that matches."""

import re
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.views.decorators.http import require_GET, require_safe

from joobq_admin import connection
from joobq_admin.connection import audit_log
from joobq_admin.joobq import refusals
from joobq_admin.joobq.asked import is_operation_id
from joobq_admin.joobq.audit import Record, RecordPage, as_recorded
from joobq_admin.pages import answer, audit_rows, files, forms, times
from joobq_admin.pages.answer import Problem
from joobq_admin.pages.forms import Reading, Sought
from joobq_admin.pages.not_understood import not_understood
from joobq_admin.pages.sends import why
from joobq_admin.pages.tally import Tally
from joobq_admin.pages.undo import in_the_bin
from joobq_admin.sso.roles import Action, User, View, needs
from joobq_admin.triage.search import PRESETS

CHUNK = 200  # records that an export holds at a time
MOST_NAMED = 1_000  # records that the index finds at once; a name with more of them is looked for in the log
ME = "me"
LINES = {"csv": files.csv_rows, "ndjson": files.ndjson}
TYPES = {"csv": "text/csv; charset=utf-8", "ndjson": "application/x-ndjson; charset=utf-8"}
_digest = re.compile(r"[0-9a-f]{16,64}").fullmatch

Wanted = Callable[[Record], bool]


def told(view: View) -> View:
    """What an address got wrong, and a log that cannot be read, in words of its own."""

    @wraps(view)
    def tells(request: HttpRequest) -> HttpResponseBase:
        try:
            return view(request)
        except BadRequest as wrong:
            return not_understood(request, wrong, "audit", "Audit log")
        except connection.TROUBLE as trouble:
            if not refusals.locked(trouble):
                raise
            text = "Redis does not let the audit log be read. Nothing in it was changed."
            facts = (("Redis said", refusals.said(trouble), ""),)
            what = Problem(503, "No audit log", "The audit log cannot be read", text, facts, links=(answer.home(),))
            return answer.problem(request, what, nav="audit")

    return tells


@needs(Action.VIEW)
@require_safe
@told
def audit(request: HttpRequest) -> HttpResponse:
    """Newest first; every filter is in the query string, `before` = read on from there."""
    asked = forms.reading(request)
    response = shown(request, asked)
    if answer.wants(request, "records"):
        response["HX-Push-Url"] = audit_rows.url(asked)  # without what a form leaves empty
    return response


def shown(request: HttpRequest, asked: Reading, told: Tally | None = None) -> HttpResponse:
    """The records as they are now, below what a press among them did. Raises TROUBLE."""
    now, user, found = times.now(), request.user, _look(asked, request.user)
    undoable = in_the_bin(lambda its: its.undoable(found.records)) if user.can(Action.RESTORE) else None
    context = audit_rows.context(asked, found, undoable or {}, audit_log().oldest(), now) | {"tally": told}
    if answer.wants(request, "records"):
        return answer.fragment(request, "audit/_fragment.html", context)
    return answer.page(request, "audit/list.html", context, nav="audit")


@needs(Action.VIEW)
@require_GET
@told
def export(request: HttpRequest) -> HttpResponseBase:
    """All that matches, read as it is sent. The first records come before the answer begins: trouble is a page then."""
    sought, others = forms.sought(request, "format")
    kind = forms.export_format(others.get("format", ""))
    chunks = _chunks(sought, request.user)
    first = next(chunks)
    response = StreamingHttpResponse(_file(kind, first, chunks), content_type=TYPES[kind])
    response["Content-Disposition"] = f'attachment; filename="joobq-admin-audit.{kind}"'
    return response


def _file(kind: str, first: tuple[Record, ...], rest: Iterator[tuple[Record, ...]]) -> Iterator[str]:
    yield files.HEADS[kind] + LINES[kind](first)
    for records in rest:
        if records:
            yield LINES[kind](records)


def _chunks(sought: Sought, user: User) -> Iterator[tuple[Record, ...]]:
    """What matches of each chunk of the log; at least one, which may be empty."""
    wanted, since = _wanted(sought, user, bool(_named(sought.q))), _since(sought)
    before: str | None = ""
    while before is not None:
        page = audit_log().page(before, limit=CHUNK, where=wanted, since=since, budget=CHUNK)
        before = page.older
        yield page.records


def _look(asked: Reading, user: User) -> RecordPage:
    """Up to `limit` records; `older` of fewer means that the look ended before the log did."""
    sought, before, limit = asked.sought, asked.before, asked.limit
    named, since = _named(sought.q), _since(sought)
    wanted = _wanted(sought, user, bool(named))
    if named and len(named) < MOST_NAMED:
        first = int(since.timestamp() * 1000) if since else 0
        end = _place(before) if before else None
        places = ((_place(record.id), record) for record in named if wanted(record))
        found = [record for place, record in places if place[0] >= first and (end is None or place < end)]
        page = RecordPage(tuple(found[: limit + 1]), None)
    else:  # one more than is shown says whether there is more
        page = audit_log().page(before, limit=limit + 1, where=wanted, since=since)
    shown = page.records[:limit]
    return RecordPage(shown, shown[-1].id if len(page.records) > limit else page.older)


def _since(sought: Sought) -> Any:
    return times.now() - PRESETS[sought.since] if sought.since else None


def _named(q: str) -> list[Record]:
    """Records of the jid, digest or operation of this very name, newest first, as the log's index finds them."""
    if not q:
        return []
    log = audit_log()
    found = log.of_jid(q, MOST_NAMED)
    if is_operation_id(q):
        found += log.of_operation(q, most=MOST_NAMED)
    if _digest(q):
        found += log.of_digest(q, MOST_NAMED)
    each = {record.id: record for record in found if record.at}
    return sorted(each.values(), key=lambda record: _place(record.id), reverse=True)


def _place(id_: str) -> tuple[int, int]:
    ms, _, seq = id_.partition("-")
    return int(ms), int(seq)


def _wanted(sought: Sought, user: User, named: bool) -> Wanted:
    """`named`: the text is the whole name of something, so only that is meant; else any part of a name or reason."""
    tests = list[Wanted]()
    if sought.action:
        known = sought.action != forms.OTHER
        tests.append(lambda r: r.action == sought.action if known else r.action not in forms.ACTIONS)
    if sought.queue:
        tests.append(lambda r: r.queue == sought.queue)
    if sought.by:
        by = sought.by.casefold()
        me = sought.by == ME
        tests.append(lambda r: r.by == user.sub if me else by in r.by.casefold() or by in r.name.casefold())
    if sought.q and named:
        jid, q = as_recorded(sought.q), sought.q
        tests.append(lambda r: jid == r.jid or q == r.operation or bool(_digest(q) and r.digest.startswith(q)))
    elif sought.q:
        text = sought.q.casefold()
        tests.append(lambda r: any(text in part.casefold() for part in _texts(r)))
    return lambda record: all(test(record) for test in tests)


def _texts(record: Record) -> tuple[str, ...]:
    """What is searched: with what a ledger's request is called."""
    request = record.fields.get("request", "")
    return record.jid, record.digest, record.operation, why(record.reason), request
