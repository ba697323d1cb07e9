"""The provider is down, at first or later, or has new keys: nobody is let in by guess, and whoever is in goes on."""

import threading
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from django.test import Client

from joobq_admin.sso import fetch
from joobq_admin.sso.fetch import Kept, Unavailable
from tests.support.eventually import eventually
from tests.support.html import link, says
from tests.support.operators import at_once
from tests.support.provider import Provider, public, signed
from tests.support.signing_in import begun, browser, by_oidc, ended, next_of, role_of, sign_in

DISCOVERY = "/.well-known/openid-configuration"
HOW = ["503", "429", "html", "hang", "reset", "redirect", "huge"]


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """What is kept is as old as `now` says; nobody waits longer than 0.3 s."""
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(fetch, "monotonic", lambda: clock.now)
    monkeypatch.setattr(fetch, "TIMEOUT", 0.3)
    return clock


@pytest.mark.parametrize("how", HOW)
def test_at_first_nobody_can_sign_in_and_the_page_says_so(
    oidc: Client, provider: Provider, clock: SimpleNamespace, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    provider.spoilt["*"] = how
    page = oidc.get("/auth/login?next=/jobs/a/")
    assert (page.status_code, page["Retry-After"]) == (503, "5")
    assert "Nobody can sign in just now" in says(page)
    assert "the provider does not answer as it must" in caplog.text
    assert next_of(link(page, "Try again")) == "/jobs/a/"
    assert provider.count("/elsewhere") == 0
    provider.spoilt.clear()
    clock.now += 5
    assert sign_in(oidc, provider, "/jobs/a/")["Location"] == "/jobs/a/"


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("at", ["/token", "/keys", "/userinfo"])
def test_half_way_nobody_is_signed_in_and_can_try_again(
    oidc: Client, provider: Provider, clock: SimpleNamespace, how: str, at: str
) -> None:
    provider.user = {"sub": "u-vera"}  # without groups, which are asked for
    back = provider.visit(begun(oidc, "/jobs/a/"))
    provider.spoilt[at] = how
    page = ended(oidc, back)
    assert page.status_code == 503
    assert next_of(link(page, "Try again")) == "/jobs/a/"
    assert "session" not in oidc.cookies
    provider.spoilt.clear()
    clock.now += 5
    assert sign_in(oidc, provider, "/jobs/a/")["Location"] == "/jobs/a/"


def test_whoever_is_in_goes_on_and_what_is_known_of_the_provider_does_for_others(
    oidc: Client, provider: Provider, clock: SimpleNamespace
) -> None:
    sign_in(oidc, provider)
    provider.spoilt |= {DISCOVERY: "503", "/keys": "503"}
    for _ in range(3):
        clock.now += 3601
        assert role_of(oidc) == "Admin"
        other = browser()
        assert sign_in(other, provider).status_code == 302
        assert role_of(other) == "Admin"
    assert provider.count("/keys") == 4
    provider.spoilt["*"] = "503"
    assert sign_out(oidc) == 200


def sign_out(client: Client) -> int:
    return int(client.post("/auth/logout").status_code)


def test_signing_out_works_though_the_provider_never_answered(oidc: Client, provider: Provider) -> None:
    provider.spoilt["*"] = "503"
    page = oidc.post("/auth/logout")
    assert page.status_code == 200
    assert link(page, "Sign in again") == "/auth/login"


def test_a_new_key_is_looked_for_at_once(oidc: Client, provider: Provider, clock: SimpleNamespace) -> None:
    sign_in(oidc, provider)
    for key in ("k2", "es"):
        provider.keys, provider.signs = [public(key)], lambda claims, key=key: signed(claims, key)
        clock.now += 11
        assert sign_in(browser(), provider).status_code == 302
    assert provider.count("/keys") == 3


def test_names_of_keys_that_somebody_made_up_load_them_every_ten_seconds_at_most(
    oidc: Client, provider: Provider, clock: SimpleNamespace
) -> None:
    sign_in(oidc, provider)
    provider.signs = lambda claims: signed(claims, "rogue")
    for seconds, loads in ((0, 2), (5, 2), (9, 2), (11, 3)):
        clock.now = 1000.0 + seconds
        assert sign_in(browser(), provider).status_code == 403
        assert provider.count("/keys") == loads


def test_a_new_key_while_they_cannot_be_loaded_is_no_fault_of_the_token(
    oidc: Client, provider: Provider, clock: SimpleNamespace
) -> None:
    sign_in(oidc, provider)
    provider.keys, provider.signs, provider.spoilt["/keys"] = [public("k2")], lambda claims: signed(claims, "k2"), "503"
    for _ in range(2):
        assert sign_in(browser(), provider).status_code == 503
    provider.spoilt.clear()
    clock.now += 11
    assert sign_in(browser(), provider).status_code == 302


@pytest.mark.parametrize(
    "more",
    [
        {"issuer": "https://evil.example"},
        {"issuer": None},
        {"token_endpoint": None},
        {"token_endpoint": "file:///etc/passwd"},
        {"jwks_uri": "ftp://127.0.0.1/keys"},
        {"authorization_endpoint": ["https://evil.example"]},
        {"authorization_endpoint": "https://["},
        {"token_endpoint": "http://127.0.0.1:x/"},
        {"jwks_uri": "https://"},
    ],
)
def test_a_document_that_is_not_the_providers_own_is_not_believed(
    oidc: Client, provider: Provider, more: dict[str, object]
) -> None:
    provider.more = more
    assert oidc.get("/auth/login").status_code == 503


def test_an_address_of_it_that_is_none_is_not_asked(oidc: Client, provider: Provider) -> None:
    for bad in ("file:///etc/passwd", "ftp://127.0.0.1/", "https://[", "javascript:alert(1)", 5):
        provider.more, provider.user = {"userinfo_endpoint": bad, "end_session_endpoint": bad}, {"sub": "u-vera"}
        with by_oidc(provider):
            assert sign_in(oidc, provider).status_code == 302
            assert role_of(oidc) == "403"
            assert link(oidc.post("/auth/logout"), "Sign in again") == "/auth/login"


def test_what_cannot_be_loaded_anew_is_told_and_tried_again_after_a_minute(
    clock: SimpleNamespace, caplog: pytest.LogCaptureFixture
) -> None:
    loads = list[str]()

    def load() -> str:
        loads.append("one more")
        if len(loads) > 1:
            raise Unavailable("it hangs")
        return "old"

    kept = Kept(load)
    for now, tried in ((0, 1), (3599, 1), (3601, 2), (3605, 2), (3660, 2), (3662, 3)):
        clock.now = 1000.0 + now
        assert (kept.get(), len(loads)) == ("old", tried)
    assert [(line.message, line.reason) for line in caplog.records] == [("an old copy is used", "it hangs")] * 2


def test_a_body_that_comes_in_drops_has_no_longer_than_any_other(clock: SimpleNamespace) -> None:
    def drop(_: int) -> bytes:
        clock.now += 0.2
        return b" "

    with pytest.raises(TimeoutError):
        fetch._bounded(SimpleNamespace(read1=drop))


def test_those_who_wait_together_wait_once(clock: SimpleNamespace) -> None:
    loads = []

    def load() -> str:
        loads.append(threading.get_ident())
        raise Unavailable("it hangs")

    kept = Kept(load)

    def ask() -> str:
        with pytest.raises(Unavailable, match="it hangs"):
            kept.get()
        return "refused"

    assert at_once(*[ask] * 8) == ["refused"] * 8
    assert len(loads) == 1


def refused_among(n: int, ask: Callable[[], object], go_on: threading.Event) -> int:
    """Of so many who ask at once, how many are told that too many wait, before anybody has an answer."""
    told = []

    def try_it() -> None:
        try:
            ask()
        except Unavailable as error:
            told.append(str(error))

    threads = [threading.Thread(target=try_it) for _ in range(n)]
    for each in threads:
        each.start()
    eventually(lambda: len(told) >= 3)
    early = list(told)
    go_on.set()
    for each in threads:
        each.join()
    return early.count("too many wait for it already")


def test_only_so_many_wait_for_it_and_the_others_are_told_at_once(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "TIMEOUT", 30)
    go_on = threading.Event()
    kept = Kept(lambda: go_on.wait(30))
    assert refused_among(8 + 3, kept.get, go_on) == 3
    go_on.clear()
    assert refused_among(8 + 3, kept.renewed, go_on) == 3
    assert kept.get()
    provider.spoilt["*"] = "hang"
    assert refused_among(6 + 3, lambda: fetch.fetch(provider.url), provider.closing) == 3


def test_one_loads_anew_while_the_others_go_on_with_the_old_copy(clock: SimpleNamespace) -> None:
    loading, go_on, copies = threading.Event(), threading.Event(), iter(["old", "new"])

    def load() -> str:
        loading.set()
        go_on.wait(10)
        return next(copies)

    kept = Kept(load)
    go_on.set()
    assert kept.get() == "old"
    go_on.clear()
    loading.clear()
    clock.now += 3601
    slow = threading.Thread(target=kept.get)
    slow.start()
    assert loading.wait(10)
    assert kept.get() == "old"
    go_on.set()
    slow.join()
    assert kept.get() == "new"
