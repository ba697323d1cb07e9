"""What the environment says of signing in: by whom, and who may then do what."""

import re
import ssl
from ipaddress import IPv4Network, IPv6Network, ip_network

from joobq_admin.environment import MAKE_A_SECRET, Variables, parsed
from joobq_admin.sso import dev, oidc, proxy
from joobq_admin.sso.roles import EVERYONE, Role, RoleGroups

WAYS = ("oidc", "proxy", "dev")


def auth(ask: Variables) -> str:
    """Who signs people in, one of WAYS; '' when that is not said."""
    name = "JOOBQ_ADMIN_AUTH"
    text = ask.text(name)
    if text in WAYS:
        return text
    ask.problem(name, "must say who signs people in: oidc, proxy, or dev on your own machine")
    return ""


def role_groups(ask: Variables, required: bool) -> RoleGroups:
    """Which groups have which role; `required`: one at least must have one."""
    groups = {role: frozenset(ask.words(f"JOOBQ_ADMIN_ROLE_{role.name}")) for role in Role}
    for role in (Role.OPERATOR, Role.ADMIN):
        if EVERYONE in groups[role]:
            ask.problem(
                f"JOOBQ_ADMIN_ROLE_{role.name}", "* (everybody who is signed in) is for viewers only; name groups"
            )
    if required and not any(groups.values()):
        ask.problem(
            "JOOBQ_ADMIN_ROLE_VIEWER, _OPERATOR, _ADMIN",
            "name at least one group in one of them; else nobody may see anything",
        )
    return groups


def role_emails(ask: Variables) -> RoleGroups:
    """Which e-mail addresses have which role. They count where somebody vouches for them: not behind plain headers."""
    emails = {role: frozenset(ask.words(f"JOOBQ_ADMIN_ROLE_EMAILS_{role.name}")) for role in Role}
    for role, addresses in emails.items():
        if not all(re.fullmatch(r"[^\s@*]+@[^\s@*]+", address) for address in addresses):
            ask.problem(f"JOOBQ_ADMIN_ROLE_EMAILS_{role.name}", "must be whole e-mail addresses with ; between them")
    return emails


def oidc_rules(ask: Variables, groups: RoleGroups, emails: RoleGroups, required: bool) -> oidc.Rules:
    """The provider, and who we are to it. `required`: without issuer, client id and secret there is no sign-in."""
    scopes = ask.text("JOOBQ_ADMIN_OIDC_SCOPES", "openid profile email")
    if "openid" not in scopes.split():
        ask.problem("JOOBQ_ADMIN_OIDC_SCOPES", "must hold openid, with spaces between them")
    client_id = ask.text("JOOBQ_ADMIN_OIDC_CLIENT_ID")
    if required and not client_id:
        ask.problem("JOOBQ_ADMIN_OIDC_CLIENT_ID", "must be the name under which the provider knows this dashboard")
    missing = "must be the secret that the provider gave this dashboard" if required else ""
    return oidc.Rules(
        issuer=issuer(ask, "JOOBQ_ADMIN_OIDC_ISSUER", required),
        client_id=client_id,
        client_secret=ask.secret("JOOBQ_ADMIN_OIDC_CLIENT_SECRET", missing),
        scopes=scopes,
        groups_claim=ask.text("JOOBQ_ADMIN_OIDC_GROUPS_CLAIM", "groups"),
        groups=groups,
        emails=emails,
        ca_file=ca_file(ask, "JOOBQ_ADMIN_OIDC_CA_FILE"),
    )


def ca_file(ask: Variables, name: str) -> str:
    """A file of certificates to trust instead of the system's; '' for those."""
    file = ask.text(name)
    if file and ask.content(name, file):
        try:
            ssl.create_default_context(cafile=file)
        except ssl.SSLError:
            ask.problem(name, "holds no certificate")
    return file


def issuer(ask: Variables, name: str, required: bool) -> str:
    """The provider's own name, letter by letter as it gives it: an https address, or http on this machine."""
    text = ask.text(name)
    url = parsed(text)
    host = (url and url.hostname) or ""
    sound = url and (url.scheme == "https" or (url.scheme == "http" and dev.loopback(host)))
    if (required and not text) or (text and not (sound and host and not url.query and not url.fragment)):
        ask.problem(
            name, "must be the provider's issuer as it names itself, such as https://id.example.com/realms/main"
        )
    return text


def proxy_rules(ask: Variables, groups: RoleGroups, required: bool) -> proxy.Rules:
    """What the proxy sends. `required`: without its secret and its separator of groups there are none."""
    kind = ask.text("JOOBQ_ADMIN_PROXY_KIND", "headers")
    if kind == "assertion":
        ask.problem("JOOBQ_ADMIN_PROXY_KIND", "assertion is not available in this version; set it to headers")
    elif kind != "headers":
        ask.problem("JOOBQ_ADMIN_PROXY_KIND", "must be headers")
    separator = ask.text("JOOBQ_ADMIN_PROXY_GROUPS_SEPARATOR")
    if required and not separator:
        ask.problem(
            "JOOBQ_ADMIN_PROXY_GROUPS_SEPARATOR", "must be what the proxy puts between groups and no group's name holds"
        )
    missing = f"must be a secret that the proxy sends with each request; {MAKE_A_SECRET}" if required else ""
    current = proxy_secret(ask, "JOOBQ_ADMIN_PROXY_SECRET", missing)
    old = proxy_secret(ask, "JOOBQ_ADMIN_PROXY_SECRET_OLD")
    return proxy.Rules(
        secrets=tuple(filter(None, (current, old))),
        secret_header=header(ask, "JOOBQ_ADMIN_PROXY_SECRET_HEADER", "X-JoobQ-Admin-Proxy-Secret"),
        user_header=header(ask, "JOOBQ_ADMIN_PROXY_USER_HEADER", "X-Forwarded-User"),
        name_header=header(ask, "JOOBQ_ADMIN_PROXY_NAME_HEADER", "X-Forwarded-Preferred-Username"),
        groups_header=header(ask, "JOOBQ_ADMIN_PROXY_GROUPS_HEADER", "X-Forwarded-Groups"),
        groups_separator=separator or ";",
        roles=groups,
        peers=networks(ask, "JOOBQ_ADMIN_PROXY_PEERS"),
    )


def proxy_secret(ask: Variables, name: str, missing: str = "") -> str:
    value = ask.secret(name, missing)
    if value and not re.fullmatch(r"[ -+\--~]{32,256}", value):
        ask.problem(name, f"must be 32 to 256 characters of ASCII, none of them a comma; {MAKE_A_SECRET}")
    return value


def header(ask: Variables, name: str, default: str) -> str:
    value = ask.text(name, default)
    if not re.fullmatch(r"[A-Za-z0-9-]+", value):
        ask.problem(name, "must be the name of a header, of letters, digits and -; servers drop names with _")
    return value


def networks(ask: Variables, name: str) -> tuple[IPv4Network | IPv6Network, ...]:
    try:
        return tuple(ip_network(word, strict=False) for word in ask.words(name))
    except ValueError as error:
        ask.problem(name, f"must be addresses or networks with ; between them: {error}")
        return ()
