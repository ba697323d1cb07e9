"""What a dead letter holds is text on every page. The CSP is the second wall, not the first."""

import re

import pytest

from tests.support import sources

TEMPLATES = sources.templates()
MARKUP = re.compile(r"{#.*?#}|{%\s*comment\b.*?{%\s*endcomment\s*%}", re.DOTALL)
TAGS = re.compile(r"{%.*?%}", re.DOTALL)
ELEMENT = re.compile(r"<[a-zA-Z](?:{{.*?}}|\"[^\"]*\"|'[^']*'|[^>\"'])*>", re.DOTALL)


def elements(path: str) -> list[str]:
    """Each start tag of the template as HTML, without Django's tags; variables stay."""
    return ELEMENT.findall(TAGS.sub("", MARKUP.sub("", sources.text(path))))


def such(path: str, pattern: str) -> list[str]:
    return [element for element in elements(path) if re.search(pattern, element, re.IGNORECASE | re.DOTALL)]


def test_there_are_templates() -> None:
    assert sum(len(elements(path)) for path in TEMPLATES) > 100


@pytest.mark.parametrize("path", TEMPLATES)
def test_everything_is_escaped(path: str) -> None:
    text = MARKUP.sub("", sources.text(path))
    assert re.findall(r"\|\s*safe(?:seq)?\b|{%\s*autoescape\b|\|\s*escapejs\b", text) == []


@pytest.mark.parametrize("path", sources.modules("joobq_admin"))
def test_no_code_calls_a_text_safe(path: str) -> None:
    words = {"mark_safe", "SafeString", "SafeText", "SafeData", "html_safe", "__html__"}
    assert sorted(word for word in words if re.search(rf"\b{word}\b", sources.text(path))) == []


@pytest.mark.parametrize("path", TEMPLATES)
def test_every_variable_in_an_attribute_stands_in_quotes(path: str) -> None:
    assert such(path, r"[\w-]=\s*{{") == []


@pytest.mark.parametrize("path", TEMPLATES)
def test_no_script_stands_in_the_page(path: str) -> None:
    assert [element for element in such(path, r"^<script\b") if "src=" not in element] == []
    assert such(path, r"\s(?:on\w+|hx-on[:\w-]*)\s*=") == []
    assert such(path, r"=\s*[\"']?\s*(?:javascript|data|vbscript):") == []
    assert such(path, r"\ssrcdoc\s*=|^<(?:iframe|object|embed|base)\b") == []


@pytest.mark.parametrize("path", TEMPLATES)
def test_no_style_stands_in_the_page(path: str) -> None:
    assert such(path, r"^<style\b|\sstyle\s*=") == []


@pytest.mark.parametrize("path", TEMPLATES)
def test_htmx_evaluates_nothing(path: str) -> None:
    """Without eval an event filter fires even when it is false."""
    assert such(path, r"\shx-trigger\s*=\s*([\"'])[^\"']*\[") == []
    assert such(path, r"\shx-(?:vals|headers|request)\s*=\s*[\"']\s*(?:js|javascript):|\shx-vars\s*=") == []


@pytest.mark.parametrize("path", TEMPLATES)
def test_every_form_that_changes_something_carries_the_token(path: str) -> None:
    forms = re.findall(r"<form\b.*?</form>", MARKUP.sub("", sources.text(path)), re.DOTALL | re.IGNORECASE)
    posting = [form for form in forms if re.search(r"method=[\"']?post", form, re.IGNORECASE)]
    token = r'{%\s*(?:csrf_token\b|include "ui/_identity.html").*?%}'
    assert [form for form in posting if not re.search(token, form)] == []


@pytest.mark.parametrize("path", TEMPLATES)
def test_what_is_pressed_is_off_until_its_answer_comes(path: str) -> None:
    """But for what goes on by itself, and what only changes how pages look."""
    needless = r'\shx-disabled-elt=|\shx-trigger="load"|\shx-swap="none"'
    assert [element for element in such(path, r"\shx-post=") if not re.search(needless, element)] == []


def test_our_script_writes_no_markup_and_evaluates_nothing() -> None:
    words = r"\b(?:eval|Function)\s*\(|innerHTML|outerHTML\s*=|insertAdjacentHTML|document\.write|setTimeout\(\s*[\"'`]"
    assert re.findall(words, sources.text("static/js/app.js")) == []
