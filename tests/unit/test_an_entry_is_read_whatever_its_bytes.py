"""Building and reading an entry never raises: a dead set may hold anything."""

import json
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from joobq_admin.joobq import cjson
from joobq_admin.joobq.entry import OWN_FIELDS, Entry, EntryRef, JobError, Kind, to_bytes
from tests.support.mutations import fuzzed
from tests.support.real_entries import REAL, RealEntry
from tests.support.trials import trials

PROPERTIES = (
    *("digest", "ref", "job", "queue", "jid", "job_key", "status", "retries", "max_retries", "expires", "arguments"),
    *("error", "died_at", "died_at_source", "kind"),
)
SCORES = [0, -1, 604800, 0.5, 10**12, 1_795_955_390_586, 10**14, 1e300, -1e300, float("inf"), float("-inf"), 2**1023]


def read(raw: bytes, score: float = 604800) -> Entry:
    """Every property, each of its type, and what must hold between them."""
    entry = Entry(raw, score)
    for name in PROPERTIES:
        getattr(entry, name)
    assert entry.digest == sha256(raw).hexdigest()
    assert entry.ref == EntryRef(score, entry.digest, entry.jid)
    assert to_bytes(entry.queue) == cjson.queue_of(raw)
    assert (entry.job is None) == (entry.kind is Kind.MALFORMED)
    for text in (entry.jid, entry.job_key, entry.status):
        assert isinstance(text, str | None)
    assert (entry.jid is None) == (entry.job_key is None)
    for number in (entry.retries, entry.max_retries, entry.expires):
        assert number is None or type(number) is int
    assert OWN_FIELDS.isdisjoint(entry.arguments)
    assert (entry.died_at is None) == (entry.died_at_source is None)
    assert entry.died_at is None or entry.died_at.utcoffset() == timedelta(0)
    if entry.error:
        check_error(entry.error)
    return entry


def check_error(error: JobError) -> None:
    assert isinstance(error.failed_at, datetime | None)
    for text in (error.message, error.type, error.cls):
        assert isinstance(text, str | None)
    assert isinstance(error.cause, str)
    assert all(isinstance(line, str) and "\n" not in line for line in error.backtrace)
    assert error.retry_count is None or type(error.retry_count) is int
    assert all(isinstance(name, str) and isinstance(value, str) for name, value in error.context.items())


def test_these_are_all_the_properties() -> None:
    assert {name for name in vars(Entry) if not name.startswith("_")} - {"raw", "score"} == set(PROPERTIES)


@given(st.binary(), st.floats(allow_nan=False) | st.integers(-(2**53), 2**53))
@settings(max_examples=trials(150, 10_000))
def test_any_bytes_and_any_score(raw: bytes, score: float) -> None:
    read(raw, score)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
ERROR_FIELDS = (
    *("failed_at", "message", "backtrace", "cause", "error_type", "error_class", "retry_count", "system_context"),
)


@given(
    st.dictionaries(st.sampled_from(sorted(OWN_FIELDS - {"error"})) | st.text(max_size=3), JSON),
    st.dictionaries(st.sampled_from(ERROR_FIELDS), JSON) | JSON,
    st.sampled_from(SCORES),
)
@settings(max_examples=trials(150, 10_000))
def test_fields_of_any_type(fields: dict[str, object], error: object, score: float) -> None:
    read(json.dumps({**fields, "error": error}).encode(), score)
    read(json.dumps({**fields, "error": error}, ensure_ascii=False).encode("utf-8", "surrogatepass"), score)


def test_thousands_of_fuzzed_texts() -> None:
    chance, read_as_jobs, texts = Random(21), 0, trials(3_000, 200_000)
    for _ in range(texts):
        read_as_jobs += read(fuzzed(chance), chance.choice(SCORES)).kind is not Kind.MALFORMED
    assert read_as_jobs > 0.4 * texts


@pytest.mark.parametrize(
    "raw",
    [
        *(b"", b"\0", b"{", b"{}\0", b"\xff", b"[]", b"null", b"NaN", b'"', b"{}}", b'{"a":}', b"\xef\xbb\xbf{}"),
        pytest.param(b'{"jid":"' + b"j" * 2_000_000 + b'"}', id="2 MB, one string"),
        pytest.param(b'{"jid":"' + b"\\n\xff" * 700_000 + b'"}', id="2 MB, one string, no UTF-8"),
        pytest.param(b"j" * 2_000_000, id="2 MB of nothing"),
        pytest.param(b'{"a":[' + b'{"b":"c"},' * 20_000 + b"1]}", id="20,000 objects"),
        *(
            pytest.param(b'{"error":' * deep + b"1" + b"}" * deep, id=f"{deep} deep")
            for deep in (100, 900, 990, 1000, 1001, 1024, 1025, 100_000)
        ),
        *(pytest.param(b'{"error":' + b"[" * deep + b'"\xff', id=f"{deep} open") for deep in (990, 100_000)),
        *(
            pytest.param(b'{"a":"\xff","error":{"x":' + b"[" * deep + b"]" * deep + b"}}", id=f"{deep} deep, no UTF-8")
            for deep in (900, 990, 997, 998, 1500, 100_000)
        ),
        *(
            pytest.param(b'{"expires":%s}' % (sign + b"9" * 5000), id=f"5,000 digits {sign!r}")
            for sign in (b"", b"-", b"+")
        ),
        pytest.param(b'{"a":"\\ud800","expires":' + b"9" * 5000 + b"}", id="5,000 digits, a lone surrogate"),
        pytest.param(b'{"a":"\xff","expires":' + b"9" * 310 + b"}", id="310 digits"),
        pytest.param(b'{"a":"\xff","expires":' + b"9" * 400 + b"}", id="400 digits"),
        pytest.param(b'{"expires":1e999,"retries":NaN,"max_retries":-Infinity}', id="no numbers"),
        pytest.param(b'{"jid":"\\ud800","queue":"\\udfff","status":"\\ud800"}', id="lone surrogates"),
        pytest.param(b'{"jid":"\xed\xa0\x80","queue":"\xed\xb2\x80"}', id="surrogate bytes"),
        pytest.param(b'{1:2,null:3,"queue":"q"}', id="keys that are no strings"),
        pytest.param(b'{"":1,"\\u0000":2,"\xff":3,"\\ud800":4}', id="odd keys"),
    ],
)
def test_the_strangest_bytes(raw: bytes) -> None:
    for score in SCORES:
        entry = Entry(raw, score)
        assert entry.died_at is None or entry.died_at_source
    read(raw)


@pytest.mark.parametrize("entry", REAL, ids=lambda entry: sha256(entry.raw).hexdigest()[:16])
def test_a_real_entry_cut_anywhere(entry: RealEntry) -> None:
    raw = entry.raw
    for at in range(0, len(raw), max(1, len(raw) // 20)):
        read(raw[:at])
        read(raw[at:])


def test_what_only_redis_reads_is_shown_too() -> None:
    """An object to Redis is an object on the page, whatever its values are."""
    entry = read(b'{"jid":"a","queue":"q\xff","retries":01,"x":nan(1),"to":"a\tb","n":[0x10],"to2":{"a":1}}\0 more')
    assert entry.job == {
        "jid": "a", "queue": "q\udcff", "retries": "01", "x": "nan(1)", "to": "a\tb", "n": "[0x10]", "to2": {"a": 1},
    }  # fmt: skip
    assert (entry.kind, entry.retries, entry.queue) == (Kind.JOB, None, "q\udcff")
    assert read(b"{}\0").job == {}


def test_numbers_are_exact_where_a_worker_reads_them_exactly() -> None:
    entry = read(b'{"retries":-2147483648,"max_retries":2147483647,"expires":9223372036854775807,"n":9007199254740993}')
    assert (entry.retries, entry.max_retries, entry.expires) == (-(2**31), 2**31 - 1, 2**63 - 1)
    assert entry.arguments == {"n": 9007199254740993}
    for other in (b"3.0", b'"3"', b"true", b"null", b"[3]", b"3e0"):
        entry = read(b'{"retries":%s,"max_retries":%s,"expires":%s}' % (other, other, other))
        assert (entry.retries, entry.max_retries, entry.expires) == (None, None, None)


@pytest.mark.parametrize("digits", [20, 309, 310, 399, 400, 4300, 4301, 10_000])
def test_a_number_of_any_length_hides_nothing_else(digits: int) -> None:
    """Python refuses to read more than 4,300 digits as an integer."""
    for other in (b'"\\ud800"', b'"\xff"', b"01", b"1"):
        entry = read(b'{"jid":"a","n":%s,"m":%s}' % (b"9" * digits, other))
        assert entry.jid == "a"
        assert "n" in entry.arguments


def test_of_a_doubled_key_the_last_one_counts() -> None:
    for raw in (
        b'{"jid":"a","jid":"b","queue":"x","qu\\u0065ue":"y","retries":1,"retries":2}',
        b'{"jid":"a","jid":"b","queue":"x","qu\\u0065ue":"y","retries":1,"retries":2,"n":01}',
        b'{"jid":"a","jid":"b","queue":"x","qu\\u0065ue":"y","retries":1,"retries":2,"n":"\xff"}',
    ):
        entry = read(raw)
        assert (entry.jid, entry.queue, entry.retries) == ("b", "y", 2)


def test_the_error_is_told_field_by_field() -> None:
    raw = (
        b'{"error":{"failed_at":"2026-11-29T12:29:50Z","message":null,"backtrace":"a (E)\\nfrom b\\n\\nc\\n",'
        b'"cause":"","error_type":"unknown_error","error_class":"E","retry_count":2,"system_context":{"hostname":"vm","n":5,"x":null}}}'
    )
    assert read(raw).error == JobError(
        failed_at=datetime(2026, 11, 29, 12, 29, 50, tzinfo=UTC),
        message=None,
        backtrace=("a (E)", "from b", "", "c"),
        cause="",
        type="unknown_error",
        cls="E",
        retry_count=2,
        context={"hostname": "vm"},
    )
    nothing = JobError(None, None, (), "", None, None, None, {})
    assert read(b'{"error":{}}').error == nothing
    assert (
        read(
            b'{"error":{"failed_at":5,"message":[],"backtrace":{},"cause":null,"error_type":1,"error_class":false}}'
        ).error
        == nothing
    )
    assert read(b'{"error":{"retry_count":true,"system_context":["a"]}}').error == nothing
    for no_error in (b"{}", b'{"error":null}', b'{"error":"text"}', b'{"error":[]}', b"text"):
        assert read(no_error).error is None


def test_arguments_are_the_jobs_own_fields_in_their_order() -> None:
    entry = read(
        b'{"z":1,"jid":"a","queue":"q","retries":0,"max_retries":0,"a":2,"expires":1,"status":"dead","error":null,"m":3}'
    )
    assert list(entry.arguments.items()) == [("z", 1), ("a", 2), ("m", 3)]
    assert read(b"[1]").arguments == {}
