"""Roles: what each may do, and which groups give one."""

from types import SimpleNamespace

import pytest
from django.core.exceptions import PermissionDenied

from joobq_admin.sso.roles import Action, Role, User, needs, role_of

VIEWER, OPERATOR, ADMIN = Role
MAY = {
    Action.VIEW: {VIEWER, OPERATOR, ADMIN},
    Action.REDRIVE: {OPERATOR, ADMIN},
    Action.PURGE: {OPERATOR, ADMIN},
    Action.RESTORE: {OPERATOR, ADMIN},
    Action.PURGE_FOR_GOOD: {ADMIN},
    Action.PURGE_ALL: {ADMIN},
    Action.UNREDACTED: {ADMIN},
    Action.REPAIR: {OPERATOR, ADMIN},
    Action.EXPIRE: {OPERATOR, ADMIN},
    Action.CLOSE_GATE: {ADMIN},
    Action.OPEN_GATE: {ADMIN},
    Action.PRUNE: {ADMIN},
    Action.RELEASE: {ADMIN},
    Action.DISCARD: {ADMIN},
}
GROUPS = {VIEWER: frozenset({"dl-readers"}), OPERATOR: frozenset({"dl-ops"}), ADMIN: frozenset({"dl-admins", "owners"})}


def user(role: Role | None, name: str = "Vera") -> User:
    return User(sub="vera", name=name, role=role)


@pytest.mark.parametrize("action", Action)
@pytest.mark.parametrize("role", [None, *Role])
def test_a_role_may_do_exactly_this(role: Role | None, action: Action) -> None:
    assert user(role).can(action) == (role in MAY[action])


@pytest.mark.parametrize("action", Action)
def test_an_action_names_the_lowest_role_that_may(action: Action) -> None:
    assert action.role == next(role for role in Role if role in MAY[action])


@pytest.mark.parametrize(
    ("groups", "role"),
    [
        ([], None),
        ([""], None),
        (["dl-readers"], VIEWER),
        (["dl-readers", "dl-ops"], OPERATOR),
        (["owners", "dl-readers"], ADMIN),
        (["DL-ADMINS"], None),
        (["/dl-admins"], None),
        (["dl-admins-readonly"], None),
        (["dl-admins,dl-ops"], None),
        (["*"], None),
    ],
)
def test_a_group_counts_as_it_is_written_and_the_highest_role_wins(groups: list[str], role: Role | None) -> None:
    assert role_of(groups, GROUPS) == role


@pytest.mark.parametrize(("groups", "role"), [([], VIEWER), (["anything"], VIEWER), (["owners"], ADMIN)])
def test_with_a_star_everybody_who_is_signed_in_is_a_viewer(groups: list[str], role: Role) -> None:
    assert role_of(groups, GROUPS | {VIEWER: frozenset({"*"})}) == role


def test_a_view_says_what_it_needs_and_runs_for_nobody_else() -> None:
    @needs(Action.REDRIVE)
    def view(request: SimpleNamespace, word: str) -> str:
        """Answers."""
        return word

    assert vars(view)["needs"] is Action.REDRIVE
    assert view.__doc__ == "Answers."
    assert view(SimpleNamespace(user=user(OPERATOR)), word="done") == "done"
    for role in (None, VIEWER):
        with pytest.raises(PermissionDenied) as denied:
            view(SimpleNamespace(user=user(role)), word="done")
        assert denied.value.args == (Action.REDRIVE,)


@pytest.mark.parametrize(
    ("name", "initials"), [("Tomás Rivera", "TR"), ("vera", "V"), ("Ada M. King Lovelace", "AL"), ("李 小龙", "李小")]
)
def test_initials_are_those_of_the_first_and_the_last_word(name: str, initials: str) -> None:
    assert user(None, name).initials == initials
