"""What gunicorn reads of us: where it listens, with how many workers, and what nobody else may steer."""

import runpy
from typing import Any
from unittest.mock import patch

import pytest

import joobq_admin
from tests.support import sources
from tests.support.environments import ASSERTION, DEV, OIDC, PROXY, settings_of

pytestmark = pytest.mark.usefixtures("with_django")


def of(variables: dict[str, str]) -> dict[str, Any]:
    with patch.object(joobq_admin, "settings", settings_of(variables)):
        return runpy.run_path(str(sources.ROOT / "joobq_admin/gunicorn.py"))


def test_in_dev_it_listens_on_loopback_alone() -> None:
    given = of(DEV | {"PORT": "8123"})
    assert (given["bind"], given["workers"]) == ("127.0.0.1:8123", 2)


@pytest.mark.parametrize("auth", [PROXY, ASSERTION, OIDC])
def test_else_wherever_a_proxy_may_come_from(auth: dict[str, str]) -> None:
    given = of(auth | {"PORT": "8123", "WEB_CONCURRENCY": "3"})
    assert (given["bind"], given["workers"]) == ("0.0.0.0:8123", 3)


def test_no_header_and_no_socket_steers_it() -> None:
    given = of(PROXY)
    assert (given["header_map"], given["secure_scheme_headers"]) == ("drop", {})
    assert given["control_socket_disable"] is True
