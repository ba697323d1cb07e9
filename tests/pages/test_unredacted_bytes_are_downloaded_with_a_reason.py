"""Unredacted bytes: an admin who confirmed that it is them gives a reason, and gets exactly the bytes, on record."""

from collections.abc import Callable, Iterator

import pytest
from django.http import HttpResponse
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import EntryRef
from tests.support.database import changed, contents
from tests.support.elsewhere import redis_at
from tests.support.html import elements, get, hidden, link, read, says
from tests.support.letters import DIED, digest, jid, letter, real_letters
from tests.support.operators import ANN, dead_letters
from tests.support.servers import Proxy, Server, free_port

SECRET = "4111 1111 1111 1111"
LETTER = letter(1, queue="invoices", card=SECRET)
REF = EntryRef(DIED, digest(LETTER), jid(1))
ENTRY = f"/dead-letters/{DIED}-{digest(LETTER)[:16]}/?jid={jid(1)}"
HTMX = {"HX-Request": "true", "HX-Target": "action"}
LOG = {keys.AUDIT, keys.AUDIT_INDEX}
WHY = "SUP-4471: the bank asks for it"


@pytest.fixture
def admin(client: Client, valkey: Server) -> Client:
    """Recently signed in, before one entry."""
    dead_letters(valkey.client).add(DIED, [LETTER])
    client.post("/auth/confirm", {"next": "/"})
    return client


def asked(client: Client, htmx: bool = True, page: HttpResponse | None = None) -> HttpResponse:
    """Presses "Download unredacted bytes…" on the page of the entry."""
    page = page or get(client, ENTRY)
    (button,) = [each for each in elements(page, "button") if each.get("hx-post", "").endswith("/unredacted")]
    return client.post(button["hx-post"], hidden(page), headers=HTMX if htmx else {})


def answered(client: Client, question: HttpResponse, reason: str = WHY) -> HttpResponse:
    """Gives the reason and presses Download: a plain form, so that a browser takes the answer for a file."""
    (form,) = elements(question, "form", data_download="")
    assert "hx-post" not in form
    return client.post(form["action"], hidden(question) | {"reason": reason})


def download(client: Client) -> HttpResponse:
    return answered(client, asked(client))


def is_the_file(answer: HttpResponse, raw: bytes = LETTER) -> bool:
    named = f'attachment; filename="dead-letter-{digest(raw)[:16]}.bin"'
    return (answer.status_code, answer.content, answer["Content-Disposition"]) == (200, raw, named)


@pytest.mark.parametrize("htmx", [True, False])
def test_it_asks_first_and_says_what_would_leave(admin: Client, valkey: Server, htmx: bool) -> None:
    get(admin, ENTRY)
    before = contents(valkey.client)
    question = asked(admin, htmx)
    words = says(question)
    assert "Download unredacted bytes?" in words
    assert f"All {len(LETTER):,} bytes of version" in words
    assert "with what is hidden here: card. Whoever has the file can read it." in words
    assert "Kept in the audit log with your name." in words
    assert bool(elements(question, "dialog", id="unredacted-dialog")) == htmx
    assert question.get("HX-Retarget") == ("#dialog" if htmx else None)
    assert SECRET not in question.content.decode()
    assert changed(before, contents(valkey.client)) == set()


def test_with_a_reason_exactly_the_bytes_are_a_file_and_the_record_says_who_and_why(
    admin: Client, valkey: Server
) -> None:
    question, before = asked(admin), contents(valkey.client)
    answer = answered(admin, question)
    assert is_the_file(answer)
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Cache-Control"] == "no-store, private"
    assert changed(before, contents(valkey.client)) == LOG
    ((_, record),) = valkey.client.xrange(keys.AUDIT)
    assert (record[b"action"], record[b"by"], record[b"reason"]) == (b"unredacted", b"dev", WHY.encode())
    assert SECRET.encode() not in b"".join(record.values())


@pytest.mark.parametrize("raw", [b"not \xff\r\n\0json", *(real.raw for real in real_letters()[:3])], ids=digest)
def test_the_file_is_the_entry_byte_for_byte(admin: Client, valkey: Server, raw: bytes) -> None:
    valkey.client.zadd(keys.DEAD, {raw: DIED})
    form = {"score": str(DIED), "digest": digest(raw), "operation": "op1", "confirmed": "1", "reason": WHY}
    assert is_the_file(admin.post(f"/dead-letters/{DIED}-{digest(raw)[:16]}/unredacted", form), raw)


def test_pressed_again_it_is_the_same_file_and_one_record_and_asked_again_another(
    admin: Client, valkey: Server
) -> None:
    page = get(admin, ENTRY)
    question = asked(admin, page=page)
    assert all(is_the_file(answered(admin, question)) for _ in range(2))
    assert valkey.client.xlen(keys.AUDIT) == 1
    assert is_the_file(answered(admin, asked(admin, page=page), "another reason"))
    assert valkey.client.xlen(keys.AUDIT) == 2


@pytest.mark.parametrize("reason", ["", " \n "])
def test_without_a_reason_it_asks_again(admin: Client, valkey: Server, reason: str) -> None:
    again = answered(admin, asked(admin), reason)
    assert "A download needs a reason" in says(again)
    assert is_the_file(answered(admin, again))
    assert valkey.client.xlen(keys.AUDIT) == 1


def test_who_has_not_confirmed_is_asked_to_and_comes_back(client: Client, valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    refused = asked(client)
    assert refused.status_code == 403
    assert refused["HX-Retarget"] == "#dialog"
    assert "Confirm that it is you" in says(refused)
    form = hidden(get(client, ENTRY)) | {"confirmed": "1", "reason": WHY}
    late = client.post(f"/dead-letters/{DIED}-{digest(LETTER)[:16]}/unredacted", form)
    assert late.status_code == 403
    assert SECRET not in late.content.decode()
    assert not valkey.client.exists(keys.AUDIT)


@pytest.mark.parametrize("role", ["viewer", "operator"])
def test_nobody_else_sees_it_or_may(admin: Client, valkey: Server, role: str) -> None:
    question = asked(admin)
    admin.post("/auth/dev-role", {"role": role})
    for page in (get(admin, ENTRY), get(admin, ENTRY, "payload"), get(admin, ENTRY.replace("?", "?bytes=1&"))):
        assert "unredacted" not in page.content.decode().lower()
    refused = answered(admin, question)
    assert refused.status_code == 403
    assert SECRET not in refused.content.decode()
    assert not valkey.client.exists(keys.AUDIT)


def test_the_fragment_of_the_whole_entry_has_it_too(admin: Client) -> None:
    assert "Download unredacted bytes…" in says(get(admin, ENTRY.replace("?", "?bytes=1&"), "payload"))


def test_what_left_meanwhile_is_told_and_not_recorded(admin: Client, valkey: Server) -> None:
    question = asked(admin)
    assert dead_letters(valkey.client).purge_entries([REF], by=ANN, operation="op0").done
    before = contents(valkey.client)
    for answer in (answered(admin, question), asked_for(admin, question)):
        assert answer.status_code == 409
        assert "Already purged by Ann Āboliņa" in says(answer)
        assert "Your press did nothing." in says(answer)
    assert changed(before, contents(valkey.client)) == set()


def asked_for(client: Client, question: HttpResponse) -> HttpResponse:
    """The question again, as the page of an entry asks it."""
    (form,) = elements(question, "form", data_download="")
    fields = {name: value for name, value in hidden(question).items() if name != "confirmed"}
    return client.post(form["action"], fields, headers=HTMX)


def test_what_was_replaced_meanwhile_is_told(admin: Client, valkey: Server) -> None:
    question = asked(admin)
    valkey.client.zrem(keys.DEAD, LETTER)
    valkey.client.zadd(keys.DEAD, {letter(1, queue="invoices", death=3600): DIED})
    answer = answered(admin, question)
    assert answer.status_code == 409
    assert "Changed since you reviewed it" in says(answer)
    assert "Nothing was downloaded." in says(answer)
    assert not valkey.client.exists(keys.AUDIT)


def told_above_the_question(answer: HttpResponse, status: int, heading: str) -> bool:
    """With the reason that was given and the same operation, to be pressed again."""
    assert answer.status_code == status
    assert WHY in "".join(read(answer).words)
    assert SECRET not in answer.content.decode()
    return says(answer).count(heading) > 0


def test_a_log_that_cannot_be_written_refuses(admin: Client, valkey: Server) -> None:
    question = asked(admin)
    valkey.client.set(keys.AUDIT, "no log")
    answer = answered(admin, question)
    assert told_above_the_question(answer, 422, "Refused: the audit log cannot be written")
    valkey.client.delete(keys.AUDIT)
    assert is_the_file(answered(admin, answer))


def test_a_lost_answer_is_unknown_and_the_same_press_gives_the_file_on_one_record(
    admin: Client, valkey: Server, new_proxy: Callable[[Server], Proxy]
) -> None:
    is_the_file(download(admin))  # the server knows the scripts
    valkey.client.delete(*LOG)
    question, proxy = asked(admin), new_proxy(valkey)
    with redis_at(f"redis://127.0.0.1:{proxy.port}/0"):
        proxy.cut()
        lost = answered(admin, question)
        assert told_above_the_question(lost, 503, "Outcome unknown.")
        assert "It may or may not be in the audit log. No bytes left." in says(lost)
    with redis_at(f"redis://127.0.0.1:{free_port()}/0"):
        still = answered(admin, lost)
        assert told_above_the_question(still, 503, "Outcome unknown.")
        assert "Now: Redis does not answer." in says(still)
    assert is_the_file(answered(admin, still))
    assert valkey.client.xlen(keys.AUDIT) == 1


@pytest.fixture
def nowhere(admin: Client) -> Iterator[HttpResponse]:
    """The answer when nobody listens where Redis should be any more."""
    question = asked(admin)
    with redis_at(f"redis://127.0.0.1:{free_port()}/0"):
        yield answered(admin, question)


def test_without_a_connection_nothing_was_sent(nowhere: HttpResponse, valkey: Server) -> None:
    assert told_above_the_question(nowhere, 503, "Redis does not answer.")
    assert "Nothing was sent, so nothing was done." in says(nowhere)
    assert not valkey.client.exists(keys.AUDIT)


def test_the_audit_log_and_the_page_of_the_operation_say_it_in_words(admin: Client) -> None:
    download(admin)
    log = get(admin, "/audit/?action=unredacted")
    assert "unredacted bytes its exact bytes were downloaded" in says(log)
    (operation,) = {each["href"] for each in elements(log, "a") if each["href"].startswith("/operations/")}
    page = get(admin, operation)
    assert "Downloaded by you" in says(page)
    assert "Its exact bytes were downloaded, with what is hidden here. Nothing was changed" in says(page)
    assert WHY in says(page)
    assert get(admin, link(page, "Look for it")).status_code == 200


def test_a_look_takes_nothing_from_the_story_of_an_entry(admin: Client, valkey: Server) -> None:
    """Purged, restored, downloaded: an Undo of that purge still says that it was restored."""
    queue = dead_letters(valkey.client)
    queue.purge_entries([REF], by=ANN, operation="op1")
    queue.restore([REF.digest], by=ANN, operation="op2")
    download(admin)
    assert "Since then it was restored by Ann Āboliņa" in says(get(admin, "/operations/op1/"))
    late = admin.post("/bin/restore", {"undo": "op1", "operation": "op3"}, headers=HTMX)
    assert "Already restored by Ann Āboliņa" in says(late)
    valkey.client.zrem(keys.DEAD, LETTER)
    stone = get(admin, ENTRY)
    assert "Gone, and not by this dashboard" in says(stone)
    assert "Downloaded by you" in says(stone)


def test_each_press_is_a_line_of_the_log(admin: Client, valkey: Server, caplog: pytest.LogCaptureFixture) -> None:
    question = asked(admin)
    caplog.set_level("INFO", "joobq_admin")
    answered(admin, question)
    valkey.client.set(keys.AUDIT_INDEX, "no index")
    answered(admin, question)
    presses = [line for line in caplog.records if line.name == "joobq_admin.pages.log"]
    told = [(line.message, line.outcome, line.reason, line.digest, line.user) for line in presses]
    assert told == [
        ("see unredacted bytes", "done", "", REF.digest, "dev"),
        ("see unredacted bytes", "refused", "AUDIT_BROKEN", REF.digest, "dev"),
    ]
    valkey.client.delete(keys.AUDIT_INDEX)
