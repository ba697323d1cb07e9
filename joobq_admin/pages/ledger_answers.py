"""What became of a press on a page of a ledger: recorded right after it was done, and told; also when it was not."""

from dataclasses import dataclass, replace

from django.http import HttpRequest

from joobq_admin import connection
from joobq_admin.connection import audit_log
from joobq_admin.joobq import refusals
from joobq_admin.joobq.audit import Actor, Record
from joobq_admin.joobq.delivery import Ledger
from joobq_admin.joobq.outcome import AnswerLost, NotDone, Refusal
from joobq_admin.pages import ledger_forms, log, times, words
from joobq_admin.pages.sends import name_of
from joobq_admin.pages.tokens import plain
from joobq_admin.sso.roles import Action, User

NEWEST = 200  # records of the audit log that are looked at for who was faster
LOST = "The connection to Redis was lost after it was sent. It may or may not be done. Pressing again is safe."
HALF_DONE = "What of it was done is told by the ledger as it stands now; a repair puts its indexes right."


@dataclass(frozen=True, slots=True)
class Told:
    """`unrecorded`: why the audit log has no record of what was done. `unsure`: it may be done all the same."""

    heading: str
    text: str
    status: int = 200
    unrecorded: str = ""
    unsure: bool = False


@dataclass(frozen=True, slots=True)
class Press:
    """What somebody wants done to a ledger, as which operation; `digest`: of the bytes of the request it is about."""

    action: Action
    ledger: Ledger
    operation: str
    user: User
    reason: str = ""
    request_id: str = ""
    digest: str = ""

    @property
    def by(self) -> Actor:
        return Actor(self.user.sub, self.user.name)

    def noted(self, word: str = "", **did: str) -> str:
        """See `noted`; `word`: for a part of the action."""
        about = {"request": self.request_id} if self.request_id else {}
        word = word or str(self.action)
        return noted(word, self.ledger, self.by, self.operation, self.reason, self.digest, **about, **did)

    def logged(self, outcome: str) -> None:
        log.of_a_ledger(self.action, self.operation, self.user, outcome, self.ledger, self.request_id)

    def failed(self, why: Exception) -> Told:
        told = trouble(why)
        self.logged("unknown" if told.unsure else "unsent")
        return told

    def lost(self, told: Told, word: str = "", **did: str) -> Told:
        """What may be done all the same is recorded as pressed."""
        return replace(told, unrecorded=self.noted(word, **did, answer="lost")) if told.unsure else told


def press(request: HttpRequest, action: Action, **more: str) -> Press:
    return Press(action, ledger_forms.ledger(request), ledger_forms.operation(request), request.user, **more)


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
        said = str(trouble) if isinstance(trouble, NotDone) else refusals.said(trouble)
        why = f"Redis said {plain(said).removesuffix('.')}" if said else "Redis did not answer"
        return f"It is in no record: the audit log does not take one. {why}."
    return ""


def trouble(why: Exception) -> Told:
    """Redis did not answer, or refused."""
    if isinstance(why, AnswerLost):
        return Told("Outcome unknown", LOST, 503, unsure=True)
    refusal, said = refusals.refusal_of(why), plain(refusals.said(why)).removesuffix(".")
    if refusal is Refusal.NOT_ALLOWED:
        return Told("Redis does not allow it", f"Redis said: {said}. {HALF_DONE} {words.ENGINEER}", 503)
    if refusal:
        return Told("Redis takes no changes now", f"Redis said {refusal}. Nothing was changed. Try again.", 503)
    if said:
        return Told("Redis refused it", f"Redis said: {said}. {HALF_DONE}", 503)
    return Told("Redis does not answer", "Nothing was sent, so nothing was done.", 503)


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
