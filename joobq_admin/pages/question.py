"""What is asked before a purge: how many, of which queues, why, until when it can be undone, or whether for good."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from joobq_admin import connection
from joobq_admin.connection import dead_letters
from joobq_admin.joobq.entry import Entry
from joobq_admin.pages import answer, binned, links, list_forms, listing, slip, times
from joobq_admin.pages.answer import Confirm
from joobq_admin.pages.forms import Press
from joobq_admin.pages.purge_forms import LONGEST_REASON, Confirmation, Ticks
from joobq_admin.pages.rows import error_of
from joobq_admin.pages.tokens import plain
from joobq_admin.pages.undo import the_bin
from joobq_admin.sso.roles import Action, User
from joobq_admin.sso.way_back import came_from

LOST = "told when no answer comes"  # in the place of the reason, which the page puts there


@dataclass(frozen=True, slots=True)
class Question:
    """`split`: queue, error and how many of the entries that are here; `url` is where it is answered.

    `given`: what was answered before; `for_good`: '' = no, 'may' be, 'is'; `confirm`: may be, once that is confirmed.
    """

    title: str
    text: str
    n: int
    split: list[tuple[str, str, int]]
    url: str
    target: str
    back: str
    until: str
    given: Confirmation
    for_good: str = ""
    confirm: Confirm | None = None
    hours: int = settings.BIN_HOURS
    environment: str = settings.ENVIRONMENT
    longest: int = LONGEST_REASON


def of_one(request: HttpRequest, pressed: Press, given: Confirmation) -> HttpResponse:
    ref, now = pressed.ref, times.now()
    entry = dead_letters().look_up(ref)
    here, url = [entry] if entry else [], links.press(ref, "purge")
    question = _of_purge(request, 1, here, url, "action", links.entry(ref), given)
    form = slip.form(ref, pressed.operation, pressed.reviewed, pressed.older)
    queue = plain(entry.queue, 200) if entry else ""
    told = form._replace(reason=LOST, for_good=bool(question.for_good))
    lost = slip.unknown(ref, queue, told, now, answered=False, action="purge")
    return _asked(request, question, {"form": form, "lost": lost})


def of_ticked(request: HttpRequest, ticks: Ticks, given: Confirmation) -> HttpResponse:
    here = connection.found(ticks.refs).values()
    back = listing.url(list_forms.listing(request, ticks.back))
    question = _of_purge(request, len(ticks.refs), here, reverse("purge"), "results", back, given)
    return _asked(request, question, {"fields": ticks.fields()})


def of_binned(request: HttpRequest, ticks: Ticks, given: Confirmation) -> HttpResponse:
    """Of ticked rows of the bin."""
    n = len(ticks.refs)
    here = (binned.entry for _, binned in the_bin().each([ref.digest for ref in ticks.refs]))
    question = Question(
        title=f"Purge {n} of the bin for good?",
        text=f"{'A copy that was kept' if n == 1 else 'Copies that were kept'} will be gone.",
        n=n,
        split=_split(here),
        url=reverse("empty"),
        target="results",
        back=binned.url(list_forms.listing(request, ticks.back)),
        until="",
        given=given,
        for_good="is",
    )
    return _asked(request, question, {"fields": ticks.fields()})


def _split(here: Iterable[Entry]) -> list[tuple[str, str, int]]:
    kinds = Counter((plain(entry.queue, 80) or "no queue name", error_of(entry)[0]) for entry in here)
    return [(queue, cls, count) for (queue, cls), count in kinds.most_common()]


def _of_purge(
    request: HttpRequest, n: int, here: Iterable[Entry], url: str, target: str, back: str, given: Confirmation
) -> Question:
    user: User = request.user
    may, s = user.can(Action.PURGE_FOR_GOOD), "" if n == 1 else "s"
    return Question(
        title=f"Purge {n} dead letter{s}?",
        text=f"What is purged will not run. Only the version{s} you reviewed {'are' if s else 'is'} removed.",
        n=n,
        split=_split(here),
        url=url,
        target=target,
        back=back,
        until=times.until(times.now() + the_bin().keep),
        given=given,
        for_good="may" if may and user.recent else "",
        confirm=Confirm(came_from(request) or back) if may and not user.recent else None,
    )


def _asked(request: HttpRequest, question: Question, more: dict[str, Any]) -> HttpResponse:
    """For htmx a dialog, wherever its answer was to go; else a page."""
    context = {"purge": question, "confirm": question.confirm, **more}
    htmx: Any = getattr(request, "htmx", None)
    if not htmx:
        return answer.page(request, "dead_letters/purge.html", context | {"title": "Purge?"}, nav="entries")
    return answer.dialog(request, "dead_letters/_purge_dialog.html", context)
