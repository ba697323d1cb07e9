"""What is answered before everything, or everything of one queue, goes: the question, and what stands in its way."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from joobq_admin import connection
from joobq_admin.joobq import refusals
from joobq_admin.joobq.outcome import AnswerLost, NotDone, Refused
from joobq_admin.joobq.purging import Plan, Step
from joobq_admin.pages import answer, forms, links, times, words
from joobq_admin.pages.answer import Problem
from joobq_admin.pages.counts import in_queue
from joobq_admin.pages.purge_forms import LONGEST_REASON, NOT_ASKED, Confirmation, Everything, Fields
from joobq_admin.pages.purge_progress import EARLIER
from joobq_admin.pages.tokens import plain

#: What the port raises where nothing was done, or it is not known.
TROUBLE = (NotDone, *connection.TROUBLE)
SAFE = "Pressing again is safe: what is gone is gone once."
ONE = "A late arrival and a new press are one: what is gone is gone once."


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """`n`: how many, as it is to be typed, `exactly`: as it may be; `share`: how much was read, of how much."""

    template: str
    title: str
    text: str
    url: str
    back: str
    fields: Fields
    given: Confirmation
    n: str = ""
    exactly: str = ""
    share: tuple[int, int] = (0, 0)
    next: str = ""
    again: str = ""
    check: bool = False
    foot: str = ""
    environment: str = settings.ENVIRONMENT
    longest: int = LONGEST_REASON


def question(request: HttpRequest, asked: Everything, given: Confirmation) -> HttpResponse:
    """`asked.n` of them, 0 = nothing to ask."""
    at, n = times.named(times.now()), f"{asked.n:,}"
    if not asked.n:
        return _told(request, asked, given, "Nothing to purge", f"{_of(asked, 'No entry')} is in dead letters, {at}.")
    if asked.queue is None:
        goes = f"All that is there at the moment of the press goes: {n} at {at}."
    else:
        goes = f"Exactly those {n} go that were there at {at}."
    text = f"What is purged will not run. {goes} What comes in later stays. {EARLIER}"
    fields = (("operation", asked.operation), ("n", str(asked.n)), ("confirmed", "1"))
    return _shown(
        request, "question", asked, given, 200,
        title=f"Purge {_of(asked, 'everything')}?", text=text, fields=fields, n=n,
        exactly=f"{asked.n}|{n}",
    )  # fmt: skip


def planning(request: HttpRequest, asked: Everything, step: Step, plan: Plan | None, size: int) -> HttpResponse:
    """Not all was looked through yet. `size`: of the dead set."""
    total, found = max(size, step.above), plan.left if plan else 0
    fields = (("operation", asked.operation), ("after", str(step.older)))
    return _shown(
        request, "planning", asked, NOT_ASKED, 200,
        title=f"Looking for {_of(asked, 'everything')}", fields=fields, share=(step.above, total),
        text=f"Nothing is purged yet. {found:,} found, {step.above:,} of {total:,} read.",
    )  # fmt: skip


def of_others(request: HttpRequest) -> HttpResponse:
    """This operation was begun for another queue, or for everything."""
    text = "Nothing was purged by this press. Ask anew, from the list of what is to go."
    what = Problem(400, "Not understood", "This operation is about other entries", text, links=(answer.home(),))
    return answer.problem(request, what)


def not_done(request: HttpRequest, asked: Everything, given: Confirmation) -> HttpResponse:
    """'Check again' found no record. The same operation stays on the button."""
    at = times.time(times.now())
    text = "Redis answers again and has no record of this operation. It purged nothing."
    return _told(
        request, asked, given, f"Not done as of {at}", text, check=True, again="Press Purge again", next=ONE,
        foot=f"Operation {asked.operation[:8]}, checked on the primary at {at}.",
    )  # fmt: skip


def trouble(request: HttpRequest, asked: Everything, given: Confirmation, why: Exception) -> HttpResponse:
    """Nothing is recorded, as far as is known. `given`: it was pressed."""
    said = _why(why, asked)
    if given and (isinstance(why, AnswerLost) or forms.unsure(request)):
        tried = "" if isinstance(why, AnswerLost) else f" Last tried at {times.time(times.now())}: {said.heading}."
        foot = f"Operation {asked.operation[:8]}.{tried}"
        return _told(
            request, asked, given, "Outcome unknown",
            "The connection to Redis was lost after the operation was sent. It may or may not be done.", 503,
            check=True, again="Press Purge again", next=SAFE, foot=foot,
        )  # fmt: skip
    return _told(request, asked, given, said.heading, said.text, said.status, again="Try again", next=said.next)


def stopped(request: HttpRequest, asked: Everything, why: Exception) -> HttpResponse:
    """It is recorded, and was under way."""
    said = _why(why, asked)
    text = f"{said.heading}. What is gone until now is gone; the rest is in dead letters."
    more = {"again": "Continue", "next": "It can go on from here, within an hour."}
    return _told(request, asked, NOT_ASKED, "Stopped", text, said.status, **more)


class _Why(NamedTuple):
    heading: str
    text: str
    next: str
    status: int


def _why(trouble: Exception, asked: Everything) -> _Why:
    if isinstance(trouble, AnswerLost):
        return _Why("Redis did not answer", "Its answer was lost. Nothing is purged yet.", "", 503)
    if isinstance(trouble, NotDone):
        said = words.refusal(Refused("", trouble.reason), plain(asked.queue or "", 80))
        return _Why(f"Refused: {said.heading}", said.text, said.next, 503 if trouble.reason.by_server else 422)
    if words_ := refusals.said(trouble):
        return _Why("Redis does not let us read", f"Redis said: {plain(words_)}. Nothing was done.", "", 503)
    return _Why("Redis does not answer", "Nothing was sent, so nothing was done.", "Try again when it answers.", 503)


def _told(
    request: HttpRequest, asked: Everything, given: Confirmation, title: str, text: str, status: int = 200, **more: Any
) -> HttpResponse:
    """Not a question: what became of one."""
    n = str(asked.n)
    answered = {"confirmed": "1", "reason": given.reason, "count": n, "n": n} if given else {}
    unsure = {"unsure": "1"} if more.get("check") else {}
    after = {"after": str(asked.start)} if asked.start else {}
    fields = tuple({"operation": asked.operation, **after, **answered, **unsure}.items())
    return _shown(request, "told", asked, given, status, title=title, text=text, fields=fields, **more)


def _of(asked: Everything, what: str) -> str:
    if asked.queue is None:
        return what
    return f"{what} {in_queue(asked.queue)}"


def _shown(
    request: HttpRequest, name: str, asked: Everything, given: Confirmation, status: int, **said: Any
) -> HttpResponse:
    """For htmx a dialog, or what stands in it, or in the place of the progress; else a page."""
    back = links.entries() if asked.queue is None else links.queue(asked.queue)
    ask = Asking(
        template=f"dead_letters/purge_all/_{name}.html",
        url=asked.url,
        back=back,
        given=given,
        **said,
    )
    htmx: Any = getattr(request, "htmx", None)
    context = {"ask": ask, "title": ask.title, "h": "h2" if htmx else "h1"}
    if not htmx:
        return answer.page(request, "dead_letters/purge_all/page.html", context, status=status, read=status != 503)
    place = next((place for place in ("planning", "purging") if answer.wants(request, place)), "")
    template = f"dead_letters/purge_all/_{'in_place' if place else 'dialog'}.html"
    return answer.fragment(request, template, context | {"place": place}, status=status)
