"""The lean floor view: the list's own reads, a template that prints 50 prepared rows; same server, same middlewares."""

from django.http import HttpRequest, HttpResponse
from django.template import Engine
from django.template.context import Context
from django.urls import path

from joobq_admin.connection import audit_log, dead_letters
from joobq_admin.joobq.entry import Entry

TEMPLATE = Engine().from_string("""<!doctype html><title>Dead letters</title><p>{{ total }}</p><table>
{% for row in rows %}<tr><td>{{ row.jid }}</td><td>{{ row.queue }}</td><td>{{ row.error }}</td><td>{{ row.died }}</td>
<td>{{ row.arguments }}</td><td>{{ row.digest }}</td></tr>{% endfor %}</table>""")


def row(entry: Entry) -> dict[str, str]:
    died = f"{entry.died_at:%H:%M:%S}" if entry.died_at else ""
    return {
        "jid": entry.jid or "",
        "queue": entry.queue,
        "error": str(entry.error.message)[:80],
        "died": died,
        "arguments": entry.raw[:80].decode("utf-8", "replace"),
        "digest": entry.digest,
    }


def entries(request: HttpRequest) -> HttpResponse:
    counts, page, *_ = dead_letters().overview()
    audit_log().of_jids(entry.jid for entry in page.entries if entry.jid)
    return HttpResponse(TEMPLATE.render(Context({"total": counts.total, "rows": map(row, page.entries)})))


urlpatterns = [path("dead-letters/", entries)]
