"""What is asked before a ledger is changed, by its admins: why, and for what is for good how many."""

from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from joobq_admin import connection
from joobq_admin.pages import answer, gate_panel
from joobq_admin.pages.ledger_names import Head
from joobq_admin.pages.purge_forms import LONGEST_REASON, Confirmation, Fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """`given`: what was answered before; `asker`: what needs a reason, which `help` says who reads.

    `split`: what it touches; `exactly`: how the number `n` may be typed, '' = it need not be. `keep` and `yes` are the
    two buttons: `back` is where the first leads, `url` where the other does, whose answer stands in `target`.
    """

    name: str
    ledger: Head
    heading: str
    text: str
    url: str
    target: str
    fields: Fields
    given: Confirmation
    asker: str
    keep: str
    yes: str
    back: str
    icon: str = "purge"
    cls: str = "danger solid"
    help: str = ""
    note: str = ""
    split: tuple[tuple[str, str], ...] = ()
    n: str = ""
    exactly: str = ""
    environment: str = settings.ENVIRONMENT
    longest: int = LONGEST_REASON


def ask(request: HttpRequest, question: Question) -> HttpResponse:
    """For htmx a dialog; else a page."""
    context = {"ask": question, "title": question.heading}
    if getattr(request, "htmx", False):
        return answer.dialog(request, "deliveries/_question_dialog.html", context)
    gate = gate_panel.warning_of(connection.ledger(*question.ledger.names), request.user)
    return answer.page(request, "deliveries/question.html", {**context, "gate": gate}, nav="deliveries")
