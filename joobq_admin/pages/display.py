"""How its reader wants this dashboard to look: theme, rows, time zone, single keys. Their browser remembers it."""

from itertools import groupby
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_http_methods

from joobq_admin.pages import answer, reader
from joobq_admin.sso.roles import Action, needs
from joobq_admin.sso.way_back import came_from, ours

REGIONS = (
    "Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific",
)  # fmt: skip


@needs(Action.VIEW)
@require_http_methods(["GET", "HEAD", "POST"])
def display(request: HttpRequest) -> HttpResponse:
    """All choices as one form; takes any of them, and goes back to `next`. To htmx its answer is the cookie alone."""
    if request.method != "POST":
        theirs = reader.of(request)
        switches = [*theirs.looks, theirs.single_keys, theirs.looks_for_news]
        context = {
            "title": "Display",
            "switches": switches,
            "zones": by_region(theirs.zone),
            "next": came_from(request),
        }
        return answer.page(request, "display/page.html", context, read=False)
    posted: Any = request.POST
    response = HttpResponse(status=204) if request.htmx else HttpResponseRedirect(ours(posted.get("next")), status=303)
    reader.remember(response, reader.chosen(request))
    return response


def by_region(chosen: str) -> list[tuple[str, list[str]]]:
    """The zones that are named after places, and the one that is chosen."""
    places = [name for name in sorted(reader.zones()) if name.partition("/")[0] in REGIONS]
    others = [("As chosen", [chosen])] if chosen and chosen not in places else []
    return others + [(region, list(names)) for region, names in groupby(places, lambda name: name.partition("/")[0])]
