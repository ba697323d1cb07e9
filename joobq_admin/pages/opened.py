"""One entry, opened: by its own address, or as the only one of its job."""

from uuid import uuid4

from django.http import HttpRequest, HttpResponse

from joobq_admin import connection
from joobq_admin.connection import dead_letters, redaction
from joobq_admin.joobq.entry import Entry
from joobq_admin.joobq.lookup import Cursor, Near
from joobq_admin.pages import answer, faces, links, rows, slip, times
from joobq_admin.pages.faces import error_of
from joobq_admin.pages.past import deaths
from joobq_admin.pages.rail import rail
from joobq_admin.pages.records import of_entry
from joobq_admin.pages.sheet import payload, sheet, what_is_hidden
from joobq_admin.pages.tokens import plain
from joobq_admin.sso.roles import Action
from joobq_admin.triage.preflight import preflight
from joobq_admin.triage.versions import version


def opened(request: HttpRequest, entry: Entry, near: Near | None = None, exact: bool = False) -> HttpResponse:
    """Mints the operation that a press on this page will be.

    `near`: what a look for its job has found already; `exact`: its bytes instead of its fields.
    """
    now, queue = times.now(), dead_letters()
    shown = redaction().redacted(entry.raw)
    if answer.wants(request, "payload"):
        return answer.fragment(request, "dead_letters/_payload.html", {"payload": payload(entry, shown, exact)})
    near = near or (queue.near(entry.jid) if entry.jid else Near([], None))
    here = near.entries
    if all(other.digest != entry.digest for other in here):
        here = [entry, *here]
    records, unread = of_entry(entry)
    newer = queue.walk(Cursor(entry.score, entry.raw + b"\0"), limit=1, newer=True).entries
    older = queue.walk(Cursor(entry.score, entry.raw), limit=1).entries
    flight = preflight(queue, entry, records)
    reviewed, next_one = str(version(entry, redaction())), links.tick(older[0].ref) if older else ""
    form = slip.form(entry.ref, str(uuid4()), reviewed, next_one)
    waiting = connection.waiting(entry.queue) if flight.push else None
    acts = request.user.can(Action.REDRIVE) and not flight.refused
    marks = [*rows.badges(entry, len(here), records, now), *faces.badges(entry, flight.refused)]
    context = {
        "title": f"{error_of(entry)[0]} in {plain(entry.queue, 80) or 'no queue'}",
        "e": sheet(entry, what_is_hidden(shown), marks, *_first(newer), *_first(older), now),
        "slip": slip.before_the_press(entry, flight, request.user, form, now, waiting),
        "lost": slip.unknown(entry.ref, plain(entry.queue, 200), form, now, answered=False) if acts else None,
        "deaths": deaths(here, records, entry, request.user, now, unread),
        "payload": payload(entry, shown, exact),
    }
    counts = queue.counts()
    return answer.page(request, "dead_letters/entry.html", context, nav="entries", rail=rail(counts, entry.queue))


def _first(entries: tuple[Entry, ...]) -> tuple[Entry | None]:
    return (entries[0] if entries else None,)
