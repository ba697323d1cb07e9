"""A search reads no more than it may, says how far it came, and page by page finds what a plain filter of all finds."""

import random
import threading
from datetime import UTC, datetime, timedelta

import pytest
import redis as redis_py

from joobq_admin.joobq import keys, lookup, overview
from joobq_admin.joobq.entry import Entry, Kind, read_score
from joobq_admin.joobq.filters import Span
from joobq_admin.joobq.lookup import Cursor, Page
from joobq_admin.triage import search as searching
from joobq_admin.triage.redact import Redaction
from joobq_admin.triage.search import Search
from tests.support.letters import DIED, ERROR, NO_TIME, letter
from tests.support.operators import dead_letters
from tests.support.writers import interrupted

REDACTION = Redaction()
AT = datetime.fromtimestamp(DIED / 1000, UTC)
SEARCHES = {
    "text": Search(text="Merchant 7"),
    "text and queue": Search(text="reached", queue="emails"),
    "nothing that is there": Search(text="no such text"),
    "kind": Search(kind=Kind.PLACEHOLDER),
    "class since": Search(error="B", since=AT + timedelta(milliseconds=100)),
    "until": Search(until=AT + timedelta(milliseconds=200)),
    "between": Search(since=AT + timedelta(milliseconds=100), until=AT + timedelta(milliseconds=200)),
    "between, of a queue": Search("", "réports", since=AT + timedelta(milliseconds=50), until=AT + timedelta(hours=1)),
    "undated": Search(undated=True),
    "undated, by the time of the error": Search(undated=True, since=datetime(2026, 11, 29, 0, 1, tzinfo=UTC)),
    "a queue": Search(queue="emails"),
    "all": Search(),
}


def fill(redis: redis_py.Redis) -> list[Entry]:
    """600 entries, many of one score, some without a time; newest first."""
    dice = random.Random(1)
    for n in range(600):
        error = ERROR | {"message": f"limit of merchant {n % 9} reached", "error_class": "AB"[n % 2],
                         "failed_at": f"2026-11-29T00:{n % 60:02d}:00Z"}  # fmt: skip
        raw = letter(n, dice.choice(("emails", "réports", "")), error=error)
        if n % 40 == 0:
            raw = b'{"original_job_data":"merchant %d"}' % n
        redis.zadd(keys.DEAD, {raw: NO_TIME if n % 5 == 0 else DIED + dice.randrange(300)})
    rows = redis.zrevrange(keys.DEAD, 0, -1, withscores=True)
    return [Entry(raw, read_score(b"%.17g" % score)) for raw, score in rows]


def plainly(wanted: Search, entries: list[Entry]) -> list[bytes]:
    where = wanted.where(REDACTION) or (lambda entry: True)
    return [entry.raw for entry in entries if wanted.span.since <= entry.score < wanted.span.until and where(entry)]


def search(
    redis: redis_py.Redis, wanted: Search, cursor: Cursor | None = None, limit: int = 50, newer: bool = False
) -> Page:
    return searching.overview(dead_letters(redis), wanted, REDACTION, cursor, limit, newer).page


@pytest.mark.parametrize("name", SEARCHES)
def test_page_by_page_down_and_up_again(redis: redis_py.Redis, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entries, wanted = fill(redis), SEARCHES[name]
    monkeypatch.setattr(searching, "BUDGET", 150)

    def page(cursor: Cursor | None, newer: bool = False) -> Page:
        return search(redis, wanted, cursor, limit=40, newer=newer)

    down, older = list[bytes](), page(None)
    assert older.newer is None, "nothing is above the newest"
    while True:
        down += [entry.raw for entry in older.entries]
        if older.complete:
            break
        assert older.older
        older = page(older.older)
    assert older.older is None
    assert down == plainly(wanted, entries)

    up, place = list[bytes](), older.newer
    while place:
        newer = page(place, newer=True)
        up, place = [entry.raw for entry in newer.entries] + up, newer.newer
    assert up == down[: len(down) - len(older.entries)]


def test_it_says_how_far_it_came(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = fill(redis)
    monkeypatch.setattr(searching, "BUDGET", 150)
    page = search(redis, SEARCHES["nothing that is there"])
    assert (page.entries, page.scanned, page.complete) == ((), 150, False)
    assert page.scanned_to == entries[149].score


def test_without_time_it_still_comes_on(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(redis)
    monkeypatch.setattr(searching, "SECONDS", 0)
    cursor, read = None, 0
    for _ in range(5):
        page = search(redis, SEARCHES["nothing that is there"], cursor)
        cursor, read = page.older, read + page.scanned
    assert read == 5, "one entry a step"
    assert dead_letters(redis).walk(cursor, 1).above == 5


def test_a_slow_answer_is_not_thrown_away(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(redis)
    clock = [0.0]
    for module in (lookup, overview):
        monkeypatch.setattr(module, "monotonic", lambda: clock[0])

    def late() -> None:
        clock[0] += threading.current_thread() is threading.main_thread()

    slow = interrupted(redis.connection_pool.connection_kwargs["port"], late)
    assert search(slow, SEARCHES["nothing that is there"]).scanned > lookup.CHUNK


@pytest.mark.parametrize("newer", [False, True])
@pytest.mark.parametrize("cursor", [None, Cursor(float("-inf")), Cursor(NO_TIME), Cursor(DIED + 1_000_000)])
def test_no_place_in_a_link_leads_out_of_the_time(redis: redis_py.Redis, newer: bool, cursor: Cursor | None) -> None:
    entries = fill(redis)
    page = search(redis, SEARCHES["between"], cursor, 1_000, newer)
    assert {entry.raw for entry in page.entries} <= set(plainly(SEARCHES["between"], entries))


def test_entries_out_of_the_time_are_not_read(redis: redis_py.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(redis)
    read, rows_of = [0], lookup.rows_of

    def counted(reply):
        rows = rows_of(reply)
        read[0] += len(rows.entries)
        return rows

    monkeypatch.setattr(lookup, "rows_of", counted)
    span = Span(DIED + 298)
    page = lookup.walk(redis, lookup.TOP, 50, span=span)
    assert page.complete
    assert page.scanned == len(page.entries) == redis.zcount(keys.DEAD, DIED + 298, "+inf")
    assert read[0] <= 51
