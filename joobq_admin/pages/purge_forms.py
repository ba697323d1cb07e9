"""What ticked rows, a purge and its undo are sent with, checked: which entries, why, and which purge to undo."""

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import BadRequest
from django.http import HttpRequest

from joobq_admin.joobq.entry import EntryRef
from joobq_admin.pages import forms, links

LONGEST_REASON = 1_000  # characters


@dataclass(frozen=True, slots=True)
class Confirmation:
    """`pressed`: the question was answered. Without a reason, one line of text, it is asked again."""

    pressed: bool
    reason: str

    def __bool__(self) -> bool:
        return self.pressed and bool(self.reason)


def confirmation(request: HttpRequest) -> Confirmation:
    posted: Any = request.POST
    reason = " ".join(posted.get("reason", "").split())
    if len(reason) > LONGEST_REASON:
        raise BadRequest("the reason is too long")
    return Confirmation(forms.flag(posted, "confirmed"), reason)


@dataclass(frozen=True, slots=True)
class Undone:
    """`purge`: the operation whose entries are to come back; `operation`: this press."""

    purge: str
    operation: str


def undone(request: HttpRequest) -> Undone:
    posted: Any = request.POST
    return Undone(forms.operation_id(posted.get("undo")), forms.operation_id(posted.get("operation")))


@dataclass(frozen=True, slots=True)
class Ticks:
    """Up to a page of entries, each once; `back`: the query of the list on which they were ticked."""

    refs: tuple[EntryRef, ...]
    operation: str
    back: str

    def fields(self, reason: str = "") -> tuple[tuple[str, str], ...]:
        """The same as hidden fields of a form."""
        why = (("confirmed", "1"), ("reason", reason)) if reason else ()
        ticks = (("entry", links.tick(ref)) for ref in self.refs)
        return (("operation", self.operation), ("back", self.back), *why, *ticks)


def ticks(request: HttpRequest) -> Ticks:
    posted: Any = request.POST
    refs = tuple(dict.fromkeys(forms.ticked(text) for text in posted.getlist("entry")))
    if not 0 < len(refs) <= forms.MOST_ROWS:
        raise BadRequest("no entry is ticked, or more than a page has")
    back = posted.get("back", "")
    forms.listing(request, back)
    return Ticks(refs, forms.operation_id(posted.get("operation")), back)
