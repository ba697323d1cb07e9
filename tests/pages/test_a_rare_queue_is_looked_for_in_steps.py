"""A queue with few entries among many: a look ends with its budget, says how far it came, and goes on from there."""

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.lookup import BUDGET
from tests.support.elsewhere import redis_at
from tests.support.html import elements, get, link, rows, says
from tests.support.letters import DIED, NO_TIME, digest, letter
from tests.support.servers import Server

RARE = [letter(n, queue="rare") for n in range(3)]
PLACES = [DIED + 2 * BUDGET, DIED + BUDGET // 2, NO_TIME]


@pytest.fixture
def many(client: Client, valkey: Server) -> Client:
    common = {letter(10 + n): DIED + n for n in range(2 * BUDGET)}
    valkey.client.zadd(keys.DEAD, common | dict(zip(RARE, PLACES, strict=True)))
    return client


def test_step_by_step_all_are_found_once(many: Client, valkey: Server) -> None:
    with redis_at(valkey.url):
        page = get(many, "/dead-letters/?queue=rare")
        assert "1 found so far, read down to" in says(page)
        assert elements(page, "a", rel="next") == []
        second = get(many, link(page, "Continue"))
        assert "1 found so far, read down to" in says(second)
        third = get(many, link(second, "Continue"))
        found = [address for each in (page, second, third) for address in rows(each)]
    assert [digest(raw)[:16] in address for raw, address in zip(RARE, found, strict=True)] == [True] * 3
    assert "found so far" not in says(third)


def test_towards_newer_ones_too(many: Client, valkey: Server) -> None:
    with redis_at(valkey.url):
        page = get(many, "/dead-letters/?queue=rare&before=-inf~")
        assert "2 found so far, read up to" in says(page)
        second = get(many, link(page, "Continue"))
        assert "None found so far, read up to" in says(second)
        third = get(many, link(second, "Continue"))
    found = [address for each in (third, page) for address in rows(each)]
    assert [digest(raw)[:16] in address for raw, address in zip(RARE, found, strict=True)] == [True] * 3


def test_a_queue_that_is_nowhere_says_so(many: Client, valkey: Server) -> None:
    with redis_at(valkey.url):
        page = get(many, "/dead-letters/?queue=nowhere")
        while "Continue" in says(page):
            assert "None found so far" in says(page)
            page = get(many, link(page, "Continue"))
    assert "No entry of nowhere is here." in says(page)
