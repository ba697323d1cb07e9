from django.test import Client

from joobq_admin.joobq import keys
from tests.support.html import elements, get
from tests.support.letters import DIED, jid, letter
from tests.support.operators import ANN, dead_letters
from tests.support.servers import Server


def test_the_numbers_in_the_navigation_too(client: Client, valkey: Server) -> None:
    queue = dead_letters(valkey.client)
    queue.add(DIED, [letter(n) for n in range(5)])
    assert queue.purge([jid(3), jid(4)], by=ANN).done
    page, fragment = get(client, "/dead-letters/"), get(client, "/dead-letters/", target="results")
    for name, number in (("total", 3), ("binned", 2)):
        assert elements(page, "small", id=name)
        assert f'id="{name}">{number}</small>' in page.content.decode()
        assert f'id="{name}" hx-swap-oob="true">{number}</small>' in fragment.content.decode()


def test_pages_that_read_the_queues_tell_what_is_in_the_bin(client: Client, valkey: Server) -> None:
    queue = dead_letters(valkey.client)
    queue.add(DIED, [letter(n) for n in range(3)] + [letter(0, death=1)])
    assert queue.purge([jid(2)], by=ANN).done
    for jid_ in (jid(0), jid(1), jid(2), jid(9)):  # two deaths, one, a tombstone, never seen
        assert 'id="binned">1</small>' in get(client, f"/jobs/{jid_}/").content.decode()


def test_a_bin_that_cannot_be_read_has_no_number(client: Client, valkey: Server) -> None:
    valkey.client.set(keys.BIN_TIMES, "no bin")
    assert 'id="binned"></small>' in get(client, "/jobs/?jid=x").content.decode()
