"""How far a purge of one queue is: what is gone, what is still to go, who can go on with it."""

from dataclasses import dataclass

from joobq_admin import connection
from joobq_admin.joobq.audit import Record
from joobq_admin.joobq.purging import Step
from joobq_admin.pages import links
from joobq_admin.sso.roles import Action, User

NOT_KEPT = "It was recorded before its first entry went. How many did is not kept for longer than an hour."
EARLIER = "What earlier purges put into the bin is there still."
ALL_GONE = f"They are gone for good. No copy is kept. {EARLIER}"


@dataclass(frozen=True, slots=True)
class Progress:
    """`text` says it all. `gone`: None where that is not known any more; `operation`: what is under way, else ''.

    `url` '': there is nothing to go on with, or not for this reader; `goes_on`: by itself.
    """

    text: str
    planned: int = 0
    gone: int | None = None
    url: str = ""
    operation: str = ""
    after: str = ""
    goes_on: bool = False

    @property
    def under_way(self) -> bool:
        return bool(self.operation)


def progress(record: Record, user: User, step: Step | None = None) -> Progress:
    """By its record and its plan. `step`: the one that was just done, by this reader. Raises TROUBLE."""
    planned = record.entries or 0
    if record.everything:
        return Progress(ALL_GONE, planned, planned)
    plan = connection.purging(operation=record.operation).planned()
    if not plan:
        return Progress(NOT_KEPT, planned)
    planned = max(planned, plan.left)
    gone = planned - plan.left
    if not plan.left:
        return Progress(ALL_GONE, planned, gone)
    if plan.over:
        there = "was not there" if plan.left == 1 else "were not there"
        text = f"{gone:,} of them are gone for good, no copy is kept. {plan.left:,} {there} any more when its turn came"
        return Progress(f"{text}: it left meanwhile, or came in again. {EARLIER}", planned, gone)
    text = f"{gone:,} of {planned:,} are gone, {plan.left:,} are still to go."
    if not step:
        text += " It stands still when no page goes on with it. It can go on within an hour of its last step."
    may = user.can(Action.PURGE_ALL)
    return Progress(
        text=text,
        planned=planned,
        gone=gone,
        url=links.purge_all(record.queue) if may else "",
        operation=record.operation,
        after=str(step.older) if step else "",
        goes_on=step is not None,
    )
