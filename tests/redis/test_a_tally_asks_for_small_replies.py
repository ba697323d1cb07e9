"""Blocks hold fewer entries where these are large, so that no reply stops Redis for long."""

from joobq_admin.joobq import keys
from joobq_admin.joobq.cjson import queue_of
from joobq_admin.joobq.tally import BLOCK, BYTES, Tally
from tests.support.servers import Server
from tests.support.writers import truth


def test_entries_of_64_kb_and_one_of_10_mb(server: Server) -> None:
    small = [b'{"n":%d,"queue":"small"}' % n for n in range(1500)]
    large = [b'{"n":%d,"queue":"large","text":"%s"}' % (n, b"x" * 65_000) for n in range(300)]
    huge = b'{"queue":"huge","text":"%s"}' % (b"x" * 10_000_000)
    for score, member in enumerate([*small, huge, *large]):
        server.client.zadd(keys.DEAD, {member: score})
    counted = Tally(server.client, keys.DEAD, queue_of)
    for _ in range(8):  # a block that turned out to be too large is halved whenever it is read
        assert counted.refresh()
        assert counted.exact
        assert counted.counts == {b"small": 1500, b"large": 300, b"huge": 1}
        server.client.zincrby(keys.DEAD, 0.1, small[0])  # the next one must read everything again
    assert all(block.bytes <= 2 * BYTES for block in counted.blocks if len(block.names) > 1)
    of_small = [len(block.names) for block in counted.blocks if set(block.names) == {b"small"}]
    assert min(of_small) >= BLOCK // 2, "large entries make the blocks of others no smaller"


def test_only_blocks_that_changed_are_read_again(server: Server) -> None:
    server.client.zadd(keys.DEAD, {b'{"n":%d,"queue":"a"}' % n: n for n in range(5000)})
    counted = Tally(server.client, keys.DEAD, queue_of)
    assert counted.refresh()
    assert counted.entries_read == 5000
    server.client.zadd(keys.DEAD, {b'{"queue":"b"}': 2500})
    assert counted.refresh(prove=False)
    assert counted.counts == truth(server.client)
    assert not counted.exact
    assert counted.entries_read <= 5000 + 2 * BLOCK + 1
    assert counted.refresh()
    assert counted.exact, "and all of them once more for a proof"


def test_a_tally_by_anything_else(server: Server) -> None:
    members = {b'{"n":%d}' % n: n % 3 for n in range(1000)}
    server.client.zadd(keys.DEAD, members)
    counted = Tally(server.client, keys.DEAD, lambda raw: ("digits", len(raw) - len(b'{"n":}')))
    assert counted.refresh(budget=10_000)
    assert counted.counts == {("digits", 1): 10, ("digits", 2): 90, ("digits", 3): 900}


def test_a_budget_is_kept_and_the_next_refresh_goes_on(server: Server) -> None:
    server.client.zadd(keys.DEAD, {b'{"n":%d}' % n: n for n in range(3000)})
    counted = Tally(server.client, keys.DEAD, queue_of)
    totals = []
    for _ in range(20):
        before = counted.entries_read
        complete = counted.refresh(budget=600, prove=False)
        totals.append(counted.total)
        assert counted.entries_read - before <= 600 + 2 * BLOCK
        if complete:
            break
    assert complete
    assert totals == sorted(set(totals))
    assert totals[-1] == 3000
