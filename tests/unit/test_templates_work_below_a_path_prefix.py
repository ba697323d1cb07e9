"""Addresses come from {% url %} and {% static %} or from the rows, so that the dashboard may stand at /dlq/ too."""

import re

import pytest

from tests.support import sources

WHERE = r"(?:href|src|action|formaction|hx-(?:get|post|push-url|replace-url))"


@pytest.mark.parametrize("path", sources.templates())
def test_no_address_begins_at_the_root(path: str) -> None:
    assert re.findall(rf"\s{WHERE}\s*=\s*[\"']?/[^\"'\s>]*", sources.text(path)) == []


@pytest.mark.parametrize("path", sources.templates())
def test_no_address_is_another_machines(path: str) -> None:
    assert re.findall(rf"\s{WHERE}\s*=\s*[\"']?(?:https?:)?//[^\"'\s>]*", sources.text(path)) == []


def test_no_style_asks_another_machine() -> None:
    css = sources.text("static/css/app.css")
    assert re.findall(r"@import|url\(\s*[\"']?(?:https?:)?/[^)]*", css) == []
