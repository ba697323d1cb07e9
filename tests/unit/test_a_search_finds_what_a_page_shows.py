"""Text is found where a page shows it, in any case, and nowhere else; what is hidden is not found."""

import json
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from joobq_admin.joobq.entry import Entry, Kind
from joobq_admin.joobq.filters import ANY_TIME, Span, may_hold_in_any_case
from joobq_admin.triage.fingerprint import fingerprint
from joobq_admin.triage.redact import Redaction
from joobq_admin.triage.search import Search, moment
from tests.support.letters import DIED, ERROR, NO_TIME, jid, letter
from tests.support.mutations import fuzzed

REDACTION = Redaction()
NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
FAILED = ERROR | {"error_class": "Socket::ConnectError", "message": "Error connecting to 'Straße.example:1': refused"}
ONE = letter(
    7, "invoices", error=FAILED | {"backtrace": "from src/jobs.cr:36:9", "cause": "a cause"},
    invoice_id=9007199254740993, amount=19.10, customer="Anna \"B\" O'Brien", tags=["net-30", "überfällig", "a/b"],
    password="hunter2", note="token=abcdef and more",
)  # fmt: skip

FOUND = ["9007199254740993", "199254", "19.1", "anna", 'ANNA "b" o\'brien', "ÜBERFÄLLIG", "net-30", "a/b", "strasse",
         "STRAßE", "socket::connecterror", "refused", jid(7), jid(7).upper(), "invoice_id 9007199254740993",
         "customer anna", "invoice", "password", "and more", " ", "note token="]  # fmt: skip
NOT_FOUND = ["hunter2", "abcdef", "hunter", "*", "**", "\0", "src/jobs", "a cause", "invoices", "dead", "2026-11-29",
             "net-30 überfällig", "(a+)+$", "[a-", ".*", "%", "invoice_id:", "\udcff", "\ufdd0"]  # fmt: skip


def found(raw: bytes, score: float = DIED, **wanted: Any) -> bool:
    where = Search(**wanted).where(REDACTION)
    assert where is not None
    return where(Entry(raw, score))


@pytest.mark.parametrize("text", FOUND)
def test_text_that_a_page_shows(text: str) -> None:
    assert found(ONE, text=text)


@pytest.mark.parametrize("text", NOT_FOUND)
def test_text_that_stands_elsewhere_or_is_hidden(text: str) -> None:
    assert not found(ONE, text=text)


def escaped(raw: bytes) -> bytes:
    return json.dumps(json.loads(raw)).encode()


@pytest.mark.parametrize("text", [text for text in FOUND if "19.1" not in text])
def test_however_it_is_written(text: str) -> None:
    every_letter = "".join(f"\\u{ord(sign):04x}" if sign.isalpha() else sign for sign in "Straße")
    assert found(escaped(ONE), text=text)
    assert found(ONE.replace(b"a/b", rb"a\/b"), text=text)
    assert found(ONE.replace("Straße".encode(), every_letter.encode()), text=text)


def test_what_is_no_text_or_no_object() -> None:
    assert found(letter(1, to="x\udcff\udcfe"), text="X\udcff")
    assert found(b"not json, but Text", text="json, but text")
    assert found(b'"cut short', text="short")
    assert not found(b"not json, but password=hunter2", text="hunter2")
    assert found(b'{"jid":"x","original_job_data":"{\\"to\\":\\"Bob\\"}"}', text='"to":"bob"')
    assert found(letter(1, a=1).replace(b'"a":1', b'"a":1,"a":2'), text="a 2")
    assert not found(letter(1, a=1).replace(b'"a":1', b'"a":1,"a":2'), text="a 1"), "of two the last counts"
    assert found(letter(1, error=ERROR | {"message": None, "cause": "Reset"}), text="reset"), "shown in its place"


def test_a_secret_in_a_name_or_a_class_is_not_found() -> None:
    raw = letter(1, error=ERROR | {"error_class": "Refused token=hunter"}, **{"for token=abcdef now": "them"})
    for text in ("hunter", "abc", "token=abcdef", "token=h", "*"):
        assert not found(raw, text=text)
    for text in ("for token=", " now", "refused token="):
        assert found(raw, text=text)
    assert not found(raw, error="Refused token=hunter")


VALUES = st.text(max_size=12) | st.integers() | st.booleans() | st.lists(st.text(max_size=4), max_size=3)
NAMES = st.text(st.characters(categories=["L"]), min_size=1, max_size=8)


@given(NAMES, VALUES, st.text(max_size=12), st.booleans(), st.data())
@settings(max_examples=150)
def test_any_part_of_what_is_shown_is_found(
    name: str, value: Any, message: str, ascii_only: bool, data: st.DataObject
) -> None:
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))
    if isinstance(value, list):
        shown = json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace('\\"', '"').replace("\\\\", "\\")
    text = data.draw(st.sampled_from([f"{name} {shown}" if "\\" not in shown else name, message]))
    start = data.draw(st.integers(0, max(0, len(text) - 1)))
    part = text[start : start + data.draw(st.integers(1, 20))]
    own = {"jid": jid(1), "queue": "q", "error": ERROR | {"message": message, "error_class": "A"}, name: value}
    raw = json.dumps(own, ensure_ascii=ascii_only, separators=(",", ":")).encode()
    if part and not REDACTION.spans(raw):
        assert found(raw, text=data.draw(st.sampled_from([part, part.casefold(), part.swapcase().casefold()])))


@given(st.integers(0, 1 << 32), st.text(max_size=5))
@settings(max_examples=150)
def test_whatever_the_bytes_nothing_raises(seed: int, text: str) -> None:
    dice = Random(seed)
    raw = fuzzed(dice)
    at = dice.randrange(len(raw) + 1)
    for wanted in (text or "x", raw[at : at + 5].decode("utf-8", "surrogateescape") or "x"):
        answer = found(raw, text=wanted)
        assert not answer or may_hold_in_any_case(max(wanted.split(" "), key=len))(raw)


def test_class_kind_queue_and_group() -> None:
    assert found(ONE, error="Socket::ConnectError")
    assert not found(ONE, error="socket::connecterror")
    assert not found(ONE, error="Socket")
    assert found(letter(1), error="Error"), "a page says so where none is told"
    assert not found(letter(1, error=None), error="Error")
    assert found(escaped(letter(1, error=ERROR | {"error_class": "É"})), error="É")
    assert found(ONE, kind=Kind.JOB)
    assert not found(ONE, kind=Kind.EXPIRED)
    assert found(ONE, queue="invoices")
    assert not found(ONE, queue="")
    group = fingerprint(Entry(ONE, DIED), REDACTION).id
    assert found(ONE, group=group)
    assert not found(letter(1), group=group)
    assert found(ONE, text="anna", queue="invoices", error="Socket::ConnectError", kind=Kind.JOB, group=group)
    assert not found(ONE, text="anna", queue="invoices", error="Socket::ConnectError", kind=Kind.EXPIRED, group=group)


def test_times_bound_the_scores() -> None:
    assert Search().span == ANY_TIME
    assert Search().where(REDACTION) is None
    since, until = datetime.fromtimestamp(DIED / 1000, UTC), datetime.fromtimestamp(DIED / 1000 + 60, UTC)
    assert Search(since=since, until=until).span == Span(DIED, DIED + 60_000)
    assert Search(since=since).span == Span(DIED, 10**14)
    assert Search(until=until).span == Span(10**12, DIED + 60_000)
    assert Search(since=datetime.min.replace(tzinfo=UTC), until=datetime.max.replace(tzinfo=UTC)).span == Span(
        10**12, 10**14
    )
    assert Search(since=since).where(REDACTION) is None


def test_times_are_as_exact_as_scores() -> None:
    for ms in range(DIED, DIED + 1_000):
        at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)
        assert Search(since=at, until=at + timedelta(microseconds=500)).span == Span(ms, ms + 0.5)


@pytest.mark.parametrize("wanted", [{"since": "5138-11-17"}, {"until": "2001-09-09"}, {"until": "0001-01-01"}])
def test_a_time_in_which_no_score_is_one_is_empty(wanted: dict[str, str]) -> None:
    span = Search(**{name: moment(text, NOW) for name, text in wanted.items()}).span
    assert span in (Span(10**12, 10**12), Span(10**14, 10**14))


def test_without_a_time_as_a_score_it_is_that_of_the_error() -> None:
    failed = datetime(2026, 11, 29, 12, 29, 50, tzinfo=UTC)
    assert Search(undated=True).span == Span(until=10**12)
    assert found(ONE, NO_TIME, undated=True, since=failed)
    assert not found(ONE, NO_TIME, undated=True, since=failed + timedelta(seconds=1))
    assert not found(ONE, NO_TIME, undated=True, until=failed)
    assert not found(letter(1, error=None), NO_TIME, undated=True, since=failed)


@pytest.mark.parametrize("wanted", [{"group": "x"}, {"group": "2-0123456789abcdef"}, {"since": NOW, "until": NOW}])
def test_what_can_find_nothing_is_told(wanted: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"fingerprint|by rule 2|ends before"):
        Search(**wanted)


def test_times_as_filters_name_them() -> None:
    assert moment("1h", NOW) == NOW - timedelta(hours=1)
    assert moment("30d", NOW) == NOW - timedelta(days=30)
    for text in ("2026-11-29T02:00", "2026-11-29T02:00:00Z", "2026-11-29T03:00+01:00"):
        assert moment(text, NOW) == datetime(2026, 11, 29, 2, 0, tzinfo=UTC)
    assert moment("2026-11-29", NOW) == datetime(2026, 11, 29, tzinfo=UTC)
    for text in ("", "2h", "yesterday", "2026-13-01", "0001-01-01T00:00+23:00", "x" * 1_000):
        with pytest.raises(ValueError, match="is no time"):
            moment(text, NOW)
