"""What signed claims say of a person: name, role, when they signed in. The rest of a claim is nothing to us."""

import time
from typing import Any

from joobq_admin.sso.roles import Role, RoleGroups, flaw, role_of

Claims = dict[str, Any]

SUB_BYTES = 255  # OpenID Connect Core 2


def flaw_of_sub(sub: str) -> str | None:
    """Why this cannot be who somebody is, or None when it can."""
    return flaw(sub) or ("is longer than 255 bytes" if len(sub.encode()) > SUB_BYTES else None)


def name(claims: Claims) -> str:
    """What people call them: the first of these that can be shown. `sub` must have no flaw."""
    names = (claims.get(claim) for claim in ("name", "preferred_username", "email", "sub"))
    return next(name for name in names if isinstance(name, str) and not flaw(name))


def role(groups: object, by_group: RoleGroups, email: object, by_email: RoleGroups) -> Role | None:
    """The highest by a list of groups, and nothing that looks like one, or by an address that somebody vouches for."""
    theirs = [group for group in groups if isinstance(group, str)] if isinstance(groups, list) else []
    found = role_of(theirs, by_group), role_of([email] if isinstance(email, str) else [], by_email)
    return max(filter(None, found), key=list(Role).index, default=None)


def second(value: object) -> int:
    """Unix seconds, of no time to come; 0 for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1 << 53:
        return 0
    return int(min(value, time.time()))
