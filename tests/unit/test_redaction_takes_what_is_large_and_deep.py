"""Hostile sizes: twice the bytes are twice the steps, and no depth is too deep. `make lab` measures the time."""

import re

import pytest

from joobq_admin.pages.tokens import json_pretty, plain
from joobq_admin.triage.redact import LEVELS
from tests.support.hostile_bytes import HOSTILE, REDACTION, all_of_it
from tests.support.steps import steps


@pytest.mark.parametrize("shape", HOSTILE)
def test_steps_grow_with_the_bytes_and_not_faster(shape: str) -> None:
    few, many = HOSTILE[shape](300), HOSTILE[shape](8 * 300)
    assert steps(lambda: all_of_it(many)) < 10 * steps(lambda: all_of_it(few))


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


def test_three_megabytes() -> None:
    member = b',"note %d":"a value of usual length, as jobs have them","list":[1,2.5,null,true]'
    raw = b'{"jid":"x","token":"abc"' + b"".join(member % number for number in range(40_000)) + b',"pin":12}'
    assert len(raw) > 3_000_000
    shown = REDACTION.redacted(raw)
    assert [raw[hidden.start : hidden.end] for hidden in shown.hidden] == [b"abc", b"12"]


def test_wrappings_are_followed_as_far_as_said() -> None:
    text = '"token":"hunter2"'
    for _ in range(LEVELS - 1):
        text = '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
        assert b"hunter2" not in REDACTION.redacted(text.encode()).raw
