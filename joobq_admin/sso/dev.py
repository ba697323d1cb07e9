"""Sign-in for one's own machine: everybody who comes by loopback is `dev`, in the role that they picked."""

from collections.abc import Iterable
from ipaddress import ip_address

from joobq_admin.sso.roles import Role, User

COOKIE = "dev-role"
PASSED_ON = {"forwarded", "via", "x-real-ip"}  # and x-forwarded-…: headers of proxies
ROLES: dict[str, Role | None] = {"admin": Role.ADMIN, "operator": Role.OPERATOR, "viewer": Role.VIEWER, "none": None}


def identify(peer: str, host: str, headers: Iterable[str], picked: str) -> User | str:
    """The user `dev` in the role `picked` (a key of ROLES), or why not, in words.

    `host` is the Host header: with it loopback, no page of another site can speak to us by a name of its own.
    """
    if not loopback(peer):
        return "it came from another machine"
    if not loopback(host.rsplit(":", 1)[0] if host.rpartition(":")[2].isdecimal() else host):
        return "its Host is not 127.0.0.1, localhost or [::1]"
    forwarding = (name for name in headers if name.lower() in PASSED_ON or name.lower().startswith("x-forwarded-"))
    if name := next(forwarding, None):
        return f"a proxy passed it on (it has the header {name})"
    return User(sub="dev", name="dev", role=ROLES.get(picked, Role.ADMIN))


def loopback(name: str) -> bool:
    """Whether it is `localhost` or an address of this machine alone ('::1' also in brackets)."""
    if name.lower() == "localhost":
        return True
    try:
        return ip_address(name.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return False
