"""What the headers of a proxy say, and what they cannot say: as WSGI gives them, so UTF-8 bytes read as latin-1."""

from dataclasses import replace
from ipaddress import ip_network

import pytest

from joobq_admin.sso.proxy import Rules
from joobq_admin.sso.roles import Role, User

SECRET, OLD = "s" * 40, "o" * 40
RULES = Rules(
    secrets=(SECRET, OLD),
    secret_header="X-Secret",
    user_header="X-User",
    name_header="X-Name",
    groups_header="X-Groups",
    groups_separator="|",
    roles={Role.VIEWER: frozenset({"Leser Süd"}), Role.ADMIN: frozenset({"dl-admins"})},
)


def said(rules: Rules = RULES, peer: str = "10.0.0.7", **headers: str) -> User | str:
    sent = {"X-Secret": SECRET, "X-User": "vera"} | {f"X-{name.title()}": value for name, value in headers.items()}
    return rules.identify(peer, sent)


def wsgi(text: str) -> str:
    return text.encode().decode("latin-1")


def test_the_user_the_name_and_the_groups() -> None:
    name, groups = wsgi("Zoë Łukasiewicz, 李"), wsgi("x| Leser Süd |y")
    assert said(name=name, groups=groups) == User(sub="vera", name="Zoë Łukasiewicz, 李", role=Role.VIEWER)
    assert said() == User(sub="vera", name="vera", role=None)


@pytest.mark.parametrize("secret", [SECRET, OLD])
def test_either_secret_is_a_proof(secret: str) -> None:
    assert isinstance(said(secret=secret), User)


@pytest.mark.parametrize(
    ("secret", "reason"),
    [
        ("", "is missing or empty"),
        (" ", "is missing or empty"),
        ("(null)", "is (null)"),
        (SECRET[:-1], "is wrong"),
        (SECRET + "s", "is wrong"),
        (SECRET.upper(), "is wrong"),
        (f"{SECRET},{SECRET}", "came twice"),
        (f"{SECRET}, wrong", "came twice"),
        (f"{SECRET}\x00", "control character"),
        (wsgi("ß" * 40), "is wrong"),
        (SECRET + "\xff", "not UTF-8"),
        ("x" * 5000, "longer than 256"),
    ],
)
def test_nothing_else_is_and_the_reason_tells_no_secret(secret: str, reason: str) -> None:
    answer = said(secret=secret)
    assert isinstance(answer, str)
    assert answer.startswith("X-Secret ")
    assert reason in answer
    assert SECRET[:8] not in answer


def test_without_a_secret_configured_nothing_is_a_proof() -> None:
    for secret in ("", SECRET):
        assert isinstance(said(replace(RULES, secrets=()), secret=secret), str)


@pytest.mark.parametrize(
    ("user", "reason"),
    [
        ("", "is missing or empty"),
        ("  \t", "is missing or empty"),
        (wsgi("\u00a0"), "is missing or empty"),
        ("(null)", "is (null)"),
        ("vera,ada", "came twice"),
        ("vera, ada", "came twice"),
        (",", "came twice"),
        ("x" * 257, "longer than 256"),
        ("vera\tada", "control character"),
        ("vera\r\nada", "control character"),
        ("vera\x00", "control character"),
        ("\x1fvera", "control character"),
        ("vera\x7f", "control character"),
        (wsgi("vera\x85ada"), "control character"),
        (wsgi("vera\u202eada"), "control character"),
        (wsgi("vera\u200bada"), "control character"),
        (wsgi("vera\u2028ada"), "control character"),
        ("vera\xff", "not UTF-8"),
    ],
)
def test_a_user_that_is_no_single_clean_value_is_nobody(user: str, reason: str) -> None:
    answer = said(user=user)
    assert isinstance(answer, str)
    assert answer.startswith("X-User ")
    assert reason in answer


@pytest.mark.parametrize("name", ["", "(null)", "x" * 257, "Vera\x1b[2J", wsgi("Vera\u202e"), "Vera\xff"])
def test_a_name_that_cannot_be_shown_gives_way_to_the_user(name: str) -> None:
    assert said(name=name) == User(sub="vera", name="vera", role=None)


@pytest.mark.parametrize("user", ["x" * 256, wsgi("ü" * 256), "vera@example.com", "CN=Vera/OU=ops", "vera's"])
def test_a_user_may_be_long_and_of_any_script(user: str) -> None:
    assert isinstance(said(user=user), User)


@pytest.mark.parametrize("groups", ["x,dl-admins", "DL-ADMINS", "/dl-admins", "dl-admins\xff", "dl-admins;x", "*", ""])
def test_groups_are_split_at_the_separator_and_nowhere_else(groups: str) -> None:
    answer = said(groups=groups)
    assert isinstance(answer, User)
    assert answer.role is None


@pytest.mark.parametrize(
    ("peer", "heard"),
    [("10.0.0.7", True), ("::ffff:10.0.0.7", True), ("fd00::1", True), ("", True), ("10.0.1.7", False), ("::1", False)],
)
def test_only_the_named_peers_are_heard(peer: str, heard: bool) -> None:
    rules = replace(RULES, peers=(ip_network("10.0.0.0/24"), ip_network("fd00::/8")))
    answer = said(rules, peer=peer)
    assert isinstance(answer, User) == heard
    assert heard or "JOOBQ_ADMIN_PROXY_PEERS" in str(answer)
