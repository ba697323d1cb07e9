"""Our own source files, and what stands in them."""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


def modules(*folders: str) -> list[str]:
    """The paths of all modules in these folders, from the root: 'joobq_admin/joobq/keys.py'."""
    found = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return sorted(str(path.relative_to(ROOT)) for path in found)


def templates() -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / "templates").rglob("*") if path.is_file())


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def tree(path: str) -> ast.Module:
    return ast.parse(text(path))


def name_of(path: str) -> str:
    """joobq_admin/sso/roles.py -> joobq_admin.sso.roles"""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def imports(path: str) -> Iterator[str]:
    """The full names of all that the module imports, anywhere in it: joobq_admin.joobq.keys, redis.exceptions …"""
    package = name_of(path) if path.endswith("__init__.py") else name_of(path).rpartition(".")[0]
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: -node.level + 1 or None] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def strings(path: str) -> Iterator[str]:
    """Every string and bytes literal, those in f-strings too; no docstrings."""
    said = {id(node.value) for node in ast.walk(tree(path)) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Constant) and id(node) not in said and isinstance(node.value, (str, bytes)):
            yield node.value if isinstance(node.value, str) else node.value.decode("latin-1")


def standard(name: str) -> bool:
    return name.split(".")[0] in sys.stdlib_module_names
