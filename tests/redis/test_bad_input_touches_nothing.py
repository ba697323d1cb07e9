"""What no caller should ask for: a ValueError before Redis is asked, or an outcome. Nothing is touched."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import redis as redis_py

from joobq_admin.joobq.audit import Actor
from joobq_admin.joobq.bin import Bin
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.entry import EntryRef
from joobq_admin.joobq.lookup import Cursor
from tests.support.database import contents
from tests.support.letters import DIED, digest, jid, letter
from tests.support.operators import ANN, dead_letters, told
from tests.support.servers import Server

RAW = letter(1)
DIGEST = digest(RAW)
REF = EntryRef(DIED, DIGEST, jid(1))
NAN, HUGE = float("nan"), 10**400

Ask = Callable[[DeadLetterQueue], Any]
READS: dict[str, Ask] = {
    "page, offset below 0": lambda queue: queue.page(-1),
    "page, limit below 0": lambda queue: queue.page(0, -1),
    "page, offset no integer": lambda queue: queue.page(1.5),
    "page, limit text": lambda queue: queue.page(0, "50"),
    "page, offset None": lambda queue: queue.page(None),
    "page, limit True": lambda queue: queue.page(0, True),
    "page, queue bytes": lambda queue: queue.page(queue=b"emails"),
    "page, queue a number": lambda queue: queue.page(queue=5),
    "walk, limit 0": lambda queue: queue.walk(limit=0),
    "walk, limit below 0": lambda queue: queue.walk(limit=-1),
    "walk, budget 0": lambda queue: queue.walk(budget=0),
    "walk, budget a float": lambda queue: queue.walk(budget=10.0),
    "walk, cursor as text": lambda queue: queue.walk("604800~"),
    "walk, cursor a tuple": lambda queue: queue.walk((604800, b"", 0)),
    "walk, queue bytes": lambda queue: queue.walk(queue=b"emails"),
    "find, jid bytes": lambda queue: queue.find(jid(1).encode()),
    "find, jid None": lambda queue: queue.find(None),
    "find_all, jid a number": lambda queue: queue.find_all(1),
    "near, jid a list": lambda queue: queue.near([jid(1)]),
    "look_up, no ref": lambda queue: queue.look_up(DIGEST),
    "look_up, digest of 15 digits": lambda queue: queue.look_up(EntryRef(DIED, DIGEST[:15], jid(1))),
    "look_up, digest empty": lambda queue: queue.look_up(EntryRef(DIED, "", jid(1))),
    "look_up, digest in upper case": lambda queue: queue.look_up(EntryRef(DIED, "A" * 64, jid(1))),
    "look_up, score NaN": lambda queue: queue.look_up(EntryRef(NAN, DIGEST, jid(1))),
    "look_up, score text": lambda queue: queue.look_up(EntryRef("5", DIGEST, jid(1))),
    "look_up, jid bytes": lambda queue: queue.look_up(EntryRef(DIED, DIGEST, b"x")),
}
BAD_REFS: dict[str, Any] = {
    "no list": REF,
    "None": None,
    "a string": DIGEST,
    "a list of strings": [DIGEST],
    "a list of tuples": [(DIED, DIGEST, jid(1))],
    "a short digest": [EntryRef(DIED, DIGEST[:16], jid(1))],
    "a digest with a line's end": [EntryRef(DIED, DIGEST + "\n", jid(1))],
    "a digest of other digits": [EntryRef(DIED, "٣" * 64, jid(1))],
    "no digest": [EntryRef(DIED, None, jid(1))],
    "score NaN": [EntryRef(NAN, DIGEST, jid(1))],
    "score True": [EntryRef(True, DIGEST, jid(1))],
    "score None": [EntryRef(None, DIGEST, jid(1))],
    "score beyond any double": [EntryRef(HUGE, DIGEST, jid(1))],
    "jid bytes": [EntryRef(DIED, DIGEST, b"1")],
    "jid a list": [EntryRef(DIED, DIGEST, [])],
    "one good, one bad": [REF, None],
}
BAD_JIDS: dict[str, Any] = {
    "one text": jid(1),
    "bytes": jid(1).encode(),
    "a list of bytes": [jid(1).encode()],
    "numbers": [1],
    "None": None,
    "a list of None": [None],
    "lists": [[jid(1)]],
}
BAD_DIGESTS: dict[str, Any] = {
    "one text": DIGEST,
    "bytes": [DIGEST.encode()],
    "63 digits": [DIGEST[:63]],
    "65 digits": [DIGEST + "0"],
    "upper case": ["A" * 64],
    "a line's end": [DIGEST + "\n"],
    "refs": [REF],
    "None": None,
}
BAD_PRESSES: dict[str, dict[str, Any]] = {
    "operation of 65 characters": {"operation": "x" * 65},
    "operation with a slash": {"operation": "a/b"},
    "operation with a line's end": {"operation": "a\n"},
    "operation with a NUL": {"operation": "a\0b"},
    "operation empty": {"operation": ""},
    "operation bytes": {"operation": b"op1"},
    "operation with an umlaut": {"operation": "ö"},
    "by a name": {"by": "ann"},
    "by a tuple": {"by": ("u-1", "Ann")},
    "by an actor without a name": {"by": Actor("u-1", None)},
    "reason bytes": {"reason": b"because"},
    "reason None": {"reason": None},
}
WRITES: dict[str, Ask] = {
    **{
        f"redrive_entries, {name}": (lambda queue, bad=bad: queue.redrive_entries(bad))
        for name, bad in BAD_REFS.items()
    },
    **{f"purge_entries, {name}": (lambda queue, bad=bad: queue.purge_entries(bad)) for name, bad in BAD_REFS.items()},
    **{f"redrive, {name}": (lambda queue, bad=bad: queue.redrive(bad)) for name, bad in BAD_JIDS.items()},
    **{f"purge, {name}": (lambda queue, bad=bad: queue.purge(bad)) for name, bad in BAD_JIDS.items()},
    **{f"restore, {name}": (lambda queue, bad=bad: queue.restore(bad)) for name, bad in BAD_DIGESTS.items()},
    "redrive_reviewed, short digest": lambda queue: queue.redrive_reviewed(jid(1), DIGEST[:16]),
    "redrive_reviewed, digest None": lambda queue: queue.redrive_reviewed(jid(1), None, DIED),
    "redrive_reviewed, jid None": lambda queue: queue.redrive_reviewed(None, DIGEST, DIED),
    "redrive_reviewed, score NaN": lambda queue: queue.redrive_reviewed(jid(1), DIGEST, NAN),
    "purge_all, queue bytes": lambda queue: queue.purge_all(b"emails"),
    "purge_all, a list": lambda queue: queue.purge_all(["emails"]),
    "add, score NaN": lambda queue: queue.add(NAN, [b"{}"]),
    "add, score a float": lambda queue: queue.add(1.0, [b"{}"]),
    "add, score True": lambda queue: queue.add(True, [b"{}"]),
    "add, score text": lambda queue: queue.add("5", [b"{}"]),
    "add, score beyond any double": lambda queue: queue.add(HUGE, [b"{}"]),
    "add, text": lambda queue: queue.add(5, ["{}"]),
    "add, one member": lambda queue: queue.add(5, b"{}"),
    "add, None": lambda queue: queue.add(5, None),
    "add, one good, one bad": lambda queue: queue.add(5, [b"{}", None]),
}


@pytest.fixture
def queue(redis: redis_py.Redis) -> DeadLetterQueue:
    queue = dead_letters(redis)
    queue.add(DIED, [RAW, letter(2)])
    assert queue.purge_entries([EntryRef(DIED, digest(letter(2)), jid(2))]).done
    return queue


@pytest.mark.parametrize("name", READS | WRITES)
def test_a_value_error_before_anything_is_sent(queue: DeadLetterQueue, name: str) -> None:
    before = contents(queue.redis)
    queue.redis.config_resetstat()
    with pytest.raises(ValueError, match=r"\w"):
        (READS | WRITES)[name](queue)
    assert not {"cmdstat_evalsha", "cmdstat_evalsha_ro", "cmdstat_eval"} & queue.redis.info("commandstats").keys()
    assert contents(queue.redis) == before


@pytest.mark.parametrize("name", BAD_PRESSES)
def test_who_why_and_the_operation_are_checked_by_every_press(queue: DeadLetterQueue, name: str) -> None:
    before, bad = contents(queue.redis), BAD_PRESSES[name]
    presses: list[Callable[..., Any]] = [
        lambda **bad: queue.redrive_entries([REF], **bad),
        lambda **bad: queue.purge_entries([REF], **bad),
        lambda **bad: queue.redrive_reviewed(jid(1), DIGEST, DIED, **bad),
        lambda **bad: queue.redrive([jid(1)], **bad),
        lambda **bad: queue.purge([jid(1)], **bad),
        lambda **bad: queue.restore([DIGEST], **bad),
        lambda **bad: queue.purge_all(**bad),
        lambda **bad: queue.purge_all("emails", **bad),
    ]
    for press in presses:
        with pytest.raises(ValueError, match=r"\w"):
            press(**bad)
    assert contents(queue.redis) == before


@pytest.mark.parametrize(
    "odd", ["x" * 1_000_000, "\0", "\ud800", "", '"', "\\", "*", "[a-", "' or 1=1", "\r\n", "💥" * 300]
)
def test_any_text_is_a_jid(queue: DeadLetterQueue, odd: str) -> None:
    """One that no entry has: missing."""
    before, ref = contents(queue.redis), EntryRef(DIED, "0" * 64, odd)
    assert queue.find(odd) is None
    assert queue.find_all(odd) == queue.near(odd).entries == []
    assert queue.look_up(ref) is None
    assert told(queue.redrive([odd])) == told(queue.purge([odd])) == {"missing": [odd]}
    assert told(queue.redrive_entries([ref])) == told(queue.purge_entries([ref])) == {"missing": [ref]}
    assert list(told(queue.redrive_reviewed(odd, "0" * 64))) == ["missing"]
    assert contents(queue.redis) == before


@pytest.mark.parametrize("score", [DIED, None])
def test_the_jid_of_another_job_only_makes_it_slower(queue: DeadLetterQueue, score: int | None) -> None:
    """Bytes identify an entry; a jid shortens the way to it."""
    assert queue.look_up(EntryRef(DIED, DIGEST, jid(8))) == queue.look_up(REF)
    assert list(told(queue.redrive_reviewed(jid(8), DIGEST, score, operation="op1"))) == ["done"]
    assert queue.audit is not None
    assert [record.jid for record in queue.audit.of_operation("op1")] == [jid(1)]


@pytest.mark.parametrize("odd", ["x" * 1_000_000, "", "\0", '"', "💥" * 300, "joobq:dead_letter"])
def test_an_entry_with_any_jid_is_found_refused_and_purged(redis: redis_py.Redis, odd: str) -> None:
    queue, raw = dead_letters(redis), letter(odd)
    queue.add(DIED, [raw])
    (entry,) = queue.page()
    assert entry.jid == odd
    assert queue.look_up(entry.ref) == queue.find(odd) == entry
    assert [refused.reason for refused in queue.redrive_entries([entry.ref]).refused] == ["JID_NOT_UUID"]
    assert told(queue.purge([odd], by=ANN, operation="op1")) == {"done": [odd]}
    assert told(queue.purge([odd], by=ANN, operation="op1")) == {"done": [odd]}
    assert queue.audit is not None
    assert [record.by for record in queue.audit.of_jid(odd)] == ([ANN.id] if odd else [])
    assert all(len(member) < 400 for member in redis.zrange("joobq:admin:audit:index", 0, -1))


@pytest.mark.parametrize("score", [float("inf"), float("-inf"), 1e308, -0.0, 5e-324, 2**60 + 1])
def test_any_number_is_a_score(queue: DeadLetterQueue, score: float) -> None:
    ref = EntryRef(score, "0" * 64, jid(9))
    assert queue.look_up(ref) is None
    assert told(queue.redrive_entries([ref])) == {"missing": [ref]}


def test_whoever_made_it(server: Server) -> None:
    with pytest.raises(ValueError, match="decode"):
        DeadLetterQueue(server.connect(decode_responses=True))
    with pytest.raises(ValueError, match="audit"):
        DeadLetterQueue(server.client, bin=Bin(server.client, timedelta(days=1), 1 << 20))
    with pytest.raises(ValueError, match="bin"):
        DeadLetterQueue(server.client).restore([DIGEST])


@pytest.mark.parametrize(
    "text", ["", "~", "x~", "1", "nan~", "1e5~?", "1~a", "1~YQ==", "1.2.3~", "..~", "1~YQ~-1", "1~YQ~x", "1~YQ~1~1",
             "604800~YQ\n", "١~YQ", "1~YQ~" + "9" * 10, " 1~YQ", "1e~YQ", "--1~YQ"]
)  # fmt: skip
def test_a_cursor_that_was_never_written(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        Cursor.parse(text)


@pytest.mark.parametrize("text", ["1" * 5_000 + "~", "1e999999~", "-inf~_w", "0~" + "_" * 5_000, "5~YQ~999999999"])
def test_a_cursor_of_ones_own_making_reads_no_more_than_another(queue: DeadLetterQueue, text: str) -> None:
    for newer in (False, True):
        assert queue.walk(Cursor.parse(text), newer=newer).scanned <= 1
