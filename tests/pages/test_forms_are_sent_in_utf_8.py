"""A form in any charset but that of our pages is not understood, whatever it calls it; nothing fails on its name."""

import pytest
from django.test import Client

from tests.support.dashboard import Dashboard
from tests.support.wire import ask

NAMES = ["hex", "idna", "undefined", "rot13", "base64", "zip", "utf-16"]
KINDS = ["multipart/form-data; boundary=x", "application/x-www-form-urlencoded"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_another_charset_is_not_understood(client: Client, kind: str, name: str) -> None:
    answer = client.generic("POST", "/bin/restore", b"undo=x", content_type=f"{kind}; charset={name}")
    assert answer.status_code == 400


@pytest.mark.parametrize("name", ["boundary*=unknown''x", "boundary*=idna''xn--a%c3.", "charset*=unknown''utf-8"])
def test_one_that_nobody_knows_is_no_mistake_of_ours(dashboard: Dashboard, name: str) -> None:
    kind, url = {"Content-Type": f"multipart/form-data; {name}"}, f"{dashboard.url}/auth/dev-role"
    before = len(dashboard.log)
    assert [ask(url, kind, method).status for method in ("POST", "GET")] == [403, 405]
    assert '"level": "error"' not in dashboard.log[before:]
