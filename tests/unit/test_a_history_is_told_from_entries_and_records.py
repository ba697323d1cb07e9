"""What became of a job: from the entries that are here and the audit log, and from nothing else."""

from datetime import UTC, datetime

import pytest

from joobq_admin.joobq.audit import Record
from joobq_admin.joobq.entry import Entry
from joobq_admin.triage.history import StepKind, fate, history, next_death, redriven_before, went_with_all
from tests.support.letters import ERROR, NO_TIME, letter

START = 1_795_955_000_000  # unix ms


def entry(second: int, timed: bool = True, failed_at: str = "") -> Entry:
    raw = letter(1, n=second, error=ERROR | ({"failed_at": failed_at} if failed_at else {}))
    return Entry(raw, START + second * 1000 if timed else NO_TIME)


def record(action: str, second: int, of: Entry, operation: str = "op") -> Record:
    return Record(f"{START + second * 1000}-0", action, operation, of.digest, score=of.score)


def told(here: list[Entry], records: list[Record]) -> list[tuple[str, str]]:
    """Kind, and whether it is here or left."""
    return [(step.kind.value, "here" if step.entry else "gone") for step in history(here, records)]


def test_deaths_that_are_here_stand_newest_first() -> None:
    first, second = entry(1), entry(2)
    assert [step.entry for step in history([first, second], [])] == [second, first]


def test_a_redrive_stands_between_the_death_that_left_with_it_and_the_next() -> None:
    first, second = entry(1), entry(9)
    steps = history([second], [record("redrive", 5, first)])
    assert [step.kind for step in steps] == [StepKind.DIED, StepKind.REDRIVEN, StepKind.DIED]
    assert (steps[0].entry, steps[2].entry) == (second, None)
    assert steps[2].at == datetime.fromtimestamp((START + 1000) / 1000, UTC)


def test_an_entry_that_came_back_died_once() -> None:
    dead = entry(1)
    records = [record("restore", 6, dead), record("purge", 5, dead)]
    assert told([dead], records) == [("restored", "gone"), ("purged", "gone"), ("died", "here")]
    left = [record("redrive", 7, dead), *records]
    assert told([], left) == [("redriven", "gone"), ("restored", "gone"), ("purged", "gone"), ("died", "gone")]


def test_a_death_without_a_time_stands_right_before_what_it_left_with() -> None:
    dead = entry(1, timed=False)
    steps = history([], [record("redrive", 5, dead), record("redrive", 2, entry(0), "other")])
    assert [step.kind.value for step in steps] == ["redriven", "died", "redriven", "died"]
    assert steps[1].at is None


def test_records_of_other_kinds_are_no_part_of_it() -> None:
    assert history([], [record("purge_all", 5, entry(1)), record("unredacted", 6, entry(1))]) == []


@pytest.mark.parametrize(
    ("actions", "left"),
    [([], None), (["redrive"], "redrive"), (["purge"], "purge"), (["restore", "purge"], None),
     (["redrive", "restore", "purge"], "redrive"), (["unredacted", "purge"], "purge")],
)  # fmt: skip
def test_the_newest_record_of_the_bytes_says_how_they_left(actions: list[str], left: str | None) -> None:
    found = fate([record(action, 9 - at, entry(1)) for at, action in enumerate(actions)])
    assert (found.action if found else None) == left


def test_it_died_again_when_a_redrive_came_before_this_death() -> None:
    dead = entry(5)
    assert redriven_before(dead, [record("redrive", 6, entry(1))]) is None
    assert redriven_before(dead, [record("purge", 4, entry(1))]) is None
    assert redriven_before(dead, []) is None
    before = record("redrive", 4, entry(1))
    assert redriven_before(dead, [record("redrive", 6, entry(1)), before, record("redrive", 3, entry(0))]) == before


def test_of_what_came_after_a_redrive_the_newest_counts() -> None:
    sent = entry(1)
    after = record("redrive", 5, sent)
    assert next_death(after, [sent, entry(3)]) is None
    assert next_death(after, [entry(7), entry(9), entry(8)]) == entry(9)
    late = entry(1, timed=False, failed_at="2099-01-01T00:00:00Z")
    assert next_death(after, [late]) == late


def everything(second: int, queue: str = "") -> Record:
    return Record(f"{START + second * 1000}-0", "purge_all", "op", queue=queue)


def test_it_went_with_the_first_purge_of_everything_after_it_died() -> None:
    died = datetime.fromtimestamp((START + 5000) / 1000, UTC)
    purges = [everything(9), everything(7), everything(6, "emails"), everything(2)]
    assert went_with_all(purges, died, None, "invoices") == everything(7)
    assert went_with_all(purges, died, None, "emails") == everything(6, "emails")
    assert went_with_all(purges, died, None, "") == everything(7)
    assert went_with_all(purges[2:], died, None, "") == everything(6, "emails")
    assert went_with_all(purges[3:], died, None, "emails") is None
    assert went_with_all(purges, None, None, "") == everything(2)


def test_what_came_back_went_with_a_later_one() -> None:
    purges = [everything(9), everything(7)]
    assert went_with_all(purges, None, record("restore", 8, entry(1)), "") == everything(9)
    assert went_with_all(purges, None, record("restore", 9, entry(1)), "") is None
