"""What a purge, of ticked rows or of everything, and its undo are sent with, checked: which entries, and why."""

import re
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from django.core.exceptions import BadRequest
from django.http import HttpRequest

from joobq_admin.joobq.entry import EntryRef
from joobq_admin.joobq.lookup import Cursor
from joobq_admin.pages import forms, links, list_forms
from joobq_admin.pages.undo import Undo

LONGEST_REASON = 1_000  # characters

Fields = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The answer to the question before a purge; it is asked again until there is a reason, one line of text.

    `pressed`: it was answered; `counted`: with the number of entries, which only what is for good must be.
    """

    pressed: bool
    reason: str
    for_good: bool = False
    counted: bool = False

    def __bool__(self) -> bool:
        return self.pressed and bool(self.reason) and (self.counted or not self.for_good)

    @property
    def without_reason(self) -> bool:
        return self.pressed and not self.reason

    @property
    def miscounted(self) -> bool:
        return self.pressed and self.for_good and not self.counted


NOT_ASKED = Confirmation(False, "")


def confirmation(request: HttpRequest, n: int, for_good: bool | None = None) -> Confirmation:
    """`n`: how many entries it is about; `for_good` None: as the form says."""
    posted: Any = request.POST
    reason = " ".join(posted.get("reason", "").split())
    if len(reason) > LONGEST_REASON:
        raise BadRequest("the reason is too long")
    return Confirmation(
        pressed=forms.flag(posted, "confirmed"),
        reason=reason,
        for_good=forms.flag(posted, "for_good") if for_good is None else for_good,
        counted=re.sub(r"[\s,]", "", posted.get("count", "")) == str(n),
    )


def undo(request: HttpRequest) -> Undo:
    posted: Any = request.POST
    return Undo(forms.operation_id(posted.get("undo")), forms.operation_id(posted.get("operation")))


@dataclass(frozen=True, slots=True)
class Ticks:
    """Up to a page of entries, each once; `back`: the query of the list on which they were ticked."""

    refs: tuple[EntryRef, ...]
    operation: str
    back: str

    def fields(self, given: Confirmation = NOT_ASKED) -> Fields:
        """The same as hidden fields of a form, with what was answered."""
        why = (("confirmed", "1"), ("reason", given.reason)) if given else ()
        good = (("for_good", "1"), ("count", str(len(self.refs)))) if given and given.for_good else ()
        ticks = (("entry", links.tick(ref)) for ref in self.refs)
        return (("operation", self.operation), ("back", self.back), *why, *good, *ticks)


def ticks(request: HttpRequest) -> Ticks:
    posted: Any = request.POST
    refs = tuple(dict.fromkeys(forms.ticked(text) for text in posted.getlist("entry")))
    if not 0 < len(refs) <= forms.MOST_ROWS:
        raise BadRequest("no entry is ticked, or more than a page has")
    back = posted.get("back", "")
    list_forms.listing(request, back)
    return Ticks(refs, forms.operation_id(posted.get("operation")), back)


@dataclass(frozen=True, slots=True)
class Everything:
    """What is to go: everything, or everything of one queue ('' = of the entries that name none).

    `start`: where the next step begins; `n`: how many were asked about; `begun`: it was asked about before;
    `checks`: only what became of it is asked.
    """

    queue: str | None
    operation: str
    begun: bool
    start: Cursor | None
    n: int
    checks: bool

    @property
    def url(self) -> str:
        return links.purge_all(self.queue)


def everything(request: HttpRequest) -> Everything:
    """Of what stands in the URL, as names may hold anything. Without an operation it is a new one."""
    given, posted = forms.query(request), dict(request.POST.items())
    queue, nameless, all_ = given.get("queue", ""), forms.flag(given, "unknown"), forms.flag(given, "everything")
    if bool(queue) + nameless + all_ != 1:
        raise BadRequest("everything is to go, or everything of one queue")
    operation = posted.get("operation")
    return Everything(
        queue=None if all_ else queue,
        operation=forms.operation_id(operation) if operation else str(uuid4()),
        begun=bool(operation),
        start=forms.cursor(posted.get("after")),
        n=forms.number(posted.get("n"), 0, 0, 10**15),
        checks=forms.flag(posted, "check"),
    )
