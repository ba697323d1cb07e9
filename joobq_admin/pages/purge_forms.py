"""What a purge and its undo are sent with, checked: the confirmation, the reason, and which purge to undo."""

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import BadRequest
from django.http import HttpRequest

from joobq_admin.pages import forms

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
