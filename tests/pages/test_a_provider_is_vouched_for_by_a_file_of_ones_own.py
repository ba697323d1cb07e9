"""JOOBQ_ADMIN_OIDC_CA_FILE: who is not vouched for by the system signs people in, and has keys, by that file alone."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client

from joobq_admin.sso.fetch import Unavailable
from joobq_admin.sso.roles import Role, User
from tests.support.environments import ASSERTION, OIDC, settings_of
from tests.support.provider import ADA, CLIENT, Provider, signed
from tests.support.signing_in import begun, by_oidc, ended, role_of
from tests.support.tls import Terminator, certificate


@pytest.fixture
def plain(provider: Provider) -> Iterator[str]:
    """Where the provider is reached without TLS; it calls itself by an address with it."""
    before, address = Terminator(), provider.url
    before.behind, provider.url = provider.server.server_port, f"https://127.0.0.1:{before.port}"
    yield address
    before.close()


@pytest.fixture
def by_file(tmp_path: Path) -> dict[str, str]:
    (file := tmp_path / "pem").write_bytes(certificate())
    return {"JOOBQ_ADMIN_OIDC_CA_FILE": str(file)}


def test_somebody_signs_in_by_it(client: Client, provider: Provider, plain: str, by_file: dict[str, str]) -> None:
    provider.user, provider.userinfo = {"sub": "u-ada"}, ADA  # so that userinfo is asked too
    with by_oidc(provider):
        assert client.get("/auth/login").status_code == 503
    with by_oidc(provider, trust=settings_of(OIDC | by_file).OIDC.trust):
        back = provider.visit(begun(client).replace(provider.url, plain))
        assert ended(client, back).status_code == 302
        assert role_of(client) == "Admin"
    assert {path for path, _ in provider.seen} >= {"/keys", "/token", "/userinfo"}


def test_a_proxy_has_its_keys_by_it(provider: Provider, plain: str, by_file: dict[str, str]) -> None:
    names = {"JWKS_URL": f"{provider.url}/keys", "ISSUER": provider.url, "AUDIENCE": CLIENT}
    variables = ASSERTION | {f"JOOBQ_ADMIN_PROXY_ASSERTION_{name}": value for name, value in names.items()}
    said = {"Cf-Access-Jwt-Assertion": signed(provider.claims())}
    with pytest.raises(Unavailable):
        settings_of(variables).PROXY.identify("", said)
    assert settings_of(variables | by_file).PROXY.identify("", said) == User("u-ada", ADA["name"], Role.VIEWER)
