from django.test import Client

from joobq_admin.joobq import keys
from tests.support.html import get, hidden, press, says
from tests.support.letters import DIED, digest, jid, letter
from tests.support.servers import Server

ONE, OTHER = letter(1, queue="invoices"), letter(1, queue="invoices", death=1)
WARNING = "Another death of this job was redriven"


def address(raw: bytes) -> str:
    return f"/dead-letters/{DIED}-{digest(raw)[:16]}/?jid={jid(1)}"


def test_this_one_would_be_a_second_copy(client: Client, valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, {ONE: DIED, OTHER: DIED})
    assert WARNING not in says(get(client, address(OTHER)))
    assert press(client, address(ONE), hidden(get(client, address(ONE)))).status_code == 200
    words = says(get(client, address(OTHER)))
    assert WARNING in words
    assert "by dev. This one would be a second copy." in words
