"""What is new since a list was read: a page that stands open asks now and then, and nothing on it moves."""

from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from joobq_admin.connection import dead_letters, redaction
from joobq_admin.pages import answer, links, list_forms, reader, times
from joobq_admin.pages.list_forms import Listing, Watching
from joobq_admin.sso.roles import Action, needs
from joobq_admin.triage.news import News, Seen, news


@dataclass(frozen=True, slots=True)
class Watch:
    """`url`: where it is asked, `every` so many seconds ('' = not at all); `show`: the list that has what is `new`.

    `stale`: what is said where nobody asks, or nobody answers.
    """

    url: str
    every: str
    show: str
    new: str = ""
    stale: str = ""


@needs(Action.VIEW)
@require_safe
def fresh(request: HttpRequest) -> HttpResponse:
    """Nothing (204) when all is as the page was told before."""
    given = list_forms.watching(request)
    found = news(dead_letters(), given.seen, given.asked.wanted, redaction(), times.now())
    if (found.new, found.total) == given.told and not given.stale:
        return HttpResponse(status=204)
    context = {"watch": _told(request, given, found), "total": f"{found.total:,}"}
    return answer.fragment(request, "dead_letters/_news.html", context)


def watch(request: HttpRequest, asked: Listing, seen: Seen, now: datetime) -> Watch:
    """For a list that is read now."""
    every, at = reader.of(request).every, times.named(now)
    show = links.entries(**asked.filters)
    if not every:
        return Watch("", "", show, stale=f"Read {at}. Nothing newer is looked for.")
    return Watch(_url(asked, seen), every, show, stale=f"Read {at}. No answer since.")


def _told(request: HttpRequest, given: Watching, found: News) -> Watch:
    n = f"{found.new:,}{' or more' if found.more else ''} new {'entry' if found.new == 1 else 'entries'}"
    return Watch(
        url=_url(given.asked, given.seen, f"{found.new}.{found.total}"),
        every=reader.of(request).every,
        show=links.entries(**given.asked.filters),
        new=n if found.new else "",
    )


def _url(asked: Listing, seen: Seen, told: str = "") -> str:
    query = links.entries(**asked.filters, seen=str(seen), told=told)
    return reverse("fresh") + query.removeprefix(reverse("entries"))
