"""Sign-in without a question is for whoever sits at this machine, and for no page of another site."""

import pytest

from joobq_admin.sso import dev
from joobq_admin.sso.roles import Role, User


@pytest.mark.parametrize("peer", ["127.0.0.1", "::1"])
@pytest.mark.parametrize("host", ["127.0.0.1:8000", "127.0.0.1", "localhost:8000", "LOCALHOST", "[::1]:8000", "[::1]"])
def test_a_local_request_is_the_admin_dev(peer: str, host: str) -> None:
    assert dev.identify(peer, host, ["Host", "Cookie"], picked="") == User(sub="dev", name="dev", role=Role.ADMIN)


@pytest.mark.parametrize("picked", dev.ROLES)
def test_in_the_role_that_was_picked(picked: str) -> None:
    answer = dev.identify("127.0.0.1", "localhost", [], picked)
    assert isinstance(answer, User)
    assert answer.role == dev.ROLES[picked]


@pytest.mark.parametrize("peer", ["10.0.0.7", "172.17.0.1", "fd00::1", "", "localhost.example.com"])
def test_another_machine_is_nobody(peer: str) -> None:
    assert dev.identify(peer, "localhost", [], "") == "it came from another machine"


NOT_US = """
    evil.example evil.example:8000 127.0.0.1.evil.example localhost.evil.example 127.0.0.1@evil.example
    0.0.0.0:8000 10.0.0.7 127.1 localhost: localhost:8000:8000 ::1 [::1 [::2]:80
"""


@pytest.mark.parametrize("host", ["", *NOT_US.split()])
def test_another_host_is_another_site(host: str) -> None:
    assert dev.identify("127.0.0.1", host, [], "") == "its Host is not 127.0.0.1, localhost or [::1]"


@pytest.mark.parametrize(
    "header", ["Forwarded", "X-Forwarded-For", "x-forwarded-proto", "X-Forwarded-User", "X-Real-Ip", "Via"]
)
def test_what_a_proxy_passed_on_may_be_anybodys(header: str) -> None:
    assert dev.identify("127.0.0.1", "localhost", ["Host", header], "") == (
        f"a proxy passed it on (it has the header {header})"
    )
