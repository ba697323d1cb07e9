"""A template is read as one reads code."""

import pytest

from tests.support import sources

LENGTH = 240


@pytest.mark.parametrize("path", sources.templates())
def test_no_line_is_long(path: str) -> None:
    lines = enumerate(sources.text(path).splitlines(), 1)
    assert [f"{path}:{at}" for at, line in lines if len(line) > LENGTH] == []
