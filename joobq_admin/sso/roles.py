"""Who somebody is, and what they may do. Nothing here reads a header, a cookie or a setting."""

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied

EVERYONE = "*"  # in the groups of VIEWER only: whoever is signed in
LONGEST = 256  # characters of a user id, a name, a secret
INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # control, direction and zero width, lone surrogates, line ends


class Role(Enum):
    """In rising order: each may do all that those before it may."""

    VIEWER = "Viewer"
    OPERATOR = "Operator"
    ADMIN = "Admin"

    def __str__(self) -> str:
        return self.value

    def reaches(self, other: "Role") -> bool:
        rising = list(Role)
        return rising.index(self) >= rising.index(other)


class Action(Enum):
    """What a view does. The value is the word for it in the log; `role` is the lowest that may."""

    VIEW = "view"
    REDRIVE = "redrive"
    PURGE = "purge"
    RESTORE = "restore"
    PURGE_FOR_GOOD = "purge for good"
    PURGE_ALL = "purge all"
    UNREDACTED = "see unredacted bytes"
    REPAIR = "repair"
    EXPIRE = "expire"
    CLOSE_GATE = "close gate"
    OPEN_GATE = "open gate"
    PRUNE = "prune"
    RELEASE = "release"
    DISCARD = "discard"

    def __str__(self) -> str:
        return self.value

    @property
    def role(self) -> Role:
        return NEEDED[self]


NEEDED = {
    Action.VIEW: Role.VIEWER,
    Action.REDRIVE: Role.OPERATOR,
    Action.PURGE: Role.OPERATOR,
    Action.RESTORE: Role.OPERATOR,
    Action.PURGE_FOR_GOOD: Role.ADMIN,
    Action.PURGE_ALL: Role.ADMIN,
    Action.UNREDACTED: Role.ADMIN,
    Action.REPAIR: Role.OPERATOR,
    Action.EXPIRE: Role.OPERATOR,
    Action.CLOSE_GATE: Role.ADMIN,
    Action.OPEN_GATE: Role.ADMIN,
    Action.PRUNE: Role.ADMIN,
    Action.RELEASE: Role.ADMIN,
    Action.DISCARD: Role.ADMIN,
}

#: What cannot be undone, must not be seen by who finds an open screen, or stops and starts the work of a ledger: asks
#: for a sign-in that is not old.
RECENT = frozenset({Action.PURGE_FOR_GOOD, Action.PURGE_ALL, Action.UNREDACTED, Action.CLOSE_GATE, Action.OPEN_GATE})

RoleGroups = Mapping[Role, frozenset[str]]


def role_of(groups: Iterable[str], mapped: RoleGroups) -> Role | None:
    """The highest role that one of the groups is mapped to: exact, case-sensitive. None when there is none."""
    theirs = {*groups, EVERYONE}
    return next((role for role in reversed(Role) if mapped.get(role, frozenset()) & theirs), None)


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who is signed in. `sub` is who it is, the name is for display; role None: may do nothing here.

    `auth_time`: when, in unix seconds; None where the sign-in has no clock. `recent`: lately enough for RECENT.
    `read_only`: nobody, whatever their role, may do more than look.
    """

    sub: str
    name: str
    role: Role | None
    auth_time: int | None = None
    recent: bool = False
    read_only: bool = False

    def can(self, action: Action) -> bool:
        return self.role is not None and self.role.reaches(action.role)

    @property
    def initials(self) -> str:
        words = self.name.split()
        return "".join(word[0] for word in (words[:1] + words[1:][-1:])).upper()


def flaw(text: str) -> str | None:
    """Why a value cannot stand for a person, or None when it can."""
    if not text.strip():
        return "is missing or empty"
    if text == "(null)":
        return "is (null): the proxy has no value for it"
    if len(text) > LONGEST:
        return f"is longer than {LONGEST} characters"
    if any(unicodedata.category(character) in INVISIBLE for character in text):
        return "holds a control character or is not UTF-8"
    return None


View = Callable[..., Any]


class ReadOnly(PermissionDenied):
    """They may do it, but nobody changes anything just now: nothing was done."""


class NotRecent(PermissionDenied):
    """They may do it, but signed in too long ago: nothing was done."""


def needs(action: Action) -> Callable[[View], View]:
    """Marks a view with the action that it is (`view.needs`) and lets in only who may do it.

    Raises PermissionDenied(action): handler403 gets it as `exception.args[0]`. Raises ReadOnly(action) for all but VIEW
    while nobody may change anything, NotRecent(action) for a POST of one of RECENT by somebody whose sign-in is not.
    """

    def mark(view: View) -> View:
        @wraps(view)
        def checked(request: Any, *args: Any, **kwargs: Any) -> Any:
            if not request.user.can(action):
                raise PermissionDenied(action)
            if request.user.read_only and action is not Action.VIEW:
                raise ReadOnly(action)
            if action in RECENT and request.method == "POST" and not request.user.recent:
                raise NotRecent(action)
            return view(request, *args, **kwargs)

        vars(checked)["needs"] = action
        return checked

    return mark
