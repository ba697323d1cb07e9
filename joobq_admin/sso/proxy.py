"""Identity headers of a proxy that signed somebody in. They count only with a secret that the proxy alone knows.

Values are as WSGI gives them: bytes read as latin-1, several headers of one name joined by a comma.
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from hmac import compare_digest
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address

from joobq_admin.sso.roles import RoleGroups, User, role_of

LONGEST = 256  # characters of a user id, a name, a secret
INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # control, direction and zero width, lone surrogates, line ends


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
    peers: tuple[IPv4Network | IPv6Network, ...] = ()  # where the proxy may speak from; empty: anywhere


def identify(peer: str, headers: Mapping[str, str], rules: Rules) -> User | str:
    """The user that the proxy vouches for, or why nobody is, in words for the log.

    `peer` is the address of whoever opened the connection, '' for a Unix socket. `headers` finds names in any case.
    """
    if not speaks_from(peer, rules.peers):
        return f"the peer {peer} is none of JOOBQ_ADMIN_PROXY_PEERS"
    secret = readable(headers.get(rules.secret_header, ""))
    if not proves(secret, rules.secrets):
        return f"{rules.secret_header} {single_flaw(secret) or 'is wrong'}"
    sub = readable(headers.get(rules.user_header, ""))
    if fault := single_flaw(sub):
        return f"{rules.user_header} {fault}"
    name = readable(headers.get(rules.name_header, ""))
    groups = readable(headers.get(rules.groups_header, "")).split(rules.groups_separator)
    role = role_of((group.strip() for group in groups), rules.roles)
    return User(sub=sub, name=sub if flaw(name) else name, role=role)


def speaks_from(peer: str, networks: tuple[IPv4Network | IPv6Network, ...]) -> bool:
    """Whether the peer is in one of the networks. A Unix socket is: files say who may open it."""
    if not networks or not peer:
        return True
    address = ip_address(peer)
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return any(address in network for network in networks)


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
