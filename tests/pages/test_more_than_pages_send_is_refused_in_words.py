"""An address too long, a form too large, presses too many: refused in words, nothing is done, and no press is lost."""

from collections.abc import Iterator

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.pages import limits
from joobq_admin.pages.limits import Allowance
from tests.support.database import changed, contents
from tests.support.html import elements, get, hidden, press, says
from tests.support.letters import DIED, digest, jid, letter
from tests.support.servers import Server

LETTER = letter(1, queue="invoices")
ENTRY = f"/dead-letters/{DIED}-{digest(LETTER)[:16]}/"
FORM = {"score": str(DIED), "digest": digest(LETTER), "jid": jid(1), "operation": "op-1"}


@pytest.fixture
def before(valkey: Server) -> Iterator[None]:
    """One entry, which stays where it is."""
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    was = contents(valkey.client)
    yield
    assert changed(was, contents(valkey.client)) == set()


@pytest.mark.parametrize("url", ["/dead-letters/", "/audit/", "/jobs/", "/operations/op-1/", ENTRY, "/nowhere"])
def test_a_query_that_is_too_long(client: Client, before: None, url: str) -> None:
    answer = get(client, f"{url}?q={'x' * limits.LONGEST_QUERY}")
    assert answer.status_code == 400
    assert "This address is longer than 6,000 bytes behind its “?”." in says(answer)


def test_one_that_is_long_is_read(client: Client) -> None:
    assert get(client, f"/audit/?q={'é' * 900}").status_code == 200


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain"])
def test_a_form_that_is_too_large(client: Client, before: None, kind: str) -> None:
    answer = client.post(f"{ENTRY}redrive", b"a" * (512 << 10) + b"a", content_type=kind)
    assert answer.status_code == 400
    assert "This form is larger than any of this dashboard. Nothing was done." in says(answer)


def test_a_form_of_too_many_fields(client: Client, before: None) -> None:
    answer = client.post(f"{ENTRY}redrive", FORM | {f"field{n}": "" for n in range(200)})
    assert answer.status_code == 400
    assert "This form holds more than any of this dashboard. Nothing was done." in says(answer)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch, client: Client) -> Client:
    """Three presses at once, and then as good as none."""
    monkeypatch.setattr(limits, "PRESSES", 3)
    monkeypatch.setattr(limits, "A_SECOND", 0.01)
    monkeypatch.setattr(limits, "allowance", Allowance())
    return client


def pressed_often(client: Client) -> None:
    for _ in range(3):
        assert client.post("/bin/restore", {"undo": "none", "operation": "op-0"}).status_code != 503


def test_a_press_too_many_is_handed_back(
    few: Client, valkey: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    pressed_often(few)
    for htmx in (True, False):
        answer = press(few, ENTRY, FORM | {"reviewed": '"<é>'}, htmx=htmx)
        assert answer.status_code == 503
        assert "Too many presses at once. This one did nothing" in says(answer)
        assert 1 <= int(answer["Retry-After"]) <= 100
        assert valkey.client.zcard(keys.DEAD) == 1
        assert hidden(answer) == FORM | {"reviewed": '"<é>'}
        form = elements(answer, "form", action=f"{ENTRY}redrive")[0]
        assert ("hx-post" in form) == htmx
    told = [line for line in caplog.records if line.message == "too many presses"]
    assert [(line.action, line.user) for line in told] == [("redrive", "dev")] * 2
    monkeypatch.setattr(limits, "A_SECOND", 1e9)
    assert few.post(form["action"], hidden(answer)).status_code == 303
    assert valkey.client.llen("invoices") == 1


def test_ticked_rows_come_back_with_all_their_ticks(few: Client) -> None:
    pressed_often(few)
    ticks = [f"{DIED}-{digest(letter(n))}-{jid(n)}" for n in range(50)]
    answer = few.post("/dead-letters/purge", {"entry": ticks, "operation": "op-1", "back": "queue=a", "reason": "why"})
    assert answer.status_code == 503
    assert [field["value"] for field in elements(answer, "input", name="entry")] == ticks
    assert {"back": "queue=a", "reason": "why", "operation": "op-1"}.items() <= hidden(answer).items()


def test_looking_is_not_counted_and_neither_is_a_forged_form(few: Client, application: object) -> None:
    for _ in range(5):
        assert get(few, "/dead-letters/").status_code == 200
        assert few.post("/auth/dev-role", {"role": "admin"}).status_code == 303
    few.handler.enforce_csrf_checks = True
    try:
        for _ in range(5):
            assert few.post("/bin/restore", {"undo": "none", "operation": "op-0"}).status_code == 403
    finally:
        few.handler.enforce_csrf_checks = False
    pressed_often(few)


def test_each_person_has_presses_of_their_own_and_gets_them_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PRESSES", 60)
    allowance = Allowance()
    assert [allowance.ask("ann", 0) for _ in range(60)] == [0] * 60
    assert allowance.ask("ann", 0) == pytest.approx(0.05)
    assert allowance.ask("ann", 0.02) == pytest.approx(0.03)
    assert allowance.ask("bob", 0.02) == 0
    assert allowance.ask("ann", 0.05) == 0
    assert allowance.ask("ann", 0.05) > 0
    assert [allowance.ask("ann", 1_000) for _ in range(60)] == [0] * 60
    assert allowance.ask("ann", 1_000) > 0


def test_who_has_all_of_theirs_need_not_be_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PRESSES", 60)
    allowance = Allowance()
    for at in range(5 * limits.MOST_PEOPLE):
        allowance.ask(f"person {at}", at)
    assert len(allowance._left) <= limits.MOST_PEOPLE + 1
