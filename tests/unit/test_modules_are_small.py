"""A reader holds one module in mind at a time."""

import pytest

from tests.support import sources

CODE = sources.modules("joobq_admin", "demo", "tests")
SCRIPTS = sorted(str(path.relative_to(sources.ROOT)) for path in (sources.ROOT / "joobq_admin").rglob("*.lua"))


@pytest.mark.parametrize("path", [*CODE, *SCRIPTS])
def test_no_module_is_over_300_lines(path: str) -> None:
    assert len(sources.text(path).splitlines()) <= 300


@pytest.mark.parametrize("path", sources.templates())
def test_no_template_is_over_80_lines(path: str) -> None:
    assert len(sources.text(path).splitlines()) <= 80
