"""What one press of a button did."""

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from joobq_admin import connection
from joobq_admin.connection import audit_log, dead_letters, redaction
from joobq_admin.joobq.audit import Record
from joobq_admin.joobq.entry import EntryRef
from joobq_admin.pages import answer, forms, links, past, slip, times, verdict
from joobq_admin.pages.answer import Problem
from joobq_admin.pages.sends import name_of
from joobq_admin.pages.tokens import plain
from joobq_admin.sso.roles import Action, needs
from joobq_admin.triage.versions import version

CHECKED = ("redrive",)  # what "check again" may ask about


@needs(Action.VIEW)
@require_safe
def operation(request: HttpRequest, operation: str) -> HttpResponse:
    """By its records. With `action` and `entry` also what is recorded nowhere: that it was not done."""
    given = forms.query(request)
    asked = forms.operation_id(operation)
    if "entry" not in given:
        return _by_records(request, asked)
    if given.get("action") not in CHECKED:
        raise BadRequest("no such action")
    return _checked(request, asked, forms.ticked(given["entry"]))


def _checked(request: HttpRequest, operation: str, ref: EntryRef) -> HttpResponse:
    now = times.now()
    try:
        told = _check(request, operation, ref)
    except connection.TROUBLE:
        form = slip.form(ref, operation)
        told = slip.unknown(ref, "", form, now, foot=f"Last checked {now:%H:%M:%S}: Redis did not answer.")
    return verdict.answered(request, told, ref, status=503 if told.status == 503 else 200)


def _check(request: HttpRequest, operation: str, ref: EntryRef) -> slip.Slip:
    record, now = audit_log().recorded(operation, "redrive", ref.digest), times.now()
    if record:
        return slip.redriven(record, ref, request.user, now, checked=answer.wants(request, "action"))
    entry = dead_letters().look_up(ref)
    if entry:
        return slip.not_done(ref, slip.form(ref, operation, str(version(entry, redaction()))), now)
    return verdict.lost_race(ref, None, request.user, now)


def _by_records(request: HttpRequest, operation: str) -> HttpResponse:
    records = audit_log().of_operation(operation)
    if not records:
        text = "The audit log has no record of this operation: it did nothing, or its record is no longer kept."
        what = Problem(404, "No such operation", "No record of this operation", text, links=(answer.home(),))
        return answer.problem(request, what, nav="")
    if len(records) > 1:
        return answer.page(request, "operations/many.html", _many(records, request))
    stone = past.tombstone(records[0], [], request.user, times.now(), over=f"Operation {operation[:8]}", of_press=True)
    context = {"title": stone.heading, "t": stone, "deaths": None}
    return answer.page(request, "dead_letters/tombstone.html", context)


def _many(records: list[Record], request: HttpRequest) -> dict[str, object]:
    first, now = records[0], times.now()
    did = f"{past.DID.get(first.action, first.action)} {len(records):,} dead letters"
    return {
        "title": did,
        "heading": f"{did}, by {name_of(first, request.user)}",
        "operation": first.operation,
        "reason": plain(first.reason),
        "rows": [
            {
                "when": times.when(record.at, now) if record.at else None,
                "queue": plain(record.queue, 80) or "no name",
                "jid": plain(record.jid, 80) or "none",
                "short": slip.short(record.digest) if record.digest else "",
                "url": links.job(record.jid) if record.jid and links.is_plain(record.jid) else "",
            }
            for record in records
        ],
    }
