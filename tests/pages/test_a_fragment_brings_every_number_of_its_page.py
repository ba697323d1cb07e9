from django.test import Client

from joobq_admin.joobq import keys
from tests.support.html import elements, get
from tests.support.letters import DIED, letter
from tests.support.servers import Server


def test_the_number_in_the_navigation_too(client: Client, valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, {letter(n): DIED + n for n in range(3)})
    assert elements(get(client, "/dead-letters/"), "small", id="total")
    fragment = get(client, "/dead-letters/", target="results")
    (total,) = elements(fragment, "small", id="total")
    assert total["hx-swap-oob"] == "true"
    assert b'hx-swap-oob="true">3</small>' in fragment.content
