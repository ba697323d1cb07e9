"""What an entry is and when it died: told by fields and score, against the code path in JoobQ that really wrote it."""

import json
from datetime import UTC, datetime
from hashlib import sha256

import pytest

from joobq_admin.joobq.entry import TIMES_FROM, Entry, Kind, Score, read_score
from tests.support.real_entries import REAL, RealEntry

# By the code that wrote an entry: its kind, and where the time of its death stands.
WRITTEN_BY = {
    "retry_exhaustion RedisStore.move_to_dead_letter": (Kind.JOB, "score"),
    "ErrorHandler.send_to_dead_letter": (Kind.JOB, "error.failed_at"),
    "timeout_middleware DeadLetterManager.add": (Kind.EXPIRED, "error.failed_at"),
    "expired_job_reaper": (Kind.EXPIRED, "score"),
    "worker.move_unparseable_job_to_dead_letter": (Kind.PLACEHOLDER, "score"),
}


@pytest.mark.parametrize("real", REAL, ids=lambda real: sha256(real.raw).hexdigest()[:16])
def test_of_every_real_entry(real: RealEntry) -> None:
    entry = Entry(real.raw, read_score(real.score))
    assert (entry.kind, entry.died_at_source) == WRITTEN_BY[real.path]
    assert entry.died_at
    assert (entry.died_at_source == "score") == (real.score != b"604800")
    if entry.died_at_source == "score":
        assert round(entry.died_at.timestamp() * 1000) == int(real.score)
    else:
        assert f'"failed_at":"{entry.died_at:%Y-%m-%dT%H:%M:%SZ}"'.encode() in real.raw
    assert datetime(2026, 11, 29, 12, 29, tzinfo=UTC) < entry.died_at < datetime(2026, 11, 29, 12, 40, tzinfo=UTC)


def test_it_had_expired_when_it_died_later_and_not_at_that_very_moment() -> None:
    for ms in range(1_795_955_390_000, 1_795_955_391_000):
        kinds = [Entry(b'{"expires":%d,"status":"Expired"}' % expires, ms).kind for expires in (ms - 1, ms)]
        assert kinds == [Kind.EXPIRED, Kind.JOB]


def test_every_path_is_in_the_real_entries() -> None:
    assert {real.path for real in REAL} == set(WRITTEN_BY)


NOON = "2026-11-29T12:00:00Z"
AT_NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


def failed(at: object, score: Score = 604800) -> Entry:
    return Entry(json.dumps({"error": {"failed_at": at}}).encode(), score)


@pytest.mark.parametrize(
    ("score", "died_at"),
    [
        (1_795_953_600_000, AT_NOON),
        (1_795_953_600_000.5, AT_NOON.replace(microsecond=500)),
        (TIMES_FROM, datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC)),
        (10**14 - 1000, datetime(5138, 11, 16, 9, 46, 39, tzinfo=UTC)),
    ],
)
def test_a_score_that_is_a_time(score: Score, died_at: datetime) -> None:
    for entry in (Entry(b"{}", score), Entry(b"no json", score), failed("2001-01-01T00:00:00Z", score)):
        assert (entry.died_at, entry.died_at_source) == (died_at, "score")


@pytest.mark.parametrize(
    "score",
    [
        604800,
        0,
        -1,
        0.5,
        1000,
        1_795_953_600,
        TIMES_FROM - 1,
        10**14,
        1e300,
        float("inf"),
        float("-inf"),
        -1_795_953_600_000,
    ],
)
def test_a_score_that_is_no_time(score: Score) -> None:
    """Seconds, lifetimes and nonsense: then the error tells, or nothing does."""
    assert (failed(NOON, score).died_at, failed(NOON, score).died_at_source) == (AT_NOON, "error.failed_at")
    for entry in (Entry(b"{}", score), Entry(b"no json", score), failed(None, score)):
        assert (entry.died_at, entry.died_at_source) == (None, None)


@pytest.mark.parametrize(
    ("failed_at", "died_at"),
    [
        (NOON, AT_NOON),
        ("2026-11-29T12:00:00+00:00", AT_NOON),
        ("2026-11-29T13:30:00+01:30", AT_NOON),
        ("2026-11-29T07:00:00-05:00", AT_NOON),
        ("2026-11-29T12:00:00", AT_NOON),  # JoobQ writes UTC
        ("2026-11-29T12:00:00.250Z", AT_NOON.replace(microsecond=250_000)),
        ("9999-12-31T23:59:59Z", datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
    ],
)
def test_failed_at(failed_at: str, died_at: datetime) -> None:
    entry = failed(failed_at)
    assert entry.died_at == died_at
    assert entry.died_at.tzinfo is UTC
    assert entry.error
    assert entry.error.failed_at == died_at


@pytest.mark.parametrize(
    "failed_at",
    [
        *(
            "",
            "yesterday",
            "12:00",
            "2026-13-01T00:00:00Z",
            "2026-11-29T25:00:00Z",
            "2026-11-29T12:00:00+99:00",
            "\ud800",
        ),
        *("9999-12-31T23:59:59-01:00", "0001-01-01T00:00:00+01:00", "10000-01-01T00:00:00Z", "-001-01-01T00:00:00Z"),
        *("2026-11-29T12:00:00ZZ", 1_795_953_600, 1.5, True, None, [NOON], {"at": NOON}),
    ],
)
def test_failed_at_that_is_no_time(failed_at: object) -> None:
    entry = failed(failed_at)
    assert (entry.died_at, entry.died_at_source) == (None, None)
    assert entry.error
    assert entry.error.failed_at is None


def kind(members: str, score: Score = 1_795_953_600_000) -> Kind:
    return Entry(f"{{{members}}}".encode(), score).kind


@pytest.mark.parametrize(
    "status", ["enqueued", "Enqueued", "retrying", "running", "scheduled", "expired", "completed", ""]
)
def test_expired_is_what_died_of_its_expiry(status: str) -> None:
    named = f'"status":"{status}",'
    assert kind(named + '"expires":1795953599999') is Kind.EXPIRED
    assert kind(named + '"expires":1795953600000') is Kind.JOB
    assert kind(named + '"expires":-5') is Kind.EXPIRED
    assert kind(named + f'"expires":1,"error":{{"failed_at":"{NOON}"}}', score=604800) is Kind.EXPIRED
    assert kind(named + f'"expires":1795953600000,"error":{{"failed_at":"{NOON}"}}', score=604800) is Kind.JOB
    assert kind(named + '"expires":1', score=604800) is Kind.JOB  # when it died is not known
    for no_integer in ("1.5", '"1"', "null", "true", "1e3"):
        assert kind(named + f'"expires":{no_integer}') is Kind.JOB


def test_expired_without_a_status() -> None:
    """The reaper asks for no more than `expires`."""
    assert kind('"expires":5') is Kind.EXPIRED
    assert kind('"expires":5,"status":7') is Kind.EXPIRED


@pytest.mark.parametrize("status", ["dead", "Dead", "DEAD"])
def test_what_is_dead_did_not_expire(status: str) -> None:
    assert kind(f'"status":"{status}","expires":1') is Kind.JOB


def test_a_placeholder_holds_the_original_text_and_no_retries() -> None:
    assert kind('"original_job_data":"x"') is Kind.PLACEHOLDER
    assert kind('"original_job_data":null,"status":"Dead","expires":5') is Kind.PLACEHOLDER
    assert kind('"original_job_data":"x","retries":0') is Kind.JOB
    assert kind('"original_job_data":"x","retries":null') is Kind.JOB
    assert kind('"x":{"original_job_data":"x"}') is Kind.JOB
    assert Entry(b'{"original_job_data":"\xff","n":01}\0', 0).kind is Kind.PLACEHOLDER


@pytest.mark.parametrize(
    "raw", [b"", b"text", b"[]", b'[{"original_job_data":1}]', b'"x"', b"5", b"null", b"{", b"\xff"]
)
def test_malformed_is_no_object(raw: bytes) -> None:
    for score in (604800, 1_795_953_600_000):
        assert Entry(raw, score).kind is Kind.MALFORMED


@pytest.mark.parametrize(
    "raw", [b"{}", b'{"n":01}', b'{"x":"\xff"}', b'{"x":"\\ud800"}', b'{"x":"a\tb"}', b"{}\0", b'{"n":NaN}']
)
def test_what_some_reader_takes_as_an_object_is_a_job(raw: bytes) -> None:
    assert Entry(raw, 604800).kind is Kind.JOB
