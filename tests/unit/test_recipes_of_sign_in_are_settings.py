"""What docs/sign-in.md says for the dashboard is a complete environment, beside what every deployment has."""

import re

import pytest

from joobq_admin.sso import assertion, proxy
from tests.support import sources
from tests.support.environments import PROXY, settings_of

RECIPES = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", sources.text("docs/sign-in.md"), re.MULTILINE | re.DOTALL))
EVERYBODY = {name: value for name, value in PROXY.items() if "_PROXY_" not in name}


@pytest.mark.parametrize("name", RECIPES)
def test_it_starts_with_them(name: str) -> None:
    given = dict(re.findall(r"^    (JOOBQ_ADMIN_\w+)=(.*)$", RECIPES[name], re.MULTILINE))
    settings = settings_of(EVERYBODY | given)
    signed = given.get("JOOBQ_ADMIN_PROXY_KIND") == "assertion"
    assert isinstance(settings.PROXY, assertion.Rules if signed else proxy.Rules)
    assert given["JOOBQ_ADMIN_PROXY_LOGOUT_URL"] == settings.PROXY_LOGOUT_URL


def test_there_are_five() -> None:
    assert list(RECIPES) == ["nginx", "Apache with mod_auth_openidc", "oauth2-proxy", "Cloudflare Access", "Google IAP"]


def test_the_proxies_send_the_secret_that_the_dashboard_asks_for() -> None:
    secret = "at least 32 random characters ......."
    assert [RECIPES[name].count(secret) for name in list(RECIPES)[:2]] == [2, 2]
    assert all("X-JoobQ-Admin-Proxy-Secret" in RECIPES[name] for name in list(RECIPES)[:3])
