"""Identity headers of a proxy that signed somebody in. They count only with a secret that the proxy alone knows.

Values are as WSGI gives them: bytes read as latin-1, several headers of one name joined by a comma.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hmac import compare_digest
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address

from joobq_admin.sso.roles import RoleGroups, User, flaw, role_of

Peers = tuple[IPv4Network | IPv6Network, ...]  # where a proxy may speak from; empty: anywhere


@dataclass(frozen=True, slots=True)
class Rules:
    """What the proxy sends, and what its groups mean. `secrets`: the one in use and, while it changes, the old one."""

    secrets: tuple[str, ...] = field(repr=False)
    secret_header: str
    user_header: str
    name_header: str
    groups_header: str
    groups_separator: str
    roles: RoleGroups
    peers: Peers = ()

    def identify(self, peer: str, headers: Mapping[str, str]) -> User | str:
        """The user that the proxy vouches for, or why nobody is, in words for the log.

        `peer` is the address of whoever opened the connection, '' for a Unix socket. `headers` finds names in any case.
        """
        if not speaks_from(peer, self.peers):
            return f"the peer {peer} is none of JOOBQ_ADMIN_PROXY_PEERS"
        secret = readable(headers.get(self.secret_header, ""))
        if not proves(secret, self.secrets):
            return f"{self.secret_header} {single_flaw(secret) or 'is wrong'}"
        sub = readable(headers.get(self.user_header, ""))
        if fault := single_flaw(sub):
            return f"{self.user_header} {fault}"
        name = readable(headers.get(self.name_header, ""))
        groups = readable(headers.get(self.groups_header, "")).split(self.groups_separator)
        role = role_of((group.strip() for group in groups), self.roles)
        return User(sub=sub, name=sub if flaw(name) else name, role=role)


def speaks_from(peer: str, peers: Peers) -> bool:
    """Whether the peer is in one of the networks. A Unix socket is: files say who may open it."""
    if not peers or not peer:
        return True
    address = ip_address(peer)
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return any(address in network for network in peers)


def proves(given: str, secrets: tuple[str, ...]) -> bool:
    """Whether it is one of the secrets. How long that takes tells nothing of them but their length."""
    sent = given.encode("utf-8", "surrogateescape")
    return any(compare_digest(sent, secret.encode()) for secret in secrets)


def readable(value: str) -> str:
    """The header's bytes as UTF-8. Others become lone surrogates, which `flaw` refuses and no group of ours holds."""
    return value.encode("latin-1", "replace").decode("utf-8", "surrogateescape").strip(" \t")


def single_flaw(text: str) -> str | None:
    """The flaw of a value that must have come once: WSGI joins several by a comma."""
    return "holds a comma or came twice" if "," in text else flaw(text)
