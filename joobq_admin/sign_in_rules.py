"""What the environment says of signing in: by whom, and who may then do what."""

import re
import ssl
from ipaddress import ip_network

from joobq_admin.environment import MAKE_A_SECRET, Variables, parsed, trusted
from joobq_admin.sso import assertion, dev, oidc, proxy
from joobq_admin.sso.fetch import json_at
from joobq_admin.sso.roles import EVERYONE, Role, RoleGroups
from joobq_admin.sso.tokens import Keys


def auth(ask: Variables) -> str:
    """Who signs people in: oidc, proxy or dev; '' when that is not said."""
    name = "JOOBQ_ADMIN_AUTH"
    text = ask.text(name)
    if text in ("oidc", "proxy", "dev"):
        return text
    ask.problem(name, "must say who signs people in: oidc, proxy, or dev on your own machine")
    return ""


def rules(ask: Variables, auth: str) -> tuple[oidc.Rules, proxy.Rules | assertion.Rules]:
    """Of the provider and of the proxy. What the one of `auth` needs must be there; the other's must be sound."""
    signed = ask.choice("JOOBQ_ADMIN_PROXY_KIND", ("headers", "assertion"), "headers") == "assertion"
    emails = role_emails(ask)
    by_email = any(emails.values()) and (auth == "oidc" or signed)
    groups = role_groups(ask, required=auth in ("oidc", "proxy") and not by_email)
    trust, peers = trusted(ask, "JOOBQ_ADMIN_OIDC_CA_FILE"), networks(ask, "JOOBQ_ADMIN_PROXY_PEERS")
    by_provider = oidc_rules(ask, groups, emails, trust, required=auth == "oidc")
    by_headers = header_rules(ask, groups, peers, required=auth == "proxy" and not signed)
    by_assertion = assertion_rules(ask, by_provider, peers, required=auth == "proxy" and signed)
    return by_provider, by_assertion if signed else by_headers


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


def oidc_rules(
    ask: Variables, groups: RoleGroups, emails: RoleGroups, trust: ssl.SSLContext | None, required: bool
) -> oidc.Rules:
    """The provider, and who we are to it. `required`: without issuer, client id and secret there is no sign-in."""
    scopes = ask.text("JOOBQ_ADMIN_OIDC_SCOPES", "openid profile email")
    if "openid" not in scopes.split():
        ask.problem("JOOBQ_ADMIN_OIDC_SCOPES", "must hold openid, with spaces between them")
    missing = "must be the secret that the provider gave this dashboard" if required else ""
    return oidc.Rules(
        issuer=web_address(
            ask,
            "JOOBQ_ADMIN_OIDC_ISSUER",
            "must be the provider's issuer as it names itself, such as https://id.example.com/realms/main",
            required,
        ),
        client_id=needed(
            ask,
            "JOOBQ_ADMIN_OIDC_CLIENT_ID",
            "must be the name under which the provider knows this dashboard",
            required,
        ),
        client_secret=ask.secret("JOOBQ_ADMIN_OIDC_CLIENT_SECRET", missing),
        scopes=scopes,
        groups_claim=ask.text("JOOBQ_ADMIN_OIDC_GROUPS_CLAIM", "groups"),
        groups=groups,
        emails=emails,
        trust=trust,
    )


def assertion_rules(ask: Variables, provider: oidc.Rules, peers: proxy.Peers, required: bool) -> assertion.Rules:
    """Roles, the claim of groups and whom to trust for keys are as for a provider of one's own."""
    ours = "JOOBQ_ADMIN_PROXY_ASSERTION"
    needed(ask, f"{ours}_HEADER", "must be the header that holds the proxy's assertion", required)
    url = web_address(ask, f"{ours}_JWKS_URL", "must be the https address of the proxy's keys", required)
    return assertion.Rules(
        header=header(ask, f"{ours}_HEADER", "none"),
        issuer=needed(ask, f"{ours}_ISSUER", "must be the issuer (iss) of the proxy's assertions", required),
        audience=needed(ask, f"{ours}_AUDIENCE", "must be the audience (aud) by which the proxy names us", required),
        keys=Keys(lambda: json_at(url, provider.trust)),
        groups_claim=provider.groups_claim,
        groups=provider.groups,
        emails=provider.emails,
        peers=peers,
    )


def header_rules(ask: Variables, groups: RoleGroups, peers: proxy.Peers, required: bool) -> proxy.Rules:
    """What the proxy sends. `required`: without its secret and its separator of groups there are none."""
    words = "must be what the proxy puts between groups and no group's name holds"
    missing = f"must be a secret that the proxy sends with each request; {MAKE_A_SECRET}" if required else ""
    separator = needed(ask, "JOOBQ_ADMIN_PROXY_GROUPS_SEPARATOR", words, required)
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
        peers=peers,
    )


def proxy_secret(ask: Variables, name: str, missing: str = "") -> str:
    value = ask.secret(name, missing)
    if value and not re.fullmatch(r"[ -+\--~]{32,256}", value):
        ask.problem(name, f"must be 32 to 256 characters of ASCII, none of them a comma; {MAKE_A_SECRET}")
    return value


def needed(ask: Variables, name: str, words: str, required: bool) -> str:
    value = ask.text(name)
    if required and not value:
        ask.problem(name, words)
    return value


def web_address(ask: Variables, name: str, words: str, required: bool = False) -> str:
    """By https; by http on this machine alone. Letter by letter as it was given."""
    text = needed(ask, name, words, required)
    url = parsed(text)
    host = (url and url.hostname) or ""
    sound = url and host and (url.scheme == "https" or (url.scheme == "http" and dev.loopback(host)))
    if text and not (sound and url and not url.query and not url.fragment):
        ask.problem(name, words)
    return text


def header(ask: Variables, name: str, default: str) -> str:
    value = ask.text(name, default)
    if not re.fullmatch(r"[A-Za-z0-9-]+", value):
        ask.problem(name, "must be the name of a header, of letters, digits and -; servers drop names with _")
    return value


def networks(ask: Variables, name: str) -> proxy.Peers:
    try:
        return tuple(ip_network(word, strict=False) for word in ask.words(name))
    except ValueError as error:
        ask.problem(name, f"must be addresses or networks with ; between them: {error}")
        return ()


def logout_url(ask: Variables) -> str:
    """Where one signs out of the proxy: a path of the same host, or a whole address; '' where there is none."""
    name = "JOOBQ_ADMIN_PROXY_LOGOUT_URL"
    text = ask.text(name)
    if text and not re.fullmatch(r"(?:/|https?://)(?![/\\])[^\s\\]+", text):
        ask.problem(name, "must be where one signs out of the proxy, such as /oauth2/sign_out")
    return text
