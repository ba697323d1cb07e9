"""Complete environments of the dashboard, and the settings that it reads from one."""

import runpy
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

SETTINGS = str(Path(__file__).parents[2] / "joobq_admin" / "settings.py")
LONG = "0123456789abcdef" * 4  # as long and as mixed as a secret must be
PROXY = {
    "JOOBQ_ADMIN_AUTH": "proxy",
    "JOOBQ_ADMIN_PUBLIC_URL": "https://ops.example.com",
    "JOOBQ_ADMIN_SECRET_KEY": LONG,
    "JOOBQ_ADMIN_REDIS_URL": "redis://:hunter2@redis:6379/0",
    "JOOBQ_ADMIN_ROLE_VIEWER": "*",
    "JOOBQ_ADMIN_PROXY_SECRET": LONG,
    "JOOBQ_ADMIN_PROXY_GROUPS_SEPARATOR": "|",
}
ASSERTION = {
    **{name: value for name, value in PROXY.items() if "_PROXY_" not in name},
    "JOOBQ_ADMIN_PROXY_KIND": "assertion",
    "JOOBQ_ADMIN_PROXY_ASSERTION_HEADER": "Cf-Access-Jwt-Assertion",
    "JOOBQ_ADMIN_PROXY_ASSERTION_JWKS_URL": "https://team.example.com/certs",
    "JOOBQ_ADMIN_PROXY_ASSERTION_ISSUER": "https://team.example.com",
    "JOOBQ_ADMIN_PROXY_ASSERTION_AUDIENCE": "an application",
}
OIDC = {
    **{name: value for name, value in PROXY.items() if "_PROXY_" not in name},
    "JOOBQ_ADMIN_AUTH": "oidc",
    "JOOBQ_ADMIN_OIDC_ISSUER": "https://id.example.com/realms/main",
    "JOOBQ_ADMIN_OIDC_CLIENT_ID": "joobq-admin",
    "JOOBQ_ADMIN_OIDC_CLIENT_SECRET": LONG,
}
DEV = {"JOOBQ_ADMIN_AUTH": "dev", "JOOBQ_ADMIN_REDIS_URL": "redis://127.0.0.1:6379/0"}


def settings_of(variables: dict[str, str]) -> SimpleNamespace:
    """The settings of a process with these variables and no others. SystemExit when it would not start."""
    with patch.dict("os.environ", variables, clear=True):
        return SimpleNamespace(**runpy.run_path(SETTINGS))
