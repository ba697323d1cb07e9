"""What became of a press on a page of a ledger: recorded right after it was done, and told; also when it was not."""

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from django.http import HttpRequest, HttpResponse

from joobq_admin import connection
from joobq_admin.connection import audit_log
from joobq_admin.joobq.audit import Actor, Record
from joobq_admin.joobq.delivery import Ledger
from joobq_admin.joobq.outcome import AnswerLost, NotDone, Refusal
from joobq_admin.pages import answer, links, times, words
from joobq_admin.pages.sends import name_of
from joobq_admin.pages.tokens import plain
from joobq_admin.sso.roles import Action, User

NEWEST = 200  # records of the audit log that are looked at for who was faster
LOST = "The connection to Redis was lost after it was sent. It may or may not be done. Pressing again is safe."
HALF_DONE = "What of it was done is told by the ledger as it stands now; a repair puts its indexes right."


@dataclass(frozen=True, slots=True)
class Head:
    """Which ledger a page is about; `names`: for a form that looks there."""

    namespace: str
    queue: str
    url: str
    names: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Told:
    """`unrecorded`: why the audit log has no record of what was done. `unsure`: it may be done all the same."""

    heading: str
    text: str
    status: int = 200
    unrecorded: str = ""
    unsure: bool = False


def head(ledger: Ledger) -> Head:
    return Head(plain(ledger.namespace, 80), plain(ledger.queue, 80), url(ledger), (ledger.namespace, ledger.queue))


def url(ledger: Ledger, view: str = "ledger", **query: str) -> str:
    return links.ledger(ledger.namespace, ledger.queue, view, **query)


def actor(user: User) -> Actor:
    return Actor(user.sub, user.name)


def who(id_: str, name: str, user: User) -> str:
    """As `user` is told; '' where nobody is named."""
    return "you" if id_ and id_ == user.sub else plain(name or id_, 80)


def new_operation() -> str:
    return str(uuid4())


def noted(
    action: str, ledger: Ledger, by: Actor, operation: str, reason: str = "", digest: str = "", **did: str
) -> str:
    """Records what was just done; '' or, in words, why there is no record of it. Once an operation."""
    where = {"namespace": ledger.namespace, "queue": ledger.queue}

    def note() -> None:
        audit_log().note(action, by, reason, operation, digest, **where, **did)

    try:
        try:
            note()
        except AnswerLost:
            note()
    except (NotDone, *connection.TROUBLE) as trouble:
        said = str(trouble) if isinstance(trouble, NotDone) else connection.said(trouble)
        why = f"Redis said {plain(said).removesuffix('.')}" if said else "Redis did not answer"
        return f"It is in no record: the audit log does not take one. {why}."
    return ""


def trouble(why: Exception) -> Told:
    """Redis did not answer, or refused."""
    if isinstance(why, AnswerLost):
        return Told("Outcome unknown", LOST, 503, unsure=True)
    refusal, said = connection.refusal(why), plain(connection.said(why))
    if refusal is Refusal.NOT_ALLOWED:
        return Told("Redis does not allow it", f"Redis said: {said} {HALF_DONE} {words.ENGINEER}", 503)
    if refusal:
        return Told("Redis takes no changes now", f"Redis said {refusal}. Nothing was changed. Try again.", 503)
    if said:
        return Told("Redis refused it", f"Redis said: {said} {HALF_DONE}", 503)
    return Told("Redis does not answer", "Nothing was sent, so nothing was done.", 503)


def dialog(request: HttpRequest, template: str, context: dict[str, Any], status: int = 200) -> HttpResponse:
    """Wherever the answer was to go: it asks before anything is done."""
    response = answer.fragment(request, template, context, status=status)
    response["HX-Retarget"], response["HX-Reswap"] = "#dialog", "innerHTML"
    return response


def last_done(action: Action, ledger: Ledger) -> Record | None:
    """Who did this to this ledger lately, by the newest records of the audit log; None where that is not told."""
    try:
        page = audit_log().page(limit=1, budget=NEWEST, where=lambda record: _is(record, action, ledger))
    except connection.TROUBLE:
        return None
    return page.records[0] if page.records else None


def _is(record: Record, action: Action, ledger: Ledger) -> bool:
    at = record.fields.get("namespace"), record.queue
    return record.action == str(action) and at == (ledger.namespace, ledger.queue)


def who_and_when(record: Record, user: User) -> str:
    """'by Tomás Rivera at 02:19:02'."""
    at = f" at {times.clock(record.at, times.now())}" if record.at else ""
    return f"by {name_of(record, user)}{at}"
