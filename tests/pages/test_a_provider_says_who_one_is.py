"""Who somebody is and what they may do follows from what the provider proves, letter by letter."""

from typing import Any

import pytest
from django.test import Client, override_settings

from joobq_admin.sso.roles import Role
from tests.support.html import get, link, says
from tests.support.provider import VERA, Provider
from tests.support.signing_in import by_oidc, ended, role_of, sign_in

GROUPS: list[tuple[Any, str]] = [
    (["viewers"], "Viewer"),
    (["operators", "viewers"], "Operator"),
    (["staff"] * 300 + ["admins"], "Admin"),
    (None, "403"),
    ([], "403"),
    ("admins", "403"),
    (["ADMINS"], "403"),
    (["/admins"], "403"),
    (["admins-readonly"], "403"),
    (["x,admins"], "403"),
    ([["admins"]], "403"),
    ({"admins": 1}, "403"),
    ([1, None, "viewers"], "Viewer"),
]


@pytest.mark.parametrize(("groups", "role"), GROUPS)
@pytest.mark.parametrize("by", ["id token", "userinfo"])
def test_a_role_comes_from_a_list_of_groups_and_nothing_like_it(
    oidc: Client, provider: Provider, groups: object, role: str, by: str
) -> None:
    provider.user, told = VERA | {"groups": groups}, VERA | {"groups": groups}
    if by == "userinfo":
        provider.user = {name: value for name, value in told.items() if name != "groups"}
        provider.userinfo = told
    sign_in(oidc, provider)
    assert role_of(oidc) == role
    assert len(oidc.cookies["session"].value) < 1000


def test_groups_that_are_elsewhere_are_none_and_the_log_says_so(
    oidc: Client, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    provider.user = {"sub": "u-vera", "_claim_names": {"groups": "src1"}}
    sign_in(oidc, provider)
    assert role_of(oidc) == "403"
    assert "groups are not in the token: there are too many of them" in caplog.text


@override_settings(SUPPORT_CONTACT="#queue-ops")
def test_who_has_got_a_group_since_signs_in_again(oidc: Client, provider: Provider) -> None:
    provider.user = VERA | {"groups": []}
    sign_in(oidc, provider)
    refused = get(oidc, "/jobs/a/")
    assert refused.status_code == 403
    assert "Signed in as Vera Needed one of the groups set for viewer, operator or admin Ask #queue-ops" in says(
        refused
    )
    provider.user = VERA
    landed = ended(oidc, provider.visit(oidc.get(link(refused, "Sign in again"))["Location"]))
    assert landed["Location"] == "/jobs/a/"
    assert role_of(oidc) == "Viewer"


VERIFIED = {"email": "vera@example.com", "email_verified": True}
EMAILS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    # in the id token, from the userinfo endpoint
    (VERIFIED, {}, "Operator"),
    ({}, VERIFIED, "Operator"),
    ({"email": "vera@example.com"}, VERIFIED, "Operator"),
    ({"email": "vera@example.com"}, {}, "403"),
    ({"email": "vera@example.com"}, {"email": "other@example.com", "email_verified": True}, "403"),
    (VERIFIED | {"email_verified": False}, VERIFIED, "403"),
    (VERIFIED | {"email_verified": "true"}, {}, "403"),
    (VERIFIED | {"email": "Vera@example.com"}, {}, "403"),
    (VERIFIED | {"email": "vera@example.com.evil.example"}, {}, "403"),
    (VERIFIED | {"email": ["vera@example.com"]}, {}, "403"),
    (VERIFIED, {"sub": "u-ada"}, "Operator"),
]


@pytest.mark.parametrize(("told", "more", "role"), EMAILS)
def test_or_from_an_address_that_the_provider_verified(
    oidc: Client, provider: Provider, told: dict[str, Any], more: dict[str, Any], role: str
) -> None:
    provider.user, provider.userinfo = {"sub": "u-vera", "name": "Vera", **told}, more
    with by_oidc(provider, groups={}, emails={Role.OPERATOR: frozenset({"vera@example.com"})}):
        sign_in(oidc, provider)
        assert role_of(oidc) == role


def test_userinfo_of_somebody_else_is_not_believed(oidc: Client, provider: Provider) -> None:
    provider.user, provider.userinfo = {"sub": "u-vera"}, {"sub": "u-ada", "groups": ["admins"]}
    assert sign_in(oidc, provider).status_code == 403
    assert "session" not in oidc.cookies


@pytest.mark.parametrize("name", [None, "", " ", 5, "(null)", "x" * 257, "Vera\x1b[2J", "Vera\u202e", "\ud800"])
def test_a_name_that_cannot_be_shown_gives_way_to_the_next(oidc: Client, provider: Provider, name: object) -> None:
    provider.user = VERA | {"name": name, "preferred_username": "vera.v"}
    sign_in(oidc, provider)
    assert "vera.v" in says(get(oidc, "/dead-letters/"))


def test_the_cookie_stays_small_whatever_the_name(oidc: Client, provider: Provider) -> None:
    provider.user = {"sub": "s" * 255, "name": "𝔙" * 256, "groups": ["viewers"], "sid": "s" * 500}
    sign_in(oidc, provider)
    assert len(oidc.cookies["session"].OutputString()) < 1000
    assert "𝔙" * 60 in says(get(oidc, "/dead-letters/"))
