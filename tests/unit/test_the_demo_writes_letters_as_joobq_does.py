"""The demo's dead letters have the form of those that real workers wrote: same keys in the same order, same scores."""

import base64
import json
import re
from collections import Counter
from random import Random
from typing import Any

import pytest

from demo import letters
from demo.deaths import NO_TIME, Letter, Writer, read, reaped, text
from demo.jobs import HOUR, KINDS

NOW = 1_800_000_000_000
DAY = letters.day(NOW)
REAL = [
    (line["path"].split(maxsplit=1)[0], int(line["score"]), base64.b64decode(line["member_b64"]))
    for line in map(json.loads, letters.REAL.read_text().splitlines())
]
PATHS = {path for path, _, _ in REAL}


def form(value: Any) -> Any:
    """The keys in their order, and what kind of value each holds."""
    if isinstance(value, dict):
        return [(name, form(inner)) for name, inner in value.items()]
    return type(value).__name__


def shape(score: int, raw: bytes) -> Any:
    """An entry's own part, without the job's fields."""
    job = read(raw)
    own = ("jid", "queue", "retries", "max_retries", "expires", "status", "error", "original_job_data")
    status = job["status"]
    return score == NO_TIME, status, [name for name in job if name in own], form(job["error"]), first_own(job, own)


def first_own(job: dict[str, Any], own: tuple[str, ...]) -> bool:
    """Whether the job's fields come after JoobQ's."""
    return [name for name in job if name in own] == list(job)[: sum(name in own for name in job)]


def written(path: str) -> list[Letter]:
    """One of each kind of job, by this path of code."""
    chance, found = Random(1), []
    for kind in KINDS:
        job, writer = kind.job(chance, NOW - 60_000), Writer(kind.queue, chance)
        failure = kind.failure(chance, job)
        found.append(
            {
                "retry_exhaustion": lambda j=job, f=failure, w=writer: w.retries_used_up(j, f, NOW),
                "ErrorHandler.send_to_dead_letter": lambda j=job, f=failure, w=writer: w.error_handler(j, f, NOW),
                "timeout_middleware": lambda j=job, w=writer: w.timed_out(j, NOW),
                "expired_job_reaper": lambda j=job: reaped(text(j), NOW),
                "worker.move_unparseable_job_to_dead_letter": lambda w=writer: w.unparseable(b"{", "emails", NOW),
            }[path]()
        )
    return found


@pytest.mark.parametrize("path", sorted(PATHS))
def test_each_path_of_code_writes_the_form_of_the_real_one(path: str) -> None:
    real = [shape(score, raw) for real_path, score, raw in REAL if real_path == path and b'"queue"' in raw]
    ours = [shape(score, raw) for score, raw in written(path)]
    assert len(ours) == len(KINDS)
    assert [one for one in ours if one not in real] == []


def test_the_real_ones_are_written_back_byte_for_byte() -> None:
    """But for exponents, which Crystal and Python write differently; ours have none."""
    plain = [raw for _, _, raw in REAL if not re.search(rb"\d\.\d+e[+-]?\d", raw)]
    assert len(plain) > 60
    assert [raw for raw in plain if text(read(raw)) != raw] == []


def test_the_day_is_about_1200_letters_and_no_bytes_twice() -> None:
    assert 1100 < len(DAY) < 1300
    assert len({letter.raw for letter in DAY}) == len(DAY)


def test_the_same_moment_gives_the_same_day_and_another_seed_another() -> None:
    assert letters.day(NOW) == DAY
    assert letters.day(NOW, seed=8) != DAY


def test_the_real_ones_are_all_there() -> None:
    assert letters.real() == [Letter(score, raw) for _, score, raw in REAL]
    assert len(REAL) == 76


def test_about_200_have_a_score_that_is_no_time() -> None:
    assert 180 < sum(letter.score == NO_TIME for letter in DAY) < 220


def test_nothing_died_in_the_future_or_before_yesterday() -> None:
    assert all(NOW - 25 * HOUR < letter.score < NOW for letter in DAY if letter.score != NO_TIME)


def test_the_last_hour_is_the_densest_and_most_of_it_is_one_error() -> None:
    ages = Counter((NOW - letter.score) // HOUR for letter in DAY if letter.score != NO_TIME)
    assert ages.most_common(1)[0][0] == 0
    refused = sum(b"Connection refused (Socket::ConnectError)" in letter.raw for letter in DAY)
    assert 0.6 < refused / ages[0] < 0.8


def test_some_jobs_died_several_times_within_seconds() -> None:
    deaths = Counter(
        read(letter.raw)["jid"]
        for letter in DAY
        if letter.raw.startswith(b'{"jid":"') and b'"status":"dead"' in letter.raw
    )
    assert sum(times > 2 for times in deaths.values()) > 40


def test_some_are_not_utf_8_and_some_are_no_json_objects() -> None:
    def utf_8(raw: bytes) -> bool:
        return raw.decode("utf-8", "replace").encode() == raw

    def an_object(raw: bytes) -> bool:
        try:
            return bool(read(raw))
        except ValueError:
            return False

    assert sum(not utf_8(letter.raw) for letter in DAY) >= 3
    assert sum(not an_object(letter.raw) for letter in DAY) >= 3


def test_every_job_has_a_queue_of_its_kind_and_some_have_expired_since() -> None:
    jobs = [read(letter.raw) for letter in DAY if b'"max_retries"' in letter.raw]
    assert {job["queue"] for job in jobs} == {kind.queue for kind in KINDS} | {"retired-queue"}
    dead = [job for job in jobs if job["status"] == "dead"]
    assert sum(job["expires"] < NOW for job in dead) > 50
    assert sum(job["expires"] > NOW for job in dead) > 500
