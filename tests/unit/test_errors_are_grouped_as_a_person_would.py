"""Two deaths are of one error when the class is the same, and the message but for what varies from job to job."""

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from joobq_admin.joobq.entry import Entry, Kind
from joobq_admin.triage.fingerprint import FINGERPRINT, fingerprint, id_of, key_of, version_of
from joobq_admin.triage.redact import Redaction
from tests.support.hostile_bytes import HOSTILE_WORDS
from tests.support.letters import DATA, DIED, ERROR, letter, real_letters
from tests.support.mutations import fuzzed
from tests.support.steps import steps

REDACTION = Redaction()
CELLS = [line.split("\t") for line in (DATA / "groups.tsv").read_text(encoding="utf-8").split("\n")[:-1]]
PAIRS = [[json.loads('"' + cell.replace('"', '\\"') + '"') for cell in cells] for cells in CELLS]

#: What is printed of a message: what was set aside stands in braces.
PRINTED = {
    "SMTP 550 mailbox unavailable for user4@example.com": "SMTP 550 mailbox unavailable for {address}",
    "amount -0.0 does not match invoice #-92": "amount {n} does not match invoice #{n}",
    "Error connecting to '127.0.0.1:1': Connection refused": "Error connecting to {host}: Connection refused",
    "Error connecting to 'gateway': Connection refused": "Error connecting to {text}: Connection refused",
    "redis-2.prod.internal:6379 and [fe80::1%eth0] are gone": "{host} and [{host}] are gone",
    "unexpected token '<EOF>' at line 1, column 6": "unexpected token {text} at line {n}, column {n}",
    "GET https://a.example/x?y=1, then 404 Not Found": "GET {url}, then 404 Not Found",
    "no signature for event order.paid": "no signature for event {name}",
    "/srv/a.txt:12:5 and src/jobs.cr:36:9 of report.pdf by I/O": "{path} and {path} of {name} by I/O",
    "since 2026-11-29T12:29:50.1Z, 29 Nov 2026 12:29 or 12:29:50": "since {time} or {time}",
    "jid 15C1E662-65eb-4204-9c75-8a9d12271d10, 0x7f3a, deadbee7": "jid {id}",
    "rows [1, 2, 3] of user=bob took 30s": "rows [{n}] of user={text} took {n}",
    "token=abc of 'x' password: hunter2": "token={hidden} of {text} password: {hidden}",
    "Division by 0": "Division by 0",
    "Int32 and utf8 and node12": "Int32 and utf8 and node{n}",
    "out of \udcff\udcfe luck": "out of {bytes} luck",
    "two\nlines\tand a \u2028\x07 bell": "two lines and a bell",
    "": "",
}


def entry(message: object, cls: object = "Exception", **fields: Any) -> Entry:
    return Entry(letter(error=ERROR | {"message": message, "error_class": cls}, **fields), DIED)


def printed(of: Entry) -> str:
    return "".join(f"{{{text}}}" if varies else text for varies, text in fingerprint(of, REDACTION).parts)


def error(message: str, cls: str = "Exception") -> str:
    return fingerprint(entry(message, cls), REDACTION).id


@pytest.mark.parametrize(("verdict", "cls", "message", "other_cls", "other"), PAIRS)
def test_written_pairs(verdict: str, cls: str, message: str, other_cls: str, other: str) -> None:
    assert (error(message, cls) == error(other, other_cls)) == (verdict == "same")


def test_there_are_enough_pairs_of_both_kinds() -> None:
    assert {verdict for verdict, *_ in PAIRS} == {"same", "other"}
    assert min([verdict for verdict, *_ in PAIRS].count(verdict) for verdict in ("same", "other")) >= 50


@pytest.mark.parametrize("message", PRINTED)
def test_what_varies_is_named(message: str) -> None:
    assert printed(entry(message)) == PRINTED[message]


def test_the_real_entries() -> None:
    found = dict[tuple[Kind | None, str, str], int]()
    for real in real_letters():
        one = fingerprint(real.entry, REDACTION)
        name = one.kind, one.cls, printed(real.entry)[:60]
        found[name] = found.get(name, 0) + 1
    assert found == {
        (None, "Exception", "SMTP 550 mailbox unavailable for {address}"): 25,
        (None, "Exception", "SMTP 550 mailbox unavailable for {bytes}"): 1,
        (None, "ArgumentError", "amount {n} does not match invoice #{n}"): 12,
        (None, "KeyError", "Missing hash key: {text} <b>{text}</b> {n} line of the messa"): 4,
        (None, "DivisionByZeroError", "Division by 0"): 1,
        (None, "Exception", "boom plain"): 1,
        (None, "JSON::ParseException", "unexpected token {text} at line {n}, column {n}"): 1,
        (None, "Exception", "Unknown error"): 1,
        (None, "Socket::ConnectError", "Error connecting to {host}: Connection refused"): 1,
        (None, "NotImplementedError", "Not Implemented: pdf"): 2,
        (None, "ArgumentError", "x" * 60): 1,
        (None, "IO::TimeoutError", "Read timed out"): 1,
        (None, "ArgumentError", "strict job failed"): 3,
        (None, "Exception", "any job failed"): 3,
        (Kind.EXPIRED, "", ""): 11,
        (Kind.PLACEHOLDER, "", ""): 8,
    }


def test_what_did_not_fail_is_told_apart_by_its_kind() -> None:
    kinds = {
        Kind.MALFORMED: [b"", b"not json", b"[1]"],
        Kind.PLACEHOLDER: [b'{"original_job_data":"a"}', b'{"original_job_data":1,"error":{"message":"x"}}'],
        Kind.EXPIRED: [letter(status="enqueued", error=None), letter(status="Enqueued")],
        Kind.JOB: [letter(error=None), letter(error="x"), b"{}"],
    }
    for kind, entries in kinds.items():
        assert {fingerprint(Entry(raw, DIED), REDACTION).kind for raw in entries} == {kind}
        assert len({fingerprint(Entry(raw, DIED), REDACTION).id for raw in entries}) == 1


def test_a_class_that_is_missing_is_the_type_of_the_error() -> None:
    assert (
        fingerprint(Entry(letter(error=ERROR | {"error_type": "timeout_error"}), DIED), REDACTION).cls
        == "timeout_error"
    )
    assert fingerprint(entry("x", cls=7), REDACTION).cls == "Error"
    assert fingerprint(entry(None), REDACTION).parts == ()


def test_an_id_says_by_which_rule_it_was_made() -> None:
    assert version_of(error("x")) == FINGERPRINT == 1
    assert version_of("12-0123456789abcdef") == 12
    for text in ("", "1", "0123456789abcdef", "1-0123456789ABCDEF", "-1-0123456789abcdef", "1-0123456789abcdef\n"):
        with pytest.raises(ValueError, match="fingerprint"):
            version_of(text)


# -- whatever is set aside

WORDS = st.sampled_from(
    ["lock", "of", "user", "could not be", "Connection refused", "for", "é", "(", ")", "and", "Int32"]
)
VARY = {
    "number": st.integers().map(str) | st.floats(allow_nan=False, allow_infinity=False, width=32).map(repr),
    "uuid": st.uuids().map(str),
    "hex": st.binary(min_size=8, max_size=32).map(bytes.hex).filter(lambda text: not text.isalpha()),
    "address": st.from_regex(r"[a-zA-Z0-9][a-zA-Z0-9.+_-]{0,20}@[a-z]{2,9}\.example", fullmatch=True),
    "host": st.ip_addresses(v=4).map(str) | st.sampled_from(["db-1.internal:5432", "api.example.com", "localhost.lan"]),
    "url": st.sampled_from(["https://a.example/b?c=d#e", "redis://10.0.0.1:6379/0", "http://x.example"]),
    "path": st.sampled_from(["/srv/a.txt", "./b", "/a/b/c:12:5", "src/jobs/a.cr:36:9"]),
    "time": st.datetimes().map(lambda moment: moment.isoformat() + "Z"),
    "quoted": st.text(st.characters(exclude_characters='"\\', exclude_categories=["Cs"]), max_size=80).map(
        '"{}"'.format
    ),
}
MESSAGES = st.lists(st.tuples(WORDS, st.sampled_from(list(VARY))), min_size=1, max_size=5)


@given(MESSAGES, st.data())
@settings(max_examples=150)
def test_other_values_are_the_same_error(message: list[tuple[str, str]], data: st.DataObject) -> None:
    one, other = (" ".join(f"{word} {data.draw(VARY[kind])}" for word, kind in message) + " failed" for _ in range(2))
    assert error(one) == error(other)


@given(st.integers(0, 1 << 32), st.text(max_size=200))
@settings(max_examples=200)
def test_it_never_raises_and_holds_no_controls(seed: int, message: str) -> None:
    for one in (Entry(fuzzed(Random(seed)), DIED), entry(message)):
        found = fingerprint(one, REDACTION)
        assert found.id == id_of(key_of(one, REDACTION))
        text = "".join(part.text for part in found.parts)
        assert not set(text) & set(map(chr, range(32)))
        assert len(text) <= 2_000


@given(
    st.text(max_size=30),
    st.text(max_size=30),
    st.sampled_from(["password={}", '"token": "{}"', "pin: {} ", "redis://:{}@h"]),
)
@settings(max_examples=100)
def test_secrets_are_set_aside_first(before: str, after: str, secret: str) -> None:
    message = f"{before} {secret.format('Zq7Secr3tVa1ue')} {after}"
    if b"Zq7Secr3tVa1ue" not in REDACTION.redacted_text(message).raw:
        assert "Zq7Secr3tVa1ue" not in repr((fingerprint(entry(message), REDACTION), key_of(entry(message), REDACTION)))


@pytest.mark.parametrize("blank", ["\x01", "\x1c", "\x7f", "\x85", "\xa0", "\u2028", "\u3000"])
def test_a_secret_ends_where_pages_end_it(blank: str) -> None:
    assert printed(entry(f"login with password=ab{blank}hunter failed")) == "login with password={hidden} failed"
    assert error(f"password=ab{blank}hunter failed") == error(f"password=ab{blank}fisher failed")


def test_a_class_holds_no_secret_and_no_controls() -> None:
    of = entry("refused", "Refused token=hunter by\x07 peer")
    assert fingerprint(of, REDACTION).cls == key_of(of, REDACTION).cls == "Refused token=****** by  peer"
    assert error("refused", "Refused token=hunter") == error("refused", "Refused token=fisher")
    assert error("", "A\0") != error("7", "A")


@pytest.mark.parametrize("words", HOSTILE_WORDS.values(), ids=HOSTILE_WORDS)
def test_a_megabyte_is_no_more_to_do_than_its_beginning(words: str) -> None:
    """How long the patterns take over that is measured by `make lab`."""
    beginning, whole = (entry(words * (length // len(words))) for length in (5_000, 1_000_000))
    assert beginning.error
    assert whole.error
    few = steps(lambda: fingerprint(beginning, REDACTION))
    assert steps(lambda: fingerprint(whole, REDACTION)) <= few


def test_only_the_beginning_of_a_message_counts() -> None:
    assert error("x" * 1_200 + "a") == error("x" * 1_200 + "b")
    assert error("body was '" + "a" * 5_000 + "'") == error("body was 'short'")
