"""An entry as JSON: indented, and not one byte of it changed."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from joobq_admin.pages.tokens import Tokens, json_pretty
from joobq_admin.triage.redact import Redacted, Redaction
from tests.support.real_entries import REAL

ENDLESS = 10**9


def shown(raw: bytes, longest: int = ENDLESS) -> tuple[Tokens, int]:
    return json_pretty(Redacted(raw, ()), longest)


def words(tokens: Tokens) -> str:
    return "".join(word for _, word in tokens)


def bytes_of(tokens: Tokens) -> bytes:
    """What was printed, marks turned back into what they mark."""

    def back(kind: str, word: str) -> bytes:
        if kind == "byte":
            return bytes([int(word[2:], 16)])
        return (chr(int(word[2:], 16)) if kind == "ctl" else word).encode("utf-8", "surrogatepass")

    return b"".join(back(kind, word) for kind, word in tokens)


def as_written(raw: bytes) -> Any:
    """Keys, their order and copies, and the text of each number."""
    return json.loads(raw.decode("utf-8", "surrogateescape"), object_pairs_hook=list, parse_int=str, parse_float=str)


@pytest.mark.parametrize("raw", [entry.raw for entry in REAL])
def test_a_real_entry(raw: bytes) -> None:
    tokens, left = json_pretty(Redaction().redacted(raw), ENDLESS)
    assert left == 0
    assert as_written(bytes_of(tokens)) == as_written(raw)
    assert bytes_of(tokens).replace(b"\n", b"").replace(b" ", b"") == raw.replace(b"\n", b"").replace(b" ", b"")
    words(tokens).encode()


def test_a_line_a_member_two_blanks_a_level() -> None:
    raw = b'{"z":1.0e+21,"a":[true,null,{"b\\u0020":"x\\/y"}],"e":{},"f":[ ],"z":-0.0}'
    tokens, _ = shown(raw)
    assert words(tokens) == (
        '{\n  "z": 1.0e+21,\n  "a": [\n    true,\n    null,\n    {\n      "b\\u0020": "x\\/y"\n    }\n  ],\n'
        '  "e": {},\n  "f": [],\n  "z": -0.0\n}'
    )
    assert [(kind, word) for kind, word in tokens if kind != "p"] == [
        *(("k", '"z"'), ("n", "1.0e+21"), ("k", '"a"'), ("c", "true"), ("c", "null"), ("k", '"b\\u0020"')),
        *(("s", '"x\\/y"'), ("k", '"e"'), ("k", '"f"'), ("k", '"z"'), ("n", "-0.0")),
    ]


def test_hidden_values_say_how_long_they_were() -> None:
    raw = b'{"password":"hunter2","card":{"n":[1,"]"]},"pin":12,"note":"{\\"token\\":\\"abc\\",\\"b\\":1}"}'
    tokens, left = json_pretty(Redaction().redacted(raw), ENDLESS)
    assert left == 0
    assert words(tokens) == (
        '{\n  "password": "hidden, 7 characters",\n  "card": hidden, an object,\n  "pin": hidden, a number,\n'
        '  "note": "{\\"token\\":\\"hidden, 3 characters\\",\\"b\\":1}"\n}'
    )
    assert [word for kind, word in tokens if kind == "hid"] == [
        *("hidden, 7 characters", "hidden, an object", "hidden, a number", "hidden, 3 characters")
    ]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(VALUES, st.sampled_from([None, 0, 3]), st.booleans())
def test_any_json_keeps_its_value(value: Any, indent: int | None, only_ascii: bool) -> None:
    raw = json.dumps([value], indent=indent, ensure_ascii=only_ascii).encode()
    tokens, left = shown(raw)
    assert (as_written(bytes_of(tokens)), left) == (as_written(raw), 0)


@given(st.binary(max_size=50), st.binary(max_size=50))
def test_no_bytes_are_too_malformed(before: bytes, after: bytes) -> None:
    raw = b'{"a":' + before + b'"b"' + after
    tokens, left = shown(raw)
    blanks = bytes.maketrans(b"", b"")
    assert bytes_of(tokens).translate(blanks, b" \t\r\n") == raw.translate(blanks, b" \t\r\n") or b"\r" in raw
    assert left == 0
    words(tokens).encode()


def test_brackets_that_were_never_opened() -> None:
    assert words(shown(b'[1]]]{"a":1}')[0]) == '[\n  1\n]\n]\n]{\n  "a": 1\n}'


def test_blanks_between_words_of_malformed_json_stay() -> None:
    assert words(shown(b'{"a" : not  json "x" "y" , 1 2}')[0]) == '{\n  "a": not json "x" "y",\n  1 2\n}'


@pytest.mark.parametrize("raw", [b"not json at all", b'"just a string"', b"12", b"", b" \n", b"\0\xff{", b"<script>"])
def test_what_is_no_object_and_no_list_is_text(raw: bytes) -> None:
    tokens, left = shown(raw)
    assert left == 0
    assert {kind for kind, _ in tokens} <= {"", "byte", "ctl"}
    assert bytes_of(tokens) == raw


@pytest.mark.parametrize(
    "raw",
    [
        *(b'{"a":"' + "xü☃🎉".encode() * 999 + b'"}', b"[" * 5000 + b"]" * 5000, b'{"a":' * 5000 + b"1" + b"}" * 5000),
        *(
            b'{"a":' + b"1" * 5000 + b',"b":1e309}',
            b'{"a":"' + b"x" * 1_000_000 + b'"}',
            b'{"\xff\x00\x01":"\xff"}' * 999,
        ),
        b'{"a":"' + b"\xed\xa0\x80\xffx" * 999,
        b'{"a":"\\ud800","b":"\xed\xa0\x80"}' * 999,
    ],
)
@pytest.mark.parametrize("longest", [0, 1, 7, 500, 4001])
def test_a_cut_says_how_many_bytes_are_left(raw: bytes, longest: int) -> None:
    tokens, left = shown(raw, longest)
    assert tokens.pop() == ("", "…")
    assert len(words(tokens)) <= longest
    whole = raw[: len(raw) - left]
    assert bytes_of(tokens).replace(b"\n", b"").replace(b" ", b"") == whole.replace(b" ", b"")
    assert 0 < left <= len(raw)


def test_nothing_is_cut_that_just_fits() -> None:
    raw = b'{"a":"b"}'
    tokens, _ = shown(raw)
    assert shown(raw, len(words(tokens))) == (tokens, 0)
    assert shown(raw, len(words(tokens)) - 1) == ([*tokens[:-1], ("", "…")], 1)


def test_depth_costs_no_blanks_without_end() -> None:
    deep = b"[" * 5000 + b"1" + b"]" * 5000
    tokens, left = shown(deep)
    assert left == 0
    assert len(words(tokens)) < 10_000 * 66
    assert as_written(b"[" * 300 + b"1" + b"]" * 300) == as_written(bytes_of(shown(b"[" * 300 + b"1" + b"]" * 300)[0]))
