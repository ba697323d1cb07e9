"""The log: whatever is in an event, it is one line of JSON in ASCII, and holds no request."""

import json
import logging
import sys
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from joobq_admin.log_lines import Formatter


def line(
    message: str, *args: object, level: int = logging.WARNING, failed: bool = False, **extra: object
) -> dict[str, Any]:
    record = logging.getLogger("ours").makeRecord(
        "ours", level, __file__, 1, message, args, sys.exc_info() if failed else None, extra=extra
    )
    text = Formatter().format(record)
    assert text.isascii()
    assert text.isprintable()
    told = json.loads(text)
    assert isinstance(told, dict)
    return told


def test_it_says_when_in_utc_where_how_bad_and_what() -> None:
    told = line("moved %d", 3, jid="a1", seconds=0.5, done=True)
    at = datetime.fromisoformat(told.pop("at"))
    assert at.utcoffset() == timedelta(0)
    assert told == {
        "level": "warning",
        "logger": "ours",
        "message": "moved 3",
        "jid": "a1",
        "seconds": 0.5,
        "done": True,
    }


@pytest.mark.parametrize(
    "text", ["a\r\n2026 INFO ada purged", "\x1b[2J", "\u2028", "\x00", "\ud800", "\u202e", '"},{"']
)
def test_nothing_breaks_out_of_its_line(text: str) -> None:
    told = line("jid %s", text, queue=text)
    assert told["message"] == f"jid {text}"
    assert told["queue"] == text


def test_what_is_no_plain_value_stays_out() -> None:
    assert "request" not in line("oh", request=SimpleNamespace(COOKIES="secret"), status_code=500)


@pytest.mark.parametrize(("level", "traced"), [(logging.WARNING, False), (logging.ERROR, True)])
def test_an_exception_is_told_and_an_error_with_its_way(level: int, traced: bool) -> None:
    try:
        raise ValueError("no\nway")
    except ValueError:
        told = line("oh", level=level, failed=True)
    assert told["error"] == "ValueError: no\nway"
    assert ("traceback" in told) == traced
