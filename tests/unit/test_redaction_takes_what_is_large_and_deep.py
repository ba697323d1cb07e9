"""Hostile sizes: twice the bytes cost twice the work, and no depth is too deep."""

import re
import time
from collections.abc import Callable

import pytest

from joobq_admin.joobq.entry import Entry
from joobq_admin.pages.backtrace import frames
from joobq_admin.pages.tokens import arguments, hex_lines, json_pretty, plain
from joobq_admin.triage.redact import LEVELS, Redaction

REDACTION = Redaction()
LONGEST = 5_000

#: Shapes that a careless search takes quadratic time for: made of n repeats.
HOSTILE: dict[str, Callable[[int], bytes]] = {
    "open brackets": lambda n: b'{"token":' + b"[" * n,
    "closed brackets": lambda n: b'{"token":' + b"[" * n + b"]" * n + b"}",
    "a list without brackets": lambda n: b'{"token":[' + b"1," * n,
    "secrets in secrets": lambda n: b'{"token":' * n,
    "secrets side by side": lambda n: b'{"token":1' + b',"token":"x"' * n + b"}",
    "secrets in a string": lambda n: b'{"a":"' + b'{\\"token\\":\\"x\\"}' * n + b'"}',
    "secrets without quotes": lambda n: b"token=" * n,
    "quotes that do not match": lambda n: b'token:"a' * n,
    "apostrophes": lambda n: b"token:'" * n,
    "quotes": lambda n: b'{"token":1,' + b'"' * n,
    "backslashes": lambda n: b'{"token":"' + b"\\" * n,
    "escaped quotes": lambda n: b'{"token":1,"a":"' + b'\\"' * n,
    "escapes": lambda n: b'{"token":"' + b"\\n\\u0041" * n + b'"}',
    "escapes of escapes": lambda n: b'{"token":1,"a":"\\' + b"u005c" * n + b'u0022"}',
    "blanks after a name": lambda n: b'{"token"' + b" " * n + b"x",
    "blanks between names": lambda n: b"token   " * n + b"=",
    "a long name": lambda n: b'{"' + b"a_" * n + b'token":"x"}',
    "a long word": lambda n: b"a" * n + b"token=x",
    "addresses": lambda n: b"token=://" * n,
    "an address without end": lambda n: b"token=://a:" + b"b" * n,
    "controls": lambda n: b'{"token":"\x01\x02\x03","a":"' + b"\x01\x02\x03" * n,
    "members": lambda n: b'{"token":1' + b',"a":1' * n + b"}",
}


def all_of_it(raw: bytes) -> None:
    shown, entry = REDACTION.redacted(raw), Entry(raw, 1)
    for printed in (plain(shown, LONGEST), json_pretty(shown, LONGEST), hex_lines(shown, 10)):
        assert printed
    list(arguments(entry, REDACTION, 60))
    frames(["said", f"from {raw.decode('latin-1')}"], REDACTION)


@pytest.mark.parametrize("shape", HOSTILE)
def test_work_grows_with_the_bytes_and_not_faster(shape: str) -> None:
    def cost(repeats: int) -> float:
        raw = HOSTILE[shape](repeats)
        started = time.process_time()
        all_of_it(raw)
        return time.process_time() - started

    few = 1_500
    quick = min(cost(few) for _ in range(3))
    # 8 times the bytes: linear work costs 8 times as much, quadratic 64 times
    assert min(cost(few * 8) for _ in range(2)) < 30 * max(quick, 0.001)


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'{"token":', b'[{"b":[{"card":['])
def test_depth_5000(opening: bytes) -> None:
    all_of_it(b'{"jid":"x","a":' + opening * 5_000 + b"1")


def test_one_line_of_a_megabyte() -> None:
    raw = b'{"jid":"x","password":"' + b"s" * 1_000_000 + b'","a":"' + b"x" * 1_000_000 + b'","pin":1}'
    shown = REDACTION.redacted(raw)
    assert [hidden.what for hidden in shown.hidden] == ["1,000,000 characters", "a number"]
    tokens, left = json_pretty(shown, 1_000)
    assert sum(len(word) for _, word in tokens) <= 1_001
    assert 999_000 < left < 1_000_000


def test_an_integer_of_5000_digits_and_a_float_without_end() -> None:
    raw = b'{"a":' + b"7" * 5_000 + b',"b":1e309,"pin":' + b"8" * 5_000 + b"}"
    shown = REDACTION.redacted(raw)
    assert [hidden.what for hidden in shown.hidden] == ["a number"]
    text = plain(shown)
    assert "7" * 5_000 in text
    assert "8" not in re.sub("[^8]", "", text.replace("7", ""))


def test_ten_megabytes() -> None:
    member = b',"note %d":"a value of usual length, as jobs have them","list":[1,2.5,null,true]'
    raw = b'{"jid":"x","token":"abc"' + b"".join(member % number for number in range(125_000)) + b',"pin":12}'
    assert len(raw) > 10_000_000
    shown = REDACTION.redacted(raw)
    assert [raw[hidden.start : hidden.end] for hidden in shown.hidden] == [b"abc", b"12"]


def test_wrappings_are_followed_as_far_as_said() -> None:
    text = '"token":"hunter2"'
    for _ in range(LEVELS - 1):
        text = '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
        assert b"hunter2" not in REDACTION.redacted(text.encode()).raw
