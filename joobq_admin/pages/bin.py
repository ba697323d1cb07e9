"""Out of the bin, back into dead letters."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from joobq_admin import connection
from joobq_admin.connection import audit_log, dead_letters
from joobq_admin.joobq.audit import Actor, Record
from joobq_admin.joobq.outcome import Outcome
from joobq_admin.pages import answer, links, log, purge_forms, purged, times
from joobq_admin.pages.pressed import Told, answered
from joobq_admin.pages.slip import Slip
from joobq_admin.pages.undo import Undo, the_bin
from joobq_admin.sso.roles import Action, needs


@answer.only_pressed
@needs(Action.RESTORE)
def restore(request: HttpRequest) -> HttpResponse:
    """Undoes one purge: what it put into the bin, and is there still, comes back."""
    undone, now = purge_forms.undone(request), times.now()
    undo, by = Undo(undone.purge, undone.operation), Actor(request.user.sub, request.user.name)
    records: list[Record] = []
    try:
        records = audit_log().of_operation(undone.purge, "purge")
        if not records:
            return answered(request, Told(purged.nothing_to_undo(now)), None, h1="Undo")
        digests = _of_this_purge(records, undone.operation)
        outcome = dead_letters().restore(digests, by=by, operation=undone.operation)
        log.pressed(Action.RESTORE, undone.operation, request.user, outcome)
        told = _told(outcome, records[0], undo, request)
    except connection.TROUBLE as trouble:
        said = connection.said(trouble)
        log.pressed(Action.RESTORE, undone.operation, request.user, Outcome(unsent=(undone.purge,)), said)
        told = purged.unsent_undo(records[0].digest if records else "", undo, now, said)
    if told.status == 200 and not request.htmx:
        return HttpResponseRedirect(links.operation(undone.operation), status=303)
    ref = purged.ref_of(records[0]) if records else None
    return answered(request, Told(told), ref, h1="Undo")


def _of_this_purge(records: list[Record], operation: str) -> list[str]:
    """Digests that this purge put into the bin, and those that this very press has restored before.

    What another purge put there since is left to the undo of that one.
    """
    digests = [record.digest for record in records]
    binned = the_bin().get(digests)
    before = audit_log().all_recorded(operation, "restore", digests)
    purges = {record.operation for record in records}
    return [d for d in digests if d in before or (d in binned and binned[d].operation in purges)]


def _told(outcome: Outcome, purge: Record, undo: Undo, request: HttpRequest) -> Slip:
    """Of a purge of one entry."""
    user, now = request.user, times.now()
    if outcome.refused:
        return purged.refused_undo(outcome.refused[0], purge.digest, undo, now)
    if outcome.unknown:
        return purged.unknown_undo(purge.digest, undo, now)
    if outcome.unsent:
        return purged.unsent_undo(purge.digest, undo, now)
    if not outcome.done:
        return purged.not_restored(purge, user, now)
    record = audit_log().recorded(undo.operation, "restore", purge.digest)
    by = Record("0-0", "restore", undo.operation, purge.digest, purge.jid, purge.queue, purge.score, user.sub)
    return purged.restored(record or by, purge, user, now)
