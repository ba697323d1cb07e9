"""The exact bytes, 16 a line; what is hidden is * there, byte for byte."""

from joobq_admin.pages.tokens import hex_lines
from joobq_admin.triage.redact import Redacted, Redaction


def test_lines_of_sixteen() -> None:
    assert hex_lines(Redacted(b'{"a":"\x00\xff<b>ABC"}', ()), 10) == [
        ("000000", "7b 22 61 22 3a 22 00 ff  3c 62 3e 41 42 43 22 7d", '{"a":"..<b>ABC"}'),
    ]
    assert hex_lines(Redacted(b"x" * 17, ()), 10)[1] == ("000010", "78" + " " * 46, "x")
    assert hex_lines(Redacted(b"", ()), 10) == []


def test_no_more_lines_than_asked_for() -> None:
    assert len(hex_lines(Redacted(b"x" * 10_000_000, ()), 40)) == 40


def test_all_bytes_are_there() -> None:
    raw = bytes(range(256)) * 3
    assert b"".join(bytes.fromhex(line[1]) for line in hex_lines(Redacted(raw, ()), 1000)) == raw


def test_a_hidden_value_is_starred() -> None:
    lines = hex_lines(Redaction().redacted(b'{"password":"hunter2"}'), 10)
    assert "".join(line[2] for line in lines) == '{"password":"*******"}'
    assert lines[0][1].endswith(" 22 2a 2a 2a")
