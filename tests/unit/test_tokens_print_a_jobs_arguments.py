"""The job's own fields: in their order, by their own bytes, each on one line."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from joobq_admin.joobq.entry import Entry
from joobq_admin.pages.tokens import Tokens, arguments, inline
from joobq_admin.triage.redact import Redacted, Redaction
from tests.support.real_entries import REAL

REDACTION = Redaction()


def of(raw: str | bytes, longest: int = 10**12) -> dict[str, Tokens]:
    return dict(arguments(Entry(raw if isinstance(raw, bytes) else raw.encode(), 1), REDACTION, longest))


@pytest.mark.parametrize("raw", [entry.raw for entry in REAL])
def test_the_names_of_a_real_entry(raw: bytes) -> None:
    entry = Entry(raw, 1)
    assert [name for name, _ in arguments(entry, REDACTION)] == list(entry.arguments)
    for _, tokens in arguments(entry, REDACTION, 60):
        assert sum(len(word) for _, word in tokens if word != "…") <= 60


def test_a_string_is_what_it_stands_for_and_the_rest_is_as_written() -> None:
    raw = (
        '{"jid":"x","error":null,"to":"a\\"b\\u00e9\\n\\ud83c\\udf89/\\/","n":1.0e+21,"big":9223372036854775808,"zero":-0.0,'
        '"yes":true,"nil":null,"list":["a\\"",1.0e-7,{"b":[]}],"empty":"","none":{},"lone":"\\ud800","digits":"12"}'
    )
    assert of(raw) == {
        "to": [("", 'a"bé\n🎉//')],
        "n": [("n", "1.0e+21")],
        "big": [("n", "9223372036854775808")],
        "zero": [("n", "-0.0")],
        "yes": [("c", "true")],
        "nil": [("c", "null")],
        "list": [("", '["a\\"",1.0e-7,{"b":[]}]')],
        "empty": [("", '""')],
        "none": [("", "{}")],
        "lone": [("", "\\ud800")],
        "digits": [("", "12")],
    }


def test_wherever_they_stand_among_joobqs_own_fields() -> None:
    assert list(of('{"a":1,"jid":"x","b":{"queue":1},"queue":"q","c":[],"error":{"d":1}}')) == ["a", "b", "c"]
    assert list(of(' { "a" : 1 , "jid" : "x" , "b" : 2 } ')) == ["a", "b"]
    assert of('{"jid":"x"}') == of("{}") == of("[1]") == of("not json") == of(b"") == {}


def test_numbers_are_nobodys_but_the_entrys() -> None:
    digits = "1" * 5000
    assert of(f'{{"a":{digits},"b":1e309,"c":1.10}}')["a"] == [("n", digits)]
    assert of(f'{{"a":{digits},"b":1e309,"c":1.10}}', 5)["a"] == [("n", "11111"), ("", "…")]
    assert of('{"b":1e309,"c":1.10}') == {"b": [("n", "1e309")], "c": [("n", "1.10")]}


def test_hidden_by_name_and_inside() -> None:
    assert of('{"jid":"x","password":"hunter2","token":null,"pin":12,"to":"x","body":{"a":1,"iban":"DE89"}}') == {
        "password": [("hid", "hidden, 7 characters")],
        "token": [("c", "null")],
        "pin": [("hid", "hidden, a number")],
        "to": [("", "x")],
        "body": [("", '{"a":1,"iban":"'), ("hid", "hidden, 4 characters"), ("", '"}')],
    }
    body = json.dumps({"body": json.dumps({"api_key": "k", "b": 1})})
    assert of(body)["body"] == [("", '{"api_key": "'), ("hid", "hidden, 1 character"), ("", '", "b": 1}')]


def test_a_row_gets_no_more_than_it_asks_for_of_a_long_value() -> None:
    found = of(
        '{"a":"' + "\\ud83c\\udf89" * 99999 + '","card":{"n":"' + "4" * 99999 + '"},"b":[' + "1," * 99999 + "1]}", 9
    )
    assert found == {
        "a": [("", "🎉" * 9), ("", "…")],
        "card": [("", "…")],
        "b": [("", "[1,1,1,1,"), ("", "…")],
    }
    assert of('{"card":{"n":"' + "4" * 99999 + '"}}', 60)["card"] == [("hid", "hidden, an object")]
    assert of('{"b":{"card":["' + "4" * 99999 + '"]}}', 60)["b"][-2:] == [("hid", "hidden, a list"), ("", "…")]


def test_what_cannot_be_seen_in_a_name_or_a_value() -> None:
    found = of('{"a\u202e":"\u202e\\u0000","<b>":"</script>"}'.encode() + b"")
    assert found == {"aU+202E": [("ctl", "U+202E"), ("ctl", "U+0000")], "<b>": [("", "</script>")]}
    assert of(b'{"\xff":"x\xfe"}') == {"\\xff": [("", "x"), ("byte", "\\xfe")]}


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=4), st.text(max_size=9) | st.integers() | st.floats(allow_nan=False), max_size=4
    )
)
def test_the_quick_way_and_the_other_agree(job: dict[str, str | int | float]) -> None:
    compact = json.dumps({"jid": "x", **job}, ensure_ascii=False, separators=(",", ":")).encode()
    spaced = json.dumps({"jid": "x", **job}, ensure_ascii=False, separators=(", ", " : ")).encode()
    assert list(arguments(Entry(compact, 1), REDACTION)) == list(arguments(Entry(spaced, 1), REDACTION))


def test_a_value_that_is_cut_short() -> None:
    assert inline(Redacted(b'"abc', ())) == [("", "abc")]
    assert inline(Redacted(b'"', ())) == inline(Redacted(b"", ())) == []
