"""Tests in the browser lean on this: a page that breaks the CSP, logs an error or asks elsewhere fails its test."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.support import chromium

POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'"
HOME = "http://127.0.0.1:9/"  # nobody listens: what the test says is what comes
Opened = Callable[..., tuple[Page, chromium.Watch]]


@pytest.fixture
def opened(browser: Browser) -> Iterator[Opened]:
    contexts = []

    def open_with(body: str, script: str = "", status: int = 200, **options: object) -> tuple[Page, chromium.Watch]:
        context, watch = chromium.new_context(browser, **options)
        contexts.append(context)
        head = {"Content-Security-Policy": POLICY}
        html = f"<!doctype html><html lang=en><title>t</title><main><h1>h</h1>{body}</main><script src=app.js></script>"
        context.route(HOME, lambda route: route.fulfill(body=html, content_type="text/html", headers=head))
        context.route(f"{HOME}app.js", lambda route: route.fulfill(body=script, content_type="text/javascript"))
        context.route(f"{HOME}press", lambda route: route.fulfill(body="", status=status))
        page = context.new_page()
        page.goto(HOME)
        return page, watch

    yield open_with
    for context in contexts:
        context.close()


def press(page: Page, status: int) -> None:
    """And what Chromium says of such an answer has come."""
    with page.expect_console_message(lambda message: f" {status} " in message.text):
        page.evaluate("fetch('/press').then(answer => answer.text())")


def all_was_said(page: Page) -> None:
    """Answers come in their order: all that was said before this question."""
    page.evaluate("1")


def test_a_page_that_does_nothing_wrong_is_fine(opened: Opened) -> None:
    _, watch = opened("<p>text")
    assert watch.problems == []


@pytest.mark.parametrize("javascript", [True, False])
def test_breaking_the_csp(opened: Opened, javascript: bool) -> None:
    page, watch = opened("<p style='color: red'>", javascript=javascript)
    all_was_said(page)
    assert [problem for problem in watch.problems if "Content Security Policy" in problem]


def test_an_inline_script_does_not_run(opened: Opened) -> None:
    page, watch = opened("<script>window.evil = 1</script>")
    assert page.evaluate("window.evil") is None
    assert watch.problems


@pytest.mark.parametrize("script", ["console.error('no')", "throw new Error('no')"])
def test_an_error_in_the_console(opened: Opened, script: str) -> None:
    page, watch = opened("", script)
    all_was_said(page)
    assert [problem for problem in watch.problems if "no" in problem]


def test_an_error_that_the_test_provokes_is_no_problem(opened: Opened) -> None:
    page, watch = opened("", "console.error('net::ERR_FAILED')", expects="net::ERR_FAILED")
    all_was_said(page)
    assert watch.problems == []


def test_what_is_meant_stays_so_beside_what_a_test_provokes(opened: Opened) -> None:
    page, watch = opened("", status=409, expects="net::ERR_FAILED")
    press(page, 409)
    assert watch.problems == []


def test_asking_another_machine(opened: Opened) -> None:
    page, watch = opened("<a href='http://elsewhere.example/'>out</a>")
    with page.expect_event("requestfailed"):
        page.get_by_text("out").click()
    assert "left this machine: http://elsewhere.example/" in watch.problems


@pytest.mark.parametrize(("status", "meant"), [(409, True), (422, True), (503, True), (500, False), (502, False)])
def test_our_answers_are_meant_and_a_500_is_not(opened: Opened, status: int, meant: bool) -> None:
    page, watch = opened("", status=status)
    press(page, status)
    assert (watch.problems == []) == meant


def test_axe_finds_what_is_wrong_below_the_csp_too(opened: Opened) -> None:
    good, _ = opened("<p>text")
    assert chromium.violations(good) == []
    bad, _ = opened("<input>")
    assert [violation for violation in chromium.violations(bad) if violation.startswith("label ")]
