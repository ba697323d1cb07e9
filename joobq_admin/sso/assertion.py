"""The signed assertion that a proxy, such as Cloudflare Access or Google IAP, adds to each request of somebody."""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network

from joobq_admin.sso import claims, tokens
from joobq_admin.sso.proxy import speaks_from
from joobq_admin.sso.roles import RoleGroups, User
from joobq_admin.sso.tokens import Keys, Refused


@dataclass(frozen=True, slots=True)
class Rules:
    """Where the assertion stands, who makes it, for whom, and what its groups and e-mail addresses mean."""

    header: str
    issuer: str
    audience: str
    keys: Keys
    groups_claim: str
    groups: RoleGroups
    emails: RoleGroups
    peers: tuple[IPv4Network | IPv6Network, ...] = ()  # where the proxy may speak from; empty: anywhere


def identify(peer: str, headers: Mapping[str, str], rules: Rules) -> User | str:
    """The user that the proxy vouches for, or why nobody is, in words for the log. Other headers are not looked at.

    `peer`, `headers`: as for proxy.identify. Raises Unavailable while the proxy's keys cannot be had.
    """
    if not speaks_from(peer, rules.peers):
        return f"the peer {peer} is none of JOOBQ_ADMIN_PROXY_PEERS"
    try:
        said = tokens.verified(headers.get(rules.header), rules.keys, rules.issuer, rules.audience, ["sub"])
    except Refused as error:
        return f"{rules.header} proves nobody: {error}"
    if fault := claims.flaw_of_sub(said["sub"]):
        return f"{rules.header}: sub {fault}"
    # The proxy vouches for what it signs, unless it says otherwise
    email = said.get("email") if said.get("email_verified", True) is True else None
    return User(
        sub=said["sub"],
        name=claims.name(said),
        role=claims.role(said.get(rules.groups_claim), rules.groups, email, rules.emails),
    )
