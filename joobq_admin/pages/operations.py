"""What one press of a button did."""

from datetime import datetime

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from joobq_admin import connection
from joobq_admin.connection import audit_log, dead_letters, redaction
from joobq_admin.joobq import refusals
from joobq_admin.joobq.audit import Record
from joobq_admin.joobq.entry import EntryRef
from joobq_admin.joobq.outcome import NotDone
from joobq_admin.joobq.purging import Step
from joobq_admin.pages import answer, forms, gone, ledger_rows, links, pressed, purged, slip, times
from joobq_admin.pages.answer import Problem
from joobq_admin.pages.counts import queue_name
from joobq_admin.pages.follow import Follow, follow, untold
from joobq_admin.pages.pressed import Told
from joobq_admin.pages.purge_progress import Progress, progress
from joobq_admin.pages.sends import name_of, why
from joobq_admin.pages.tokens import plain
from joobq_admin.pages.undo import UNREAD, in_the_bin, the_bin, undo_of
from joobq_admin.pages.words import joined
from joobq_admin.sso.roles import Action, needs
from joobq_admin.triage import history
from joobq_admin.triage.versions import version

CHECKED = ("redrive", "purge")  # what "check again" may ask about
FOR_GOOD_OR_BACK = "None of its copies is in the bin: they were restored, or are gone for good."
MOST_READ, MOST_SHOWN, MOST_NAMED = 5_000, 100, 3  # records of one operation, and people in its heading


@needs(Action.VIEW)
@require_safe
def operation(request: HttpRequest, operation: str) -> HttpResponse:
    """By its records. With `action` and `entry` also what is recorded nowhere: that it was not done."""
    given = forms.query(request)
    asked = forms.operation_id(operation)
    if answer.wants(request, "follow"):
        return _followed(request, asked, given.get("entry"))
    if "entry" not in given:
        return _by_records(request, asked)
    if given.get("action") not in CHECKED:
        raise BadRequest("no such action")
    return _checked(request, asked, given["action"], forms.ticked(given["entry"]))


def _followed(request: HttpRequest, operation: str, entry: str | None) -> HttpResponse:
    """Where the job is now that it redrove; answers without a trigger when there is no more to ask."""
    ref, log = forms.ticked(entry) if entry else None, audit_log()
    try:
        only = _only(log.of_operation(operation, "redrive", most=2)) if not ref else None
        record = log.recorded(operation, "redrive", ref.digest) if ref else only
        status, told = (200, follow(record, poll=True)) if record else (404, None)
    except connection.TROUBLE as trouble:
        status, told = 503, untold(refusals.said(trouble), times.now())
    told = told or Follow("The audit log has no record of this redrive any more.")
    return answer.fragment(request, "dead_letters/_follow.html", {"follow": told}, status=status)


def _only(records: list[Record]) -> Record | None:
    return records[0] if len(records) == 1 else None


def _checked(request: HttpRequest, operation: str, action: str, ref: EntryRef) -> HttpResponse:
    now = times.now()
    try:
        told = _check(request, operation, action, ref)
    except (NotDone, *connection.TROUBLE) as trouble:
        said = _why_unknown(trouble)
        foot = f"Last checked {times.time(now)}: {said}"
        told = Told(slip.unknown(ref, "", slip.form(ref, operation), now, foot=foot, action=action))
    return pressed.answered(request, told, ref, status=503 if told.slip.status == 503 else 200, h1=action.capitalize())


def _check(request: HttpRequest, operation: str, action: str, ref: EntryRef) -> Told:
    """That there is no record says something only where none can be missing. Raises NotDone elsewhere."""
    now, lag = times.now(), _asked_the_primary()
    record, checked = audit_log().recorded(operation, action, ref.digest), answer.wants(request, "action")
    if record and action == "purge":
        return Told(purged.done(operation, ref, request.user, now, checked=checked))
    if record:
        job = follow(record, poll=not checked)
        return Told(slip.redriven(record, ref, request.user, now, job=job, checked=checked))
    if lag:
        raise lag
    entry = dead_letters().look_up(ref)
    if entry:
        return Told(slip.not_done(ref, slip.form(ref, operation, str(version(entry, redaction()))), now, action))
    return pressed.lost_race(ref, None, request.user, now, action)


def _asked_the_primary() -> NotDone | None:
    try:
        dead_letters().ask_the_primary()
    except NotDone as lag:
        return lag
    return None


def _why_unknown(trouble: Exception) -> str:
    if isinstance(trouble, NotDone):
        return f"Redis said {trouble.reason}, so it may not know yet what was done elsewhere."
    said = refusals.said(trouble)
    return f"Redis said {plain(said)}" if said else "Redis did not answer."


def going(request: HttpRequest, operation: str, step: Step) -> HttpResponse:
    """A purge of one queue, of which a step was just done: its page takes the next one. Raises TROUBLE."""
    if not answer.wants(request, "purging"):
        return _by_records(request, operation, step)
    record = audit_log().recorded(operation, "purge_all", "") or Record("0-0", "purge_all", operation)
    context = {"progress": progress(record, request.user, step)}
    response = answer.fragment(request, "operations/_purging.html", context)
    response["HX-Replace-Url"] = links.operation(operation)  # loaded anew, or after a sign-in, it is this page
    return response


def _by_records(request: HttpRequest, operation: str, step: Step | None = None) -> HttpResponse:
    records = sorted(audit_log().of_operation(operation, most=MOST_READ), key=_newest, reverse=True)
    if not records:
        text = "The audit log has no record of this operation: it did nothing, or its record is no longer kept."
        what = Problem(404, "No such operation", "No record of this operation", text, links=(answer.home(),))
        return answer.problem(request, what, nav="")
    first = records[0]
    if ledger_rows.of_a_ledger(first):
        context = ledger_rows.operation(records, request.user, times.now())
        return answer.page(request, "operations/of_a_ledger.html", context, nav="deliveries")
    if len(records) > 1 or first.action == "purge_all":
        return answer.page(request, "operations/many.html", _many(records, request, step))
    stone = gone.tombstone(first, [], request.user, times.now(), over=f"Operation {operation[:8]}", of_press=True)
    context = {"title": stone.heading, "t": stone, "deaths": None}
    return answer.page(request, "dead_letters/tombstone.html", context)


def _newest(record: Record) -> tuple[int, ...]:
    return tuple(map(int, record.id.split("-")))


def _many(records: list[Record], request: HttpRequest, step: Step | None) -> dict[str, object]:
    first, now = records[0], times.now()
    all_of = next((record for record in records if record.action == "purge_all"), None)
    far = progress(all_of, request.user, step) if all_of else None
    did = ", ".join(_did(action, [r for r in records if r.action == action], far) for action in _actions(records))
    did = did[:1].upper() + did[1:]
    entries = [record for record in records if record.action != "purge_all"]
    cut = f"The newest {MOST_SHOWN} of {len(entries):,} are shown." if len(entries) > MOST_SHOWN else ""
    more = f" No more than {MOST_READ:,} of its records are read." if len(records) == MOST_READ else ""
    people = {record.by: name_of(record, request.user) for record in reversed(records)}
    reasons = dict.fromkeys(why(record.reason) for record in reversed(records) if record.reason)
    return {
        "title": did,
        # one person's, but its id is no secret: another may have pressed with it too
        "heading": f"{did}, by {joined(list(people.values()), MOST_NAMED)}",
        "operation": first.operation,
        "when": times.when(first.at, now) if first.at else None,
        "reasons": list(reasons)[:MOST_NAMED],
        "several": len(people) > 1,
        "note": cut + more,
        "progress": far,
        **_kept(entries, request, now),
        "rows": [
            {
                "did": history.did(record.action),
                "by": people[record.by],
                "when": times.when(record.at, now) if record.at else None,
                "queue": queue_name(record.queue),
                "jid": plain(record.jid, 80) or "none",
                "short": slip.short(record.digest) if record.digest else "",
                "url": links.job(record.jid) if record.jid and links.is_plain(record.jid) else "",
            }
            for record in entries[:MOST_SHOWN]
        ],
    }


def _kept(entries: list[Record], request: HttpRequest, now: datetime) -> dict[str, object]:
    """Of a purge: how many of its copies the bin has, and Undo."""
    if not any(record.action == "purge" for record in entries):
        return {"kept": "", "undo": None}
    copies = in_the_bin(lambda its: its.copies(entries[0].operation))
    if not copies:
        return {"kept": UNREAD if copies is None else FOR_GOOD_OR_BACK, "undo": None}
    end = min(copies.values()) + the_bin().keep
    many = _count(len(copies), "copy is", "copies are")
    kept = f"{many} in the bin until {times.until(end)}, then gone for good."
    return {"kept": kept, "undo": undo_of(entries[0].operation, request.user)}


def _actions(records: list[Record]) -> list[str]:
    """What it did, each once, in the order in which it began."""
    return list(dict.fromkeys(record.action for record in reversed(records)))


def _did(action: str, records: list[Record], far: Progress | None) -> str:
    """`far`: of a purge of everything, how far that went."""
    if action != "purge_all" or not far:
        return f"{history.did(action)} {_count(len(records), 'dead letter', 'dead letters')}"
    did, count, queue = "purged", _count(far.planned, "entry", "entries"), plain(records[0].queue, 80)
    if far.under_way:
        did = "purging"
    elif far.gone is None:
        count = f"up to {count}"
    elif far.gone < far.planned:
        count = f"{far.gone:,} of {count}"
    if records[0].everything:
        return f"{did} everything: {count}"
    return f"{did} everything {f'in {queue}' if queue else 'without a queue name'}: {count}"


def _count(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}"
