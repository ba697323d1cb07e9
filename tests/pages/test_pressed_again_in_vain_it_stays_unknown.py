"""An answer was lost, and the next press finds no Redis: nothing may be said of the first one."""

from collections.abc import Callable

from django.test import Client

from joobq_admin.joobq import keys
from tests.support.elsewhere import redis_at
from tests.support.html import get, hidden, press, says
from tests.support.letters import DIED, digest, jid, letter
from tests.support.servers import Server

LETTER = letter(1, queue="invoices")
ENTRY = f"/dead-letters/{DIED}-{digest(LETTER)[:16]}/?jid={jid(1)}"


def test_redis_does_not_answer_the_second_press(
    client: Client, valkey: Server, new_server: Callable[..., Server]
) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    form = hidden(get(client, ENTRY))
    gone = new_server()
    gone.close()
    with redis_at(gone.url):
        first = press(client, ENTRY, form)
        again = press(client, ENTRY, {**form, "unsure": "1"})
    assert "Nothing was sent, so nothing was done." in says(first)
    assert again.status_code == 503
    assert "Outcome unknown" in says(again)
    assert "Pressed again at" in says(again)
    assert "nothing was done" not in says(again)
    assert hidden(again) == {**form, "unsure": "1"}
