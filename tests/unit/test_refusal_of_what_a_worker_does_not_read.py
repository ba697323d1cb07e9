"""What a worker's JSON reader does not take is refused: it would be cut, or lost (seen on JoobQ 0.4.2)."""

import pytest

from joobq_admin.joobq.outcome import Refusal
from tests.support.refusals import refusal


def nested(deep: int) -> bytes:
    return b'{"queue":"q","x":' + b"[" * (deep - 1) + b"]" * (deep - 1) + b"}"


@pytest.mark.parametrize(
    "raw",
    [
        *(b"", b" ", b"null", b"5", b'"text"', b"[]", b'[{"queue":"q"}]', b"not json at all", b"\0", b"\xff"),
        *(b'{"queue":"q"', b'{"queue":"q",}', b"{'queue':'q'}", b'{"queue":"q"}x', b'{"queue":"q"}{"queue":"q"}'),
        *(
            b'{"queue":"q"} // no',
            b'{"n":1_000}',
            b'{"n":.5}',
            b'{"n":1e}',
            b'{"x":"\\x41"}',
            b'{"x":"\\u00"}',
            b"{5:1}",
        ),
        pytest.param(b'\xef\xbb\xbf{"queue":"q"}', id="byte order mark"),
        pytest.param('{"queue":"q"}'.encode("utf-16"), id="UTF-16"),
        pytest.param('{"queue":"q"}'.encode("utf-16-le"), id="UTF-16 without a mark"),
        pytest.param('{"queue":"q"}'.encode("utf-32"), id="UTF-32"),
        pytest.param(b'\0{"queue":"q"}', id="NUL before it"),
        pytest.param(b'{"queue":"q"\xff}', id="no UTF-8, outside strings"),
        pytest.param(b'["nan",\tnan]', id="a list that only Redis reads"),
        *(pytest.param(nested(deep), id=f"{deep} deep") for deep in (1001, 1024, 1025, 100_000)),
    ],
)
def test_not_an_object(raw: bytes) -> None:
    answer = refusal(raw)
    assert answer
    assert answer[0] is Refusal.NOT_AN_OBJECT


@pytest.mark.parametrize(
    "raw",
    [
        *(b'{"queue":"q","n":%s}' % number for number in b"01 -01 NaN nan -Infinity inf +1 1. -.5 0x10 1e400".split()),
        pytest.param(b'{"queue":"q","n":' + b"1" * 5000 + b"}", id="a number of 5,000 digits"),
        pytest.param(b'{"queue":"q","x":"a\tb"}', id="raw tab"),
        pytest.param(b'{"queue":"q","x":"a\nb"}', id="raw newline"),
        pytest.param(b'{"queue":"q","x":"\x01\xff"}', id="raw control character, no UTF-8"),
        pytest.param(b'{"queue":"q","\x1f":1}', id="raw control character in a key"),
        pytest.param(b'{"queue":"q","x":"a\0b"}', id="raw NUL in a string: Python reads it"),
        pytest.param(b'{"queue":"q","x":"\\ud800"}', id="lone high surrogate"),
        pytest.param(b'{"queue":"q","x":"\\udc00"}', id="lone low surrogate"),
        pytest.param(b'{"queue":"q","x":"\\udc00\\ud800"}', id="reversed surrogates"),
        pytest.param(b'{"queue":"q","\\ud83d":1}', id="lone surrogate in a key"),
        pytest.param(b'{"queue":"q","x":"\\ud800","n":' + b"1" * 5000 + b"}", id="lone surrogate, 5,000 digits"),
        pytest.param(b'{"queue":"q"}\0', id="NUL behind it"),
        pytest.param(b'{"queue":"q"}\0 and more', id="NUL and more behind it"),
        pytest.param(b"{}\0", id="an empty object and NUL"),
        *(pytest.param(nested(deep), id=f"{deep} deep") for deep in (513, 999, 1000)),
    ],
)
def test_not_strict_json(raw: bytes) -> None:
    answer = refusal(raw)
    assert answer
    assert answer[0] is Refusal.NOT_STRICT_JSON


@pytest.mark.parametrize(
    ("raw", "detail"),
    [
        (b'{"queue":"q","n":01}', "number with leading zero is not allowed at byte 17"),
        ('{"queue":"ü€😀","n":01}'.encode(), "number with leading zero is not allowed at byte 25"),
        (b'{"queue":"\xff\xe2\x82\xf0\x9f","n":01}', "number with leading zero is not allowed at byte 21"),
        (nested(513), "it is nested 513 deep, a worker reads 512"),
    ],
)
def test_not_strict_json_says_what_and_where(raw: bytes, detail: str) -> None:
    assert refusal(raw) == (Refusal.NOT_STRICT_JSON, detail)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"queue":"\xff\xfe\x80"}',
        b'{"queue":"q","\xe2\x82":"\xed\xa0\x80\xc0\xaf"}',
        b'{"queue":"q","x":"\\ud83d\\ude00\\u007f\x7f\\/"}',
        b'{"queue":"q","x":1e308,"y":-0.0e-0,"z":1E+5}',
        b'{"queue":"q","x":99999999999999999999}',
        b' \r\n\t{ "queue" : "q" } ',
        b'{"queue":"q","x":"' + b"[" * 2000 + b'"}',
        b'{"queue":"q","x":[' + b"[]," * 2000 + b"[]]}",
        nested(512),
        nested(511),
    ],
)
def test_what_a_worker_reads_is_sent(raw: bytes) -> None:
    assert refusal(raw) is None
