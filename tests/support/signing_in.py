"""Signing in by a provider, in this process: the dashboard's settings, the browser, and the way there and back."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs, quote, urlsplit

from django.http import HttpResponse
from django.test import Client, override_settings

from joobq_admin.sso import oidc
from joobq_admin.sso.roles import Role
from tests.support.provider import CLIENT, SECRET, Provider

GROUPS = {role: frozenset({f"{role.name.lower()}s"}) for role in Role}


def rules(provider: Provider, **more: object) -> oidc.Rules:
    named = {"issuer": provider.url, "client_id": CLIENT, "client_secret": SECRET, "scopes": "openid profile email"}
    return oidc.Rules(**{**named, "groups_claim": "groups", "groups": GROUPS, "emails": {}, **more})


@contextmanager
def by_oidc(provider: Provider, **more: object) -> Iterator[None]:
    """The dashboard of this process signs people in by this provider; `more`: of its rules."""
    with override_settings(AUTH="oidc", OIDC=rules(provider, **more)):
        oidc.provider.cache_clear()
        yield
    oidc.provider.cache_clear()


def environment(provider: Provider) -> dict[str, str]:
    """Of a dashboard that is run as one behind a proxy, but for this provider: new_dashboard(url, "proxy", **it)."""
    named = {"ISSUER": provider.url, "CLIENT_ID": CLIENT, "CLIENT_SECRET": SECRET}
    return {"JOOBQ_ADMIN_AUTH": "oidc", **{f"JOOBQ_ADMIN_OIDC_{name}": value for name, value in named.items()}}


def browser(**more: object) -> Client:
    return Client(headers={"Host": "127.0.0.1"}, **more)


def begun(client: Client, to: str = "/dead-letters/", more: str = "") -> str:
    """Where the browser is led to; it has not gone there yet."""
    answer = client.get(f"/auth/login?next={quote(to, safe='')}{more}")
    assert answer.status_code == 302, answer.content
    return str(answer["Location"])


def ended(client: Client, back: str) -> HttpResponse:
    """The answer of the callback, at the address that the provider leads back to."""
    url = urlsplit(back)
    return client.get(f"{url.path}?{url.query}")


def sign_in(client: Client, provider: Provider, to: str = "/dead-letters/", more: str = "") -> HttpResponse:
    return ended(client, provider.visit(begun(client, to, more)))


def next_of(address: str) -> str:
    """The page that an address of our sign-in leads on to."""
    url = urlsplit(address)
    assert url.path == "/auth/login"
    return parse_qs(url.query, keep_blank_values=True)["next"][0]


def role_of(client: Client) -> str:
    """As the page shows it; the status where it shows none."""
    page = client.get("/dead-letters/")
    told = (str(role) for role in Role if f"<small>{role}</small>" in page.content.decode())
    return next(told, str(page.status_code))
