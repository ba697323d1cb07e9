"""What the variables become."""

from collections.abc import Callable, Container
from ipaddress import ip_network
from pathlib import Path
from types import SimpleNamespace

import pytest

from joobq_admin.sso.roles import Role
from tests.support.environments import ASSERTION, DEV, LONG, OIDC, PROXY, settings_of


def test_https_gives_cookies_that_only_this_host_can_set_and_get() -> None:
    settings = settings_of(PROXY | {"JOOBQ_ADMIN_PUBLIC_URL": "https://OPS.example.com:443/dlq/"})
    assert settings.PUBLIC_URL == "https://ops.example.com/dlq"
    assert settings.ALLOWED_HOSTS == ["ops.example.com"]
    assert settings.CSRF_TRUSTED_ORIGINS == ["https://ops.example.com"]
    assert (settings.CSRF_COOKIE_NAME, settings.CSRF_COOKIE_PATH) == ("__Host-csrf", "/")
    assert settings.CSRF_COOKIE_SECURE
    assert settings.CSRF_COOKIE_HTTPONLY
    assert (settings.FORCE_SCRIPT_NAME, settings.STATIC_URL) == ("/dlq", "/dlq/static/")


def test_http_gives_plain_cookies() -> None:
    settings = settings_of(PROXY | {"JOOBQ_ADMIN_PUBLIC_URL": "http://ops:8080"})
    assert settings.CSRF_TRUSTED_ORIGINS == ["http://ops:8080"]
    assert (settings.CSRF_COOKIE_NAME, settings.CSRF_COOKIE_SECURE) == ("csrf", False)
    assert (settings.FORCE_SCRIPT_NAME, settings.STATIC_URL) == ("", "/static/")


def test_an_ipv6_address_is_a_host() -> None:
    settings = settings_of(PROXY | {"JOOBQ_ADMIN_PUBLIC_URL": "https://[fd00::1]:8443"})
    assert settings.ALLOWED_HOSTS == ["[fd00::1]"]
    assert settings.CSRF_TRUSTED_ORIGINS == ["https://[fd00::1]:8443"]


def test_dev_needs_nothing_but_redis_and_answers_to_this_machine_alone() -> None:
    settings = settings_of(DEV | {"PORT": "8123"})
    assert settings.PUBLIC_URL == "http://127.0.0.1:8123"
    assert settings.ALLOWED_HOSTS == ["127.0.0.1", "localhost", "[::1]"]
    assert len(settings.SECRET_KEY) >= 50
    assert settings.SECRET_KEY != settings_of(DEV).SECRET_KEY


@pytest.mark.parametrize("auth", [PROXY, DEV])
def test_there_is_no_database_and_no_debugging(auth: dict[str, str]) -> None:
    settings = settings_of(auth)
    assert settings.DATABASES == {}
    assert settings.DEBUG is False
    assert not [app for app in settings.INSTALLED_APPS if app.startswith("django.contrib.") and "static" not in app]


def test_the_rest_has_its_default() -> None:
    settings = settings_of(DEV)
    assert (settings.PORT, settings.WORKERS, settings.LOG_LEVEL) == (8000, 2, "info")
    assert (settings.REDRIVE_EXPIRES_HOURS, settings.BIN_HOURS, settings.BIN_MB) == (72, 24, 256)
    assert settings.AUDIT_ENTRIES == 100_000
    assert (settings.ENVIRONMENT, settings.SUPPORT_CONTACT, settings.REDIS_CA_FILE) == ("", "", "")
    assert settings.READ_ONLY is False
    assert (settings.SESSION_HOURS, settings.REAUTH_MINUTES, settings.PROXY_LOGOUT_URL) == (8, 15, "")


def test_the_rest_can_be_set_and_an_empty_variable_is_an_unset_one() -> None:
    settings = settings_of(
        DEV
        | {
            "PORT": " 9000 ",
            "WEB_CONCURRENCY": "",
            "JOOBQ_ADMIN_ENVIRONMENT": "production eu",
            "JOOBQ_ADMIN_REDACT": "pin; *_token ;",
            "JOOBQ_ADMIN_BIN_MB": "1024",
            "JOOBQ_ADMIN_LOG_LEVEL": "Debug",
            "JOOBQ_ADMIN_READ_ONLY": "yes",
        }
    )
    assert (settings.PORT, settings.WORKERS, settings.BIN_MB, settings.LOG_LEVEL) == (9000, 2, 1024, "debug")
    assert settings.LOGGING["root"]["level"] == "DEBUG"
    assert settings.ENVIRONMENT == "production eu"
    assert settings.READ_ONLY is True
    assert settings.REDACT == ("pin", "*_token")


def test_the_proxy_is_read_with_its_old_secret_its_groups_and_its_networks() -> None:
    rules = settings_of(
        PROXY
        | {
            "JOOBQ_ADMIN_PROXY_SECRET_OLD": LONG[::-1],
            "JOOBQ_ADMIN_PROXY_SECRET_HEADER": "X-Proof",
            "JOOBQ_ADMIN_PROXY_USER_HEADER": "X-Remote-User",
            "JOOBQ_ADMIN_PROXY_NAME_HEADER": "X-Remote-Name",
            "JOOBQ_ADMIN_PROXY_PEERS": "10.0.0.7; fd00::/8",
            "JOOBQ_ADMIN_ROLE_ADMIN": "dl-admins;the owners",
        }
    ).PROXY
    assert rules.secrets == (LONG, LONG[::-1])
    assert (rules.secret_header, rules.user_header, rules.name_header) == ("X-Proof", "X-Remote-User", "X-Remote-Name")
    assert (rules.groups_header, rules.groups_separator) == ("X-Forwarded-Groups", "|")
    assert rules.peers == (ip_network("10.0.0.7/32"), ip_network("fd00::/8"))
    assert rules.roles == {
        Role.VIEWER: {"*"},
        Role.OPERATOR: frozenset(),
        Role.ADMIN: {"dl-admins", "the owners"},
    }
    assert LONG not in repr(rules)
    rules = settings_of(PROXY | {"JOOBQ_ADMIN_PROXY_GROUPS_HEADER": "X-Remote-Groups"}).PROXY
    assert (rules.secret_header, rules.user_header) == ("X-JoobQ-Admin-Proxy-Secret", "X-Forwarded-User")
    assert (rules.name_header, rules.groups_header) == ("X-Forwarded-Preferred-Username", "X-Remote-Groups")


def test_a_provider_is_read_with_what_it_need_not_say() -> None:
    changed = {"ROLE_VIEWER": "", "ROLE_EMAILS_ADMIN": "ada@example.com; Bob@example.com", "OIDC_GROUPS_CLAIM": "roles"}
    settings = settings_of(OIDC | {f"JOOBQ_ADMIN_{name}": value for name, value in changed.items()})
    rules = settings.OIDC
    assert (rules.issuer, rules.client_id) == ("https://id.example.com/realms/main", "joobq-admin")
    assert (rules.scopes, rules.groups_claim, rules.host) == ("openid profile email", "roles", "id.example.com")
    assert rules.emails[Role.ADMIN] == {"ada@example.com", "Bob@example.com"}
    assert settings.SESSION_HOURS == 8
    assert LONG not in repr(rules)


def test_a_proxy_that_signs_needs_no_secret_and_may_give_roles_by_address() -> None:
    emails = {"JOOBQ_ADMIN_ROLE_VIEWER": "", "JOOBQ_ADMIN_ROLE_EMAILS_VIEWER": "ada@example.com"}
    rules = settings_of(ASSERTION | emails).PROXY
    assert (rules.header, rules.issuer) == ("Cf-Access-Jwt-Assertion", "https://team.example.com")
    assert (rules.audience, rules.emails[Role.VIEWER]) == ("an application", {"ada@example.com"})


@pytest.mark.parametrize("url", ["/oauth2/sign_out?rd=/", "https://team.example.com/logout"])
def test_one_may_sign_out_of_a_proxy(url: str) -> None:
    assert url == settings_of(PROXY | {"JOOBQ_ADMIN_PROXY_LOGOUT_URL": url}).PROXY_LOGOUT_URL


@pytest.mark.parametrize(
    "issuer", ["https://id.example.com/", "http://127.0.0.1:9400", "https://[fd00::1]:8443/realms/a"]
)
def test_an_issuer_is_taken_letter_by_letter(issuer: str) -> None:
    assert settings_of(OIDC | {"JOOBQ_ADMIN_OIDC_ISSUER": issuer}).OIDC.issuer == issuer


SECRETS: dict[str, Callable[[SimpleNamespace], Container[str]]] = {
    "JOOBQ_ADMIN_SECRET_KEY": lambda settings: settings.SECRET_KEY,
    "JOOBQ_ADMIN_SECRET_KEY_OLD": lambda settings: settings.SECRET_KEY_FALLBACKS,
    "JOOBQ_ADMIN_PROXY_SECRET": lambda settings: settings.PROXY.secrets[:1],
    "JOOBQ_ADMIN_PROXY_SECRET_OLD": lambda settings: settings.PROXY.secrets[1:],
    "JOOBQ_ADMIN_OIDC_CLIENT_SECRET": lambda settings: settings.OIDC.client_secret,
    "JOOBQ_ADMIN_REDIS_URL": lambda settings: settings.REDIS_URL,
    "REDIS_PASS": lambda settings: settings.REDIS_URL,
}


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_may_stand_in_a_file(tmp_path: Path, name: str) -> None:
    secret = "redis://:hunter3@redis:6379/1" if name.endswith("_URL") else LONG[::-1]
    (tmp_path / "secret").write_text(secret + "\n")
    by_host = PROXY | {"JOOBQ_ADMIN_REDIS_URL": "", "REDIS_HOST": "redis"}
    settings = settings_of(by_host | {name: "", f"{name}_FILE": str(tmp_path / "secret")})
    assert secret in SECRETS[name](settings)


@pytest.mark.parametrize(
    ("variables", "url"),
    [
        ({"REDIS_HOST": "redis"}, "redis://redis:6379/0"),
        ({"REDIS_HOST": "fd00::1", "REDIS_PORT": "7000"}, "redis://[fd00::1]:7000/0"),
        ({"REDIS_HOST": "redis", "REDIS_PASS": "p@ss/w#rd"}, "redis://:p%40ss%2Fw%23rd@redis:6379/0"),
    ],
)
def test_the_variables_that_joobq_itself_takes_do_for_redis(variables: dict[str, str], url: str) -> None:
    assert url == settings_of({"JOOBQ_ADMIN_AUTH": "dev"} | variables).REDIS_URL


@pytest.mark.parametrize("url", ["rediss://user:pass@redis/1", "unix:///run/redis.sock?db=2", "redis://[::1]:7000"])
def test_an_address_of_redis_is_taken_as_it_is_before_any_other(url: str) -> None:
    assert url == settings_of(DEV | {"JOOBQ_ADMIN_REDIS_URL": url, "REDIS_HOST": "other"}).REDIS_URL


def test_what_kubernetes_tells_of_a_service_of_our_name_is_no_setting() -> None:
    address = "tcp://10.0.0.1:8000"
    told = {"PORT": address, "SERVICE_HOST": "10.0.0.1", "SERVICE_PORT": "8000", "PORT_8000_TCP": address}
    settings_of(DEV | {f"JOOBQ_ADMIN_{name}": value for name, value in told.items()})


def test_names_of_static_files_hold_their_hash_only_where_they_were_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    for collected, storage in ((False, "StaticFilesStorage"), (True, "CompressedManifestStaticFilesStorage")):
        monkeypatch.setattr(Path, "exists", lambda _, collected=collected: collected)
        settings = settings_of(DEV)
        assert settings.STORAGES["staticfiles"]["BACKEND"].endswith(f".{storage}")
        assert (settings.WHITENOISE_USE_FINDERS, settings.STATIC_ROOT is None) == (not collected, not collected)
