"""Before and after: is it the same job, and which fields of the error differ? Only what can be proven is said."""

import random
from typing import Any

import pytest

from joobq_admin.joobq.entry import Entry
from joobq_admin.triage.redact import Redaction
from joobq_admin.triage.versions import LONGEST_REVIEW, LONGEST_TEXT, Version, differences, one_job, same_job, version
from tests.support.letters import DIED, ERROR, letter, real_letters

REDACTION = Redaction()


def of(raw: bytes) -> Version:
    return version(Entry(raw, DIED), REDACTION)


def error(**fields: object) -> bytes:
    return letter(1, error=ERROR | fields)


def test_what_a_death_writes_makes_no_other_job() -> None:
    assert same_job(of(letter(1)), of(letter(1, death=5)))
    assert same_job(of(letter(1)), of(letter(1, status="retrying")))
    assert same_job(of(letter(1)), of(letter(1, error=None)))


@pytest.mark.parametrize(
    "raw",
    [
        letter(2), letter(1, queue="other"), letter(1, retries=1), letter(1, expires=6), letter(1, amount=1),
        letter(1).replace(b'"retries":0', b'"retries":00'), letter(1).replace(b'"max_retries":3', b'"max_retries": 3 '),
        letter(1).replace(b'"retries":0', b'"retries":0,"retries":0'), b"no json", b"[]",
    ],
)  # fmt: skip
def test_every_other_byte_does(raw: bytes) -> None:
    assert not same_job(of(letter(1)), of(raw))


def test_what_is_no_object_is_never_the_same() -> None:
    for raw in (b"?", b"[]", b'"a"'):
        assert not same_job(of(raw), of(raw))


def test_differences_are_told_field_by_field() -> None:
    was, now = error(system_context={"pid": "1"}), error(message="other", system_context={"pid": "2"}, cause="x")
    told = [(d.field, d.was, d.now) for d in differences(of(was), of(now))]
    assert told == [("message", "SMTP 550", "other"), ("cause", "", "x"), ("system_context.pid", "1", "2")]


def test_long_texts_that_begin_alike_differ() -> None:
    was, now = error(backtrace="x" * 500 + "a"), error(backtrace="x" * 500 + "b")
    (only,) = differences(of(was), of(now))
    assert only.was == only.now == "x" * LONGEST_TEXT + "…"


def test_secrets_are_not_carried() -> None:
    raw = error(message="password=hunter2", system_context={"api_key": "hunter2"}, token="hunter2")
    assert "hunter2" not in str(of(raw))


def test_a_form_carries_it_and_back() -> None:
    for real in real_letters():
        one = version(real.entry, REDACTION)
        assert Version.parse(str(one)) == one
        assert len(str(one)) < 4_000


HUGE: list[dict[str, Any]] = [
    {f"{n}": {"context": "é\u202e" * 500} for n in range(100)},
    {"x" * 100_000: "1", "message": "a"},
    {"message": "\\" * 500, "cause": '"' * 500} | {"\0" * 150 + str(n): "\1" * 500 for n in range(40)},
    {f"{n}": "\udcff" for n in range(39)},
]


@pytest.mark.parametrize("fields", HUGE, ids=range(len(HUGE)))
def test_a_form_carries_no_more_than_it_takes_back(fields: dict[str, Any]) -> None:
    one = of(letter(1, queue="q" * 100_000, error=fields))
    assert len(str(one)) <= LONGEST_REVIEW
    assert Version.parse(str(one)) == one
    assert str(one).encode()


def test_of_what_is_not_carried_nothing_is_claimed() -> None:
    many = {f"{n:03}": "é" * 200 for n in range(100)}
    was, now = of(error(**many)), of(error(message="other", new="1"))
    assert not was.whole
    assert now.whole
    fewer = [d.field for d in differences(was, now)]
    assert [name for name in fewer if name not in was.error] == []
    assert "message" in fewer
    assert "new" not in fewer
    assert differences(was, of(error(**many, last="1"))) == []


def test_text_of_many_bytes_takes_no_more_room_than_it_must() -> None:
    assert "é" in str(of(error(message="é")))


def test_of_many_all_are_one_job_or_not() -> None:
    def entries(*raws: bytes) -> list[Entry]:
        return [Entry(raw, DIED) for raw in raws]

    assert one_job(entries(letter(1), letter(1, death=5), letter(1, status="x")))
    assert not one_job(entries(letter(1), letter(1, death=5), letter(1, amount=1)))
    assert not one_job(entries(b"?", b"?"))


def test_what_no_form_carried_is_none() -> None:
    whole = str(of(letter(1)))
    rng = random.Random(1)
    for _ in range(500):
        cut = rng.randrange(len(whole))
        assert Version.parse(whole[:cut]) is None
    for text in ("", "null", "[]", "{}", '{"job":1,"queue":2,"error":{"a":["b"]}}', "[" * 15_000, '"', "1e999"):
        assert Version.parse(text) is None


def test_four_real_deaths_of_one_job_are_the_same_job() -> None:
    jobs: dict[str, list[Version]] = {}
    for real in real_letters():
        jobs.setdefault(real.entry.jid or "", []).append(version(real.entry, REDACTION))
    (first, *others) = max(jobs.values(), key=len)
    assert len(others) == 3
    for other in others:
        assert same_job(first, other)
        assert {d.field.partition(".")[0] for d in differences(first, other)} <= {"failed_at", "system_context"}
