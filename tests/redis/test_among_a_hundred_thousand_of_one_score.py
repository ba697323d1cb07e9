"""A third of all dead letters share one score. Finding one, paging, and walking while others come and go stay exact."""

import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import pytest
import redis as redis_py

from joobq_admin.joobq import keys
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.entry import Entry, EntryRef
from joobq_admin.joobq.lookup import BUDGET, Cursor, Page
from tests.support.letters import DIED, NO_TIME, digest
from tests.support.operators import dead_letters, told
from tests.support.servers import KINDS, Server
from tests.support.trials import LAB

MANY = 100_000
LOOPS = {"a": 3_000, "b": 6_000}  # deaths of two jobs that an upstream loop runs once a second


@dataclass
class Crowd:
    """A server with MANY entries of one score, some of others, and what stands in it."""

    server: Server
    members: list[bytes]
    loops: dict[str, list[bytes]]
    dice: random.Random

    @property
    def redis(self) -> redis_py.Redis:
        return self.server.client

    def newcomer(self, jid: str | None = None, death: int = 0) -> bytes:
        jid = jid or str(uuid.UUID(int=self.dice.getrandbits(128), version=4))
        return b'{"jid":"%s","queue":"q%d","error":{"failed_at":"%06d"},"pad":"%060d"}' % (
            jid.encode(), self.dice.randrange(5), death, self.dice.getrandbits(64)
        )  # fmt: skip

    def add(self, members: list[bytes], score: float = NO_TIME) -> None:
        for start in range(0, len(members), 1_000):
            self.redis.zadd(keys.DEAD, dict.fromkeys(members[start : start + 1_000], score))

    def whole(self) -> list[bytes]:
        return self.redis.zrevrange(keys.DEAD, 0, -1)


@pytest.fixture(scope="module", params=KINDS if LAB else KINDS[:1])
def crowd(request: pytest.FixtureRequest) -> Iterator[Crowd]:
    with Server(request.param) as server:
        crowd = Crowd(server, [], {}, random.Random(5))
        for name, deaths in LOOPS.items():
            jid = f"{name * 8}-0000-4000-8000-000000000000"
            crowd.loops[jid] = [crowd.newcomer(jid, death) for death in range(deaths)]
        crowd.members = [crowd.newcomer() for _ in range(MANY - sum(LOOPS.values()))]
        crowd.add([*crowd.members, *chain(*crowd.loops.values())])
        for n in range(300):
            crowd.add([crowd.newcomer()], DIED + n % 100)
            crowd.add([crowd.newcomer()], n / 8)
        assert server.client.zcount(keys.DEAD, NO_TIME, NO_TIME) == MANY
        yield crowd


def ref_of(member: bytes, score: float = NO_TIME) -> EntryRef:
    return EntryRef(score, digest(member), Entry(member, score).jid)


def test_each_is_found_by_one_command(crowd: Crowd) -> None:
    queue, sample = dead_letters(crowd.redis), crowd.dice.sample(crowd.members, 300)
    crowd.redis.config_resetstat()
    for member in sample:
        ref = ref_of(member)
        for digest_ in (ref.digest, ref.digest[:16]):
            found = queue.look_up(EntryRef(ref.score, digest_, ref.jid))
            assert found is not None
            assert found.raw == member
    stats = crowd.redis.info("commandstats")
    assert stats["cmdstat_evalsha_ro"]["calls"] == 600
    assert sum(stats[f"cmdstat_{name}"]["calls"] for name in ("zrange", "zrevrange") if f"cmdstat_{name}" in stats) < (
        600 * 20  # about log2(100,000) to find the place, then the entry
    )


def test_many_are_found_at_once_and_what_is_gone_is_not(crowd: Crowd) -> None:
    queue, sample = dead_letters(crowd.redis), crowd.dice.sample(crowd.members, 150)
    never = [crowd.newcomer() for _ in range(3)]
    before = crowd.redis.zcard(keys.DEAD)
    outcome = queue.purge_entries([ref_of(member) for member in [*sample, *never]], operation="op1")
    assert told(outcome) == {"done": [ref_of(m) for m in sample], "missing": [ref_of(m) for m in never]}
    assert crowd.redis.zcard(keys.DEAD) == before - 150
    assert told(queue.restore([digest(member) for member in sample]))["done"]
    assert crowd.redis.zcard(keys.DEAD) == before
    assert crowd.redis.zmscore(keys.DEAD, sample) == [NO_TIME] * 150


def test_the_deaths_of_a_looping_job_are_found_from_the_newest(crowd: Crowd) -> None:
    """The budget reaches 4,000 of them, those that a list shows first. An older one is not found: it is told as a
    conflict (the job is there, those bytes were not seen), and nothing happens to it or in its place."""
    queue = dead_letters(crowd.redis)
    for jid, members in crowd.loops.items():
        assert [len(members), len(queue.near(jid).entries)] in ([3_000, 3_000], [6_000, BUDGET])
        newest_first = sorted(members, reverse=True)
        reachable = newest_first[:BUDGET]
        for member in (*reachable[:3], *crowd.dice.sample(reachable, 5), reachable[-1]):
            found = queue.look_up(ref_of(member))
            assert found is not None
            assert found.raw == member
    beyond = sorted(members, reverse=True)[BUDGET + 100]
    assert queue.look_up(ref_of(beyond)) is None
    before = crowd.redis.zcard(keys.DEAD)
    assert told(queue.purge_entries([ref_of(beyond)])) == {"conflicts": [ref_of(beyond)]}
    assert crowd.redis.zcard(keys.DEAD) == before
    assert crowd.redis.zscore(keys.DEAD, beyond) == NO_TIME


def test_so_are_deaths_of_one_job_at_any_other_score(crowd: Crowd) -> None:
    """With more neighbours above them than any look reads."""
    deaths = [crowd.newcomer("0" * 32, death) for death in range(50)]
    crowd.add([*deaths, *(b"~%d" % n for n in range(BUDGET + 10))], 7.25)
    for death in deaths:
        found = dead_letters(crowd.redis).look_up(ref_of(death, 7.25))
        assert found == Entry(death, 7.25)
    crowd.redis.zremrangebyscore(keys.DEAD, 7.25, 7.25)


@pytest.mark.parametrize("place", ["first", "amid", "last"])
def test_bytes_that_begin_in_another_way_are_found_within_the_budget(crowd: Crowd, place: str) -> None:
    """Another order of the keys: read from the newest of that score as far as the budget goes, and the few oldest."""
    jid = str(uuid.UUID(int=crowd.dice.getrandbits(128), version=4))
    forms = {"first": b'~{"jid":"%s"}', "amid": b'{"jid": "%s"}', "last": b'{ "queue":"emails","jid":"%s"}'}
    odd = forms[place] % jid.encode()
    above = [b'{"jid":!%d' % n for n in range(BUDGET)] if place == "amid" else []
    below = [b'{"jid": !%d' % n for n in range(30)] if place == "amid" else []
    crowd.add([odd, *above, *below])
    found = dead_letters(crowd.redis).look_up(EntryRef(NO_TIME, digest(odd), jid))
    crowd.redis.zrem(keys.DEAD, odd, *above, *below)
    assert (found is not None) == (place != "amid")


def test_pages_of_any_depth(crowd: Crowd) -> None:
    whole, queue = crowd.whole(), dead_letters(crowd.redis)
    for offset in (0, 299, 301, 50_000, MANY + 250, len(whole) - 3):
        assert [entry.raw for entry in queue.page(offset, 40)] == whole[offset : offset + 40]
    for member in crowd.dice.sample(crowd.members, 30):
        at = whole.index(member)
        page = queue.walk(Cursor(NO_TIME, member[:60]), 50)
        assert [entry.raw for entry in page.entries] == whole[at + 1 : at + 51]
        assert page.above == at + 1
        newer = queue.walk(Cursor(NO_TIME, member[:60]), 50, newer=True)
        assert [entry.raw for entry in newer.entries] == whole[max(0, at - 49) : at + 1]


def test_a_whole_walk_is_exact(crowd: Crowd) -> None:
    """And costs one command a page: nothing is asked for by rank, by score or all at once."""
    whole, queue = crowd.whole(), dead_letters(crowd.redis)
    crowd.redis.config_resetstat()
    pages = list(walk(queue, 2_000))
    asked = {name.removeprefix("cmdstat_") for name in crowd.redis.info("commandstats")}
    assert asked <= {"evalsha_ro", "zcard", "zcount", "zrange", "zrevrange", "info", "config|resetstat"}
    assert [entry.raw for page in pages for entry in page.entries] == whole
    assert max(len(str(page.older)) for page in pages) < 250


def walk(
    queue: DeadLetterQueue, limit: int, newer: bool = False, start: Cursor | None = None, **options: object
) -> Iterator[Page]:
    """Page after page, with every cursor through a URL."""
    page = queue.walk(start, limit, newer=newer, **options)
    yield page
    while cursor := page.newer if newer else page.older:
        page = queue.walk(Cursor.parse(str(cursor)), limit, newer=newer, **options)
        yield page


@pytest.mark.parametrize(("newer", "filtered"), [(False, False), (True, True)])
def test_walking_while_entries_come_and_go(crowd: Crowd, newer: bool, filtered: bool) -> None:
    """Between any two pages some go, the neighbours of the cursor too, and others come in beside it: each that stayed
    is shown once, none twice."""
    where = (lambda entry: entry.raw[8:9] in b"0123") if filtered else None
    before, gone, seen, steps = crowd.whole(), set[bytes](), list[bytes](), 0
    start = Cursor(float("-inf")) if newer else None
    for page in walk(dead_letters(crowd.redis), 100 if filtered else 700, newer, start, where=where):
        seen += [entry.raw for entry in page.entries]
        gone |= disturb(crowd, before, page, newer)
        steps += 1
    assert steps > 100
    assert len(seen) == len(set(seen))
    stayed = {raw for raw in before if raw not in gone and (not where or where(Entry(raw, 0)))}
    assert len(stayed) > 20_000
    assert stayed - set(seen) == set()
    crowd.add(list(gone - set(crowd.whole())))
    crowd.redis.zremrangebyscore(keys.DEAD, "(604800", DIED - 1)


def disturb(crowd: Crowd, before: list[bytes], page: Page, newer: bool) -> set[bytes]:
    """Takes some away and puts others in, above all beside the cursor; what went."""
    dice, redis = crowd.dice, crowd.redis
    leaving = set(dice.sample(before, 6))
    if page.entries:
        edge = page.entries[0 if newer else -1]
        if dice.random() < 0.5:
            leaving.add(edge.raw)
        beside = redis.zrevrank(keys.DEAD, edge.raw)
        if beside is not None and dice.random() < 0.4:
            leaving |= set(redis.zrevrange(keys.DEAD, max(0, beside - 1), beside + 1))
        redis.zadd(keys.DEAD, {edge.raw + b" ": edge.score, edge.raw[:-1] + b" }": edge.score}, nx=True)
    redis.zrem(keys.DEAD, *leaving)
    crowd.add([crowd.newcomer() for _ in range(6)])
    redis.zadd(keys.DEAD, {crowd.newcomer(): DIED + dice.randrange(100)})
    return leaving
