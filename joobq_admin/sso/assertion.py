"""The signed assertion that a proxy, such as Cloudflare Access or Google IAP, adds to each request of somebody."""

from collections.abc import Mapping
from dataclasses import dataclass

from joobq_admin.sso import claims, tokens
from joobq_admin.sso.proxy import Peers, speaks_from
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
    peers: Peers = ()

    def identify(self, peer: str, headers: Mapping[str, str]) -> User | str:
        """As proxy.Rules has it; no other header is looked at. Raises Unavailable while the keys cannot be had."""
        if not speaks_from(peer, self.peers):
            return f"the peer {peer} is none of JOOBQ_ADMIN_PROXY_PEERS"
        try:
            said = tokens.verified(headers.get(self.header), self.keys, self.issuer, self.audience, ["sub"])
        except Refused as error:
            return f"{self.header} proves nobody: {error}"
        if fault := claims.flaw_of_sub(said["sub"]):
            return f"{self.header}: sub {fault}"
        # The proxy vouches for what it signs, unless it says otherwise
        email = said.get("email") if said.get("email_verified", True) is True else None
        role = claims.role(said.get(self.groups_claim), self.groups, email, self.emails)
        return User(sub=said["sub"], name=claims.name(said), role=role)
