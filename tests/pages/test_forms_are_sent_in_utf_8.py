import pytest
from django.test import Client

NAMES = ["hex", "idna", "undefined", "rot13", "base64", "zip", "utf-16"]
KINDS = ["multipart/form-data; boundary=x", "application/x-www-form-urlencoded"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_another_charset_is_not_understood(client: Client, kind: str, name: str) -> None:
    answer = client.generic("POST", "/bin/restore", b"undo=x", content_type=f"{kind}; charset={name}")
    assert answer.status_code == 400
