"""Nothing starts half configured: every problem is told at once, a line each, with what to do and without secrets."""

from pathlib import Path

import pytest

from tests.support.environments import ASSERTION, DEV, LONG, OIDC, PROXY, settings_of


def problems(variables: dict[str, str]) -> list[str]:
    with pytest.raises(SystemExit) as refusal:
        settings_of(variables)
    first, *lines = str(refusal.value).splitlines()
    assert first == "JoobQ Admin does not start. In its environment:"
    return lines


REFUSED = [
    # what is changed in a complete environment, the variable that is named, words of the line
    ({"AUTH": ""}, "AUTH", "must say who signs people in"),
    ({"AUTH": "none"}, "AUTH", "must say who signs people in"),
    ({"AUTH": "Dev"}, "AUTH", "must say who signs people in"),
    ({"PROXY_KIND": "trust"}, "PROXY_KIND", "must be one of headers, assertion"),
    ({"PROXY_LOGOUT_URL": "//evil.example"}, "PROXY_LOGOUT_URL", "where one signs out of the proxy"),
    ({"PROXY_LOGOUT_URL": "javascript:alert(1)"}, "PROXY_LOGOUT_URL", "where one signs out of the proxy"),
    ({"PROXY_SECRET": ""}, "PROXY_SECRET", "must be a secret that the proxy sends"),
    ({"PROXY_SECRET": "x" * 31}, "PROXY_SECRET", "32 to 256 characters"),
    ({"PROXY_SECRET": "x" * 257}, "PROXY_SECRET", "32 to 256 characters"),
    ({"PROXY_SECRET": LONG + ","}, "PROXY_SECRET", "none of them a comma"),
    ({"PROXY_SECRET": LONG + "\t" + LONG}, "PROXY_SECRET", "characters of ASCII"),
    ({"PROXY_SECRET": LONG + "é"}, "PROXY_SECRET", "ASCII"),
    ({"PROXY_SECRET_OLD": "short"}, "PROXY_SECRET_OLD", "32 to 256 characters"),
    ({"PROXY_SECRET_FILE": "/dev/null"}, "PROXY_SECRET", "PROXY_SECRET_FILE is set too"),
    ({"PROXY_SECRET": "", "PROXY_SECRET_FILE": "/nowhere"}, "PROXY_SECRET_FILE", "cannot be read: No such file"),
    ({"PROXY_SECRET": "", "PROXY_SECRET_FILE": "/dev/null"}, "PROXY_SECRET_FILE", "is empty"),
    ({"PROXY_GROUPS_SEPARATOR": ""}, "PROXY_GROUPS_SEPARATOR", "between groups"),
    ({"PROXY_USER_HEADER": "X_Remote_User"}, "PROXY_USER_HEADER", "servers drop names with _"),
    ({"PROXY_SECRET_HEADER": "Secret: x"}, "PROXY_SECRET_HEADER", "the name of a header"),
    ({"PROXY_PEERS": "10.0.0.0/8;proxy"}, "PROXY_PEERS", "addresses or networks"),
    ({"ROLE_VIEWER": ""}, "ROLE_VIEWER", "at least one group"),
    ({"ROLE_ADMIN": "*"}, "ROLE_ADMIN", "for viewers only"),
    ({"ROLE_OPERATOR": "ops;*"}, "ROLE_OPERATOR", "for viewers only"),
    ({"PUBLIC_URL": ""}, "PUBLIC_URL", "the address that readers use"),
    ({"PUBLIC_URL": "ops.example.com"}, "PUBLIC_URL", "the address that readers use"),
    ({"PUBLIC_URL": "ftp://ops.example.com"}, "PUBLIC_URL", "the address that readers use"),
    ({"PUBLIC_URL": "https://"}, "PUBLIC_URL", "the address that readers use"),
    ({"PUBLIC_URL": "https://*"}, "PUBLIC_URL", "the address that readers use"),
    ({"PUBLIC_URL": "https://ops.example.com:0"}, "PUBLIC_URL", "the address that readers use"),
    ({"PUBLIC_URL": "https://ops.example.com:port"}, "PUBLIC_URL", "the address that readers use"),
    ({"PUBLIC_URL": "https://me@ops.example.com"}, "PUBLIC_URL", "no user"),
    ({"PUBLIC_URL": "https://ops.example.com/?x"}, "PUBLIC_URL", "no query"),
    ({"PUBLIC_URL": "https://ops.example.com/a/../b"}, "PUBLIC_URL", "no // or .."),
    ({"PUBLIC_URL": "https://ops.example.com//b"}, "PUBLIC_URL", "no // or .."),
    ({"PUBLIC_URL": "https://ops.example.com/a%2Fb"}, "PUBLIC_URL", "nothing percent-encoded"),
    ({"SECRET_KEY": ""}, "SECRET_KEY", "must be set"),
    ({"SECRET_KEY": LONG[:49]}, "SECRET_KEY", "at least 50 random characters"),
    ({"SECRET_KEY": "x" * 60}, "SECRET_KEY", "at least 50 random characters"),
    ({"SECRET_KEY_OLD": "short"}, "SECRET_KEY_OLD", "at least 50 random characters"),
    ({"REDIS_URL": ""}, "REDIS_URL", "the address of JoobQ's Redis"),
    ({"REDIS_URL": "redis:6379"}, "REDIS_URL", "must be redis://, rediss:// or unix://"),
    ({"REDIS_URL": "http://redis:6379"}, "REDIS_URL", "must be redis://, rediss:// or unix://"),
    ({"REDIS_URL": "redis://:hunter#2@redis:6379"}, "REDIS_URL", "percent-encoded"),
    ({"REDIS_URL": "redis://:hunter/2@redis:6379"}, "REDIS_URL", "percent-encoded"),
    ({"REDIS_URL": "redis://redis:port"}, "REDIS_URL", "percent-encoded"),
    ({"REDIS_URL": "redis://redis:6379/jobs"}, "REDIS_URL", "the number of its database"),
    ({"REDIS_URL": "unix://"}, "REDIS_URL", "must be redis://, rediss:// or unix://"),
    ({"REDIS_CA_FILE": "/etc/hostname"}, "REDIS_CA_FILE", "is for a rediss:// address"),
    ({"REDIS_URL": "rediss://redis", "REDIS_CA_FILE": "/nowhere"}, "REDIS_CA_FILE", "cannot be read"),
    ({"REDIS_URL": "rediss://redis", "REDIS_CA_FILE": "/etc/hostname"}, "REDIS_CA_FILE", "no certificate"),
    ({"REDRIVE_EXPIRES_HOURS": "0"}, "REDRIVE_EXPIRES_HOURS", "a whole number from 1"),
    ({"BIN_HOURS": "a day"}, "BIN_HOURS", "a whole number from 1"),
    ({"BIN_MB": "-1"}, "BIN_MB", "a whole number from 1"),
    ({"BIN_MB": "1e3"}, "BIN_MB", "a whole number from 1"),
    ({"BIN_MB": "٣"}, "BIN_MB", "a whole number from 1"),
    ({"AUDIT_ENTRIES": "10"}, "AUDIT_ENTRIES", "a whole number from 1000"),
    ({"REDACT": "*id"}, "REDACT", "the patterns would hide jid"),
    ({"REDACT": "*"}, "REDACT", "a pattern needs letters or digits"),
    ({"REDACT": "pin;error"}, "REDACT", "the patterns would hide error"),
    ({"LOG_LEVEL": "loud"}, "LOG_LEVEL", "debug, info, warning, error"),
    ({"REDCAT": "ssn"}, "REDCAT", "no such setting; did you mean JOOBQ_ADMIN_REDACT?"),
    ({"READ_ONLY": "true"}, "READ_ONLY", "must be one of no, yes"),
    ({"METRICS_TOKEN": "x"}, "METRICS_TOKEN", "no such setting; remove it"),
    ({"ROLE_EMAILS_ADMIN": "ada@example.com;*@example.com"}, "ROLE_EMAILS_ADMIN", "whole e-mail addresses"),
    ({"SESSION_HOURS": "25"}, "SESSION_HOURS", "a whole number from 1 to 24"),
]


@pytest.mark.parametrize(("changed", "named", "words"), REFUSED)
def test_one_wrong_variable_is_one_line_that_names_it(changed: dict[str, str], named: str, words: str) -> None:
    variables = PROXY | {f"JOOBQ_ADMIN_{name}": value for name, value in changed.items()}
    (line,) = problems(variables)
    assert line.startswith(f"JOOBQ_ADMIN_{named}")
    assert words in line
    assert "hunter" not in line
    assert LONG not in line


BY_OIDC = [
    ({"OIDC_ISSUER": ""}, "OIDC_ISSUER", "the provider's issuer"),
    ({"OIDC_ISSUER": "id.example.com"}, "OIDC_ISSUER", "the provider's issuer"),
    ({"OIDC_ISSUER": "http://id.example.com"}, "OIDC_ISSUER", "the provider's issuer"),
    ({"OIDC_ISSUER": "https://id.example.com/?realm=a"}, "OIDC_ISSUER", "the provider's issuer"),
    ({"OIDC_ISSUER": "https://id.example.com:port"}, "OIDC_ISSUER", "the provider's issuer"),
    ({"OIDC_CLIENT_ID": ""}, "OIDC_CLIENT_ID", "the name under which the provider knows"),
    ({"OIDC_CLIENT_SECRET": ""}, "OIDC_CLIENT_SECRET", "the secret that the provider gave"),
    ({"OIDC_SCOPES": "profile email"}, "OIDC_SCOPES", "must hold openid"),
    ({"OIDC_CA_FILE": "/nowhere"}, "OIDC_CA_FILE", "cannot be read"),
    ({"OIDC_CA_FILE": "/etc/hostname"}, "OIDC_CA_FILE", "no certificate"),
    ({"ROLE_VIEWER": ""}, "ROLE_VIEWER", "at least one group"),
    ({"PUBLIC_URL": ""}, "PUBLIC_URL", "the address that readers use"),
    ({"SECRET_KEY": ""}, "SECRET_KEY", "must be set"),
]


ASSERTED = [
    ({"ASSERTION_HEADER": ""}, "ASSERTION_HEADER", "the header that holds"),
    ({"ASSERTION_HEADER": "Cf_Access"}, "ASSERTION_HEADER", "servers drop names with _"),
    ({"ASSERTION_JWKS_URL": ""}, "ASSERTION_JWKS_URL", "the https address"),
    ({"ASSERTION_JWKS_URL": "http://keys.example.com"}, "ASSERTION_JWKS_URL", "the https address"),
    ({"ASSERTION_ISSUER": ""}, "ASSERTION_ISSUER", "(iss)"),
    ({"ASSERTION_AUDIENCE": ""}, "ASSERTION_AUDIENCE", "(aud)"),
    ({"PEERS": "proxy"}, "PEERS", "addresses or networks"),
]


@pytest.mark.parametrize(("changed", "named", "words"), ASSERTED)
def test_of_a_proxy_that_signs_too(changed: dict[str, str], named: str, words: str) -> None:
    (line,) = problems(ASSERTION | {f"JOOBQ_ADMIN_PROXY_{name}": value for name, value in changed.items()})
    assert line.startswith(f"JOOBQ_ADMIN_PROXY_{named}")
    assert words in line


@pytest.mark.parametrize(("changed", "named", "words"), BY_OIDC)
def test_of_a_provider_of_ones_own_too(changed: dict[str, str], named: str, words: str) -> None:
    (line,) = problems(OIDC | {f"JOOBQ_ADMIN_{name}": value for name, value in changed.items()})
    assert line.startswith(f"JOOBQ_ADMIN_{named}")
    assert words in line
    assert LONG not in line


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"PORT": "0"}, "PORT"),
        ({"PORT": "http"}, "PORT"),
        ({"WEB_CONCURRENCY": "0"}, "WEB_CONCURRENCY"),
        ({"JOOBQ_ADMIN_REDIS_URL": "", "REDIS_HOST": "redis", "REDIS_PORT": "tcp://10.0.0.1:6379"}, "REDIS_PORT"),
        ({"JOOBQ_ADMIN_REDIS_URL": "", "REDIS_HOST": "redis", "REDIS_PORT": "99999"}, "REDIS_PORT"),
        ({"JOOBQ_ADMIN_PUBLIC_URL": "https://ops.example.com"}, "JOOBQ_ADMIN_PUBLIC_URL"),
        ({"JOOBQ_ADMIN_PUBLIC_URL": "http://0.0.0.0:8000"}, "JOOBQ_ADMIN_PUBLIC_URL"),
    ],
)
def test_in_dev_too(changed: dict[str, str], named: str) -> None:
    (line,) = problems(DEV | changed)
    assert line.startswith(f"{named}: must be")


def test_an_empty_environment_names_everything_that_must_be_set() -> None:
    assert [line.partition(":")[0] for line in problems({})] == [
        "JOOBQ_ADMIN_AUTH",
        "JOOBQ_ADMIN_PUBLIC_URL",
        "JOOBQ_ADMIN_REDIS_URL",
        "JOOBQ_ADMIN_SECRET_KEY",
    ]


def test_proxy_alone_names_everything_that_a_proxy_needs() -> None:
    assert [line.partition(":")[0] for line in problems({"JOOBQ_ADMIN_AUTH": "proxy"})] == [
        "JOOBQ_ADMIN_PUBLIC_URL",
        "JOOBQ_ADMIN_ROLE_VIEWER, _OPERATOR, _ADMIN",
        "JOOBQ_ADMIN_PROXY_GROUPS_SEPARATOR",
        "JOOBQ_ADMIN_PROXY_SECRET",
        "JOOBQ_ADMIN_REDIS_URL",
        "JOOBQ_ADMIN_SECRET_KEY",
    ]


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"\xff\xfe")
    variables = PROXY | {"JOOBQ_ADMIN_SECRET_KEY": "", "JOOBQ_ADMIN_SECRET_KEY_FILE": str(tmp_path / "secret")}
    assert problems(variables) == ["JOOBQ_ADMIN_SECRET_KEY_FILE: cannot be read: it is no text"]
