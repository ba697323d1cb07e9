"""Redrive, pressed on the page of an entry: the job goes to the front of its queue, the answer says what was sent."""

import json

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from tests.support.database import changed, contents
from tests.support.html import elements, get, hidden, link, press, read, says
from tests.support.letters import DIED, EXPIRES, Real, digest, jid, letter, real_letters
from tests.support.servers import Server

LETTER = letter(1, queue="invoices", amount=19.1)
ENTRY = f"/dead-letters/{DIED}-{digest(LETTER)[:16]}/?jid={jid(1)}"
SENT = (
    "retries 0 becomes 3",
    "expires past becomes in 3 days, ",
    "error this one becomes null",
    "status dead becomes enqueued",
)


@pytest.fixture(autouse=True)
def letters(valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    valkey.client.rpush("invoices", "other")


def test_before_the_press_the_page_says_what_will_be_sent(client: Client) -> None:
    words = says(get(client, ENTRY))
    assert "What will be sent" in words
    assert [change for change in SENT if change not in words] == []
    assert "Every other byte is kept." in words
    foot = "Acts on this exact version. If it changed meanwhile, nothing happens and you see what changed."
    assert f"{foot} invoices had 1 waiting at" in words


def test_the_answer_says_what_was_sent_and_where_to_go_on(client: Client) -> None:
    answer = press(client, ENTRY, hidden(get(client, ENTRY)))
    assert answer.status_code == 200
    words = says(answer)
    assert "Redriven. The job is next to run in invoices" in words
    assert [change for change in SENT if change not in words] == []
    assert "by you, in the audit log" in words
    assert "Next to run in invoices, 2 waiting, at" in words
    assert elements(answer, "section", id="action")[0]["data-tone"] == "done"
    assert elements(answer, "h2", tabindex="-1")
    assert get(client, link(answer, "What it did")).status_code == 200


def test_the_line_of_deaths_comes_with_it(client: Client) -> None:
    answer = press(client, ENTRY, hidden(get(client, ENTRY)))
    assert elements(answer, "section", id="deaths")[0]["hx-swap-oob"] == "true"
    assert "Redriven to invoices by you" in says(answer)
    assert "Left dead letters with that redrive." in says(answer)


def test_it_is_next_to_run_and_nothing_else_moved(client: Client, valkey: Server) -> None:
    form, before = hidden(get(client, ENTRY)), contents(valkey.client)
    press(client, ENTRY, form)
    moved = changed(before, contents(valkey.client))
    assert moved == {keys.DEAD, keys.COUNTS, keys.AUDIT, keys.AUDIT_INDEX, b"invoices"}
    assert valkey.client.lindex("invoices", 0) == b"other"
    pushed = json.loads(valkey.client.lindex("invoices", -1))
    assert pushed == json.loads(LETTER) | {
        "retries": 3, "status": "enqueued", "error": None, "expires": pushed["expires"],
    }  # fmt: skip
    ((_, record),) = valkey.client.xrange(keys.AUDIT)
    assert (record[b"by"], record[b"name"], record[b"operation"]) == (b"dev", b"dev", form["operation"].encode())


def test_without_javascript_it_leads_to_a_page_that_says_the_same(client: Client) -> None:
    answer = press(client, ENTRY, hidden(get(client, ENTRY)), htmx=False)
    assert answer.status_code == 303
    page = get(client, answer["Location"])
    assert page.status_code == 200
    assert "Redriven. The job is next to run in invoices" in says(page)
    assert [change for change in SENT if change not in says(page)] == []


def test_pressed_again_it_was_done_once(client: Client, valkey: Server) -> None:
    form = hidden(get(client, ENTRY))
    for answer in (press(client, ENTRY, form), press(client, ENTRY, form)):
        assert answer.status_code == 200
        assert "It left dead letters and was added to the queue in one step." in says(answer)
    assert press(client, ENTRY, form, htmx=False).status_code == 303
    assert valkey.client.llen("invoices") == 2


def test_the_receipt_names_all_that_identifies_it(client: Client) -> None:
    form = hidden(get(client, ENTRY))
    words = says(press(client, ENTRY, form))
    for word in (
        jid(1),
        digest(LETTER),
        form["operation"],
        "retries 0 -> 3",
        "by dev",
        "died 2026-11-29T12:29:50.586Z",
    ):
        assert word in words


@pytest.mark.parametrize("real", [r for r in real_letters() if r.pushed], ids=lambda real: digest(real.raw)[:8])
def test_each_real_entry_goes_as_a_worker_wants_it(client: Client, valkey: Server, real: Real) -> None:
    valkey.client.flushall()
    valkey.client.zadd(keys.DEAD, {real.raw: float(real.score)})
    entry = f"/dead-letters/{float(real.score):.0f}-{digest(real.raw)[:16]}/"
    answer = press(client, entry, hidden(get(client, entry)))
    assert answer.status_code == 200
    assert real.pushed
    before, _, after = real.pushed.partition(EXPIRES)
    (pushed,) = valkey.client.lrange(real.queue, 0, -1)
    assert pushed.startswith(before)
    assert pushed.endswith(after)


def test_get_on_the_address_of_the_press_does_nothing(client: Client, valkey: Server) -> None:
    before = contents(valkey.client)
    for method in (client.get, client.head, client.options, client.put, client.delete):
        answer = method(ENTRY.partition("?")[0].rstrip("/") + "/redrive")
        assert (answer.status_code, answer["Location"]) == (302, "/dead-letters/")
    assert changed(before, contents(valkey.client)) == set()


def test_the_slip_carries_no_more_than_identity_and_what_was_shown(client: Client) -> None:
    form = hidden(get(client, ENTRY))
    assert form.keys() == {"score", "digest", "jid", "operation", "reviewed"}
    assert (form["score"], form["digest"], form["jid"]) == (str(DIED), digest(LETTER), jid(1))
    assert "19.1" not in form["reviewed"]


def test_the_slip_for_a_lost_answer_lies_in_the_page(client: Client) -> None:
    page = get(client, ENTRY)
    form, html = hidden(page), page.content.decode()
    lost = html.partition('<template id="lost">')[2].partition("</template>")[0]
    assert "Outcome unknown" in lost
    assert f'value="{form["operation"]}"' in lost
    assert f"/operations/{form['operation']}/?action=redrive" in lost
    assert "Outcome unknown" not in "".join(read(page).words)
