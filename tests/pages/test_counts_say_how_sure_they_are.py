"""What pages say of counts: partial, complete, bounded, exact. No number stands there without its certainty."""

from datetime import UTC, datetime

import pytest

from joobq_admin.joobq.counting import Counts
from joobq_admin.pages.counts import how_sure, number, rail

AT = datetime(2026, 11, 29, 2, 21, 52, tzinfo=UTC)
QUEUES = {"emails": 1204, "invoices": 76, "": 1}
SURE = {"exact": (True, True), "bounded": (False, True), "complete": (True, False), "partial": (False, False)}


def counts(sure: str, uncounted: int = 0) -> Counts:
    complete, bounded = SURE[sure]
    return Counts(QUEUES, sum(QUEUES.values()) + uncounted, AT, complete=complete, bounded=bounded)


@pytest.mark.parametrize(
    ("sure", "uncounted", "queue", "said"),
    [
        ("exact", 0, None, "in 2 queues, at 02:21:52 UTC"),
        ("exact", 0, "emails", "of 1,281 in all, at 02:21:52 UTC"),
        ("bounded", 3, None, "3 not yet counted by queue, 02:21:52 UTC"),
        ("bounded", 3, "emails", "emails 1,204 to 1,207: 3 not yet counted, 02:21:52 UTC"),
        ("bounded", 3, "", "no queue name 1 to 4: 3 not yet counted, 02:21:52 UTC"),
        ("complete", 0, None, "1,281 in all; by queue as read while entries were changing, 02:21:52 UTC"),
        ("complete", 0, "emails", "1,281 in all; by queue as read while entries were changing, 02:21:52 UTC"),
        ("partial", 80, None, "counted 1,281 of 1,361"),
        ("partial", 80, "emails", "counted 1,281 of 1,361"),
    ],
)
def test_below_the_title(sure: str, uncounted: int, queue: str | None, said: str) -> None:
    assert how_sure(counts(sure, uncounted), queue) == said


@pytest.mark.parametrize(
    ("sure", "uncounted", "said"),
    [("exact", 0, "1,204"), ("bounded", 3, "1,204–1,207"), ("complete", 0, "1,204"), ("partial", 80, "1,204")],
)
def test_beside_the_queue(sure: str, uncounted: int, said: str) -> None:
    assert number(counts(sure, uncounted), "emails") == said


@pytest.mark.parametrize(
    ("sure", "uncounted", "said"),
    [
        ("exact", 0, ""),
        ("bounded", 3, "3 not yet counted"),
        ("complete", 0, "as read while changing"),
        ("partial", 80, "counted 1,281 of 1,361"),
    ],
)
def test_above_the_queues(sure: str, uncounted: int, said: str) -> None:
    assert rail(counts(sure, uncounted)).note == said


def test_the_queues_stand_by_their_number_and_the_nameless_last() -> None:
    shown = rail(counts("exact"), shown="")
    assert [(row.name, row.n, row.current) for row in shown.queues] == [
        ("emails", "1,204", False),
        ("invoices", "76", False),
        ("no queue name", "1", True),
    ]


def test_of_a_thousand_queues_the_largest_are_shown_and_the_one_that_is_open() -> None:
    many = Counts({f"q{n}": n for n in range(1, 1_001)}, 500_500, AT, complete=True, bounded=True)
    shown = rail(many, shown="q7")
    assert len(shown.queues) == 61
    assert [row.name for row in shown.queues if row.current] == ["q7"]
    assert shown.more == "and 939 other queues with fewer entries"
