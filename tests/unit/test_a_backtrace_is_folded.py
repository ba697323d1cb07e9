"""A backtrace: the app's own lines in sight, Crystal's and the libraries' folded, all of it to copy."""

import pytest

from joobq_admin.joobq.entry import Entry
from joobq_admin.pages.backtrace import frames
from joobq_admin.triage.redact import Redaction
from tests.support.real_entries import REAL

REDACTION = Redaction()
LINES = [
    "Error connecting: Connection refused (Socket::ConnectError)",
    "and a second line of it",
    "from /usr/share/crystal/src/socket/addrinfo.cr:83:7 in 'tcp'",
    "from src/jobs/capture.cr:23:5 in 'perform'",
    "from lib/joobq/src/joobq/worker.cr:119:13 in '->'",
    "from lib/joobq/src/joobq/middleware.cr:23:11 in 'call_next'",
    "from lib/db/src/db.cr:1:1 in 'query in 'x''",
    "from /usr/lib/crystal/lib/fiber.cr:146:11 in 'run'",
    "from ???",
    "Caused by: no route (IO::Error)",
    "from /app/src/gateway.cr:5:1",
    "from ???",
]


def test_lines_of_one_place_stand_together() -> None:
    told = frames(LINES, REDACTION)
    assert [(group.app, group.label, len(group.frames)) for group in told.groups] == [
        (False, "1 line in Crystal", 1),
        (True, "1 line in your code", 1),
        (False, "2 lines in joobq", 2),
        (False, "1 line in db", 1),
        (False, "2 lines in Crystal", 2),
        (True, "1 line in what was said", 1),
        (True, "1 line in your code", 1),
        (False, "1 line in unknown code", 1),
    ]
    assert told.groups[1].frames == [("src/jobs/capture.cr:23:5", "in 'perform'")]
    assert told.groups[3].frames == [("lib/db/src/db.cr:1:1", "in 'query in 'x''")]
    assert told.groups[4].frames[1] == ("???", "")
    assert told.groups[5].frames == [("Caused by: no route (IO::Error)", "")]
    assert told.groups[6].frames == [("/app/src/gateway.cr:5:1", "")]
    assert told.text == "\n".join(LINES)
    assert told.sum == "2 lines of your code in 9"


@pytest.mark.parametrize("raw", [entry.raw for entry in REAL])
def test_no_line_of_a_real_backtrace_is_lost(raw: bytes) -> None:
    error = Entry(raw, 1).error
    lines = error.backtrace if error else ()
    told = frames(lines, REDACTION)
    places = [f"from {at} {method}".strip() for group in told.groups for at, method in group.frames if group.label]
    said = [line for line in lines if line.startswith(("from ", "Caused by"))]
    assert [place.removeprefix("from ") for place in places] == [line.removeprefix("from ") for line in said]


def test_a_backtrace_without_places() -> None:
    assert frames(["JSON parsing failed"], REDACTION).groups == []
    assert frames(["JSON parsing failed"], REDACTION).sum == "no lines of code"
    assert frames([], REDACTION).text == ""
    assert frames(["from lib/a/b.cr:1:1"], REDACTION).sum == "no lines of your code in 1"


def test_secrets_and_what_cannot_be_seen() -> None:
    told = frames(
        ["token=abc\u202e", "from src/a\ud800.cr:1:1 in 'x\udcff'", "Caused by: password: hunter2"], REDACTION
    )
    assert told.text == "token=******\nfrom src/aU+D800.cr:1:1 in 'x\\xff'\nCaused by: password: *******"
    assert told.groups[0].frames == [("src/aU+D800.cr:1:1", "in 'x\\xff'")]
    assert told.groups[1].frames == [("Caused by: password: *******", "")]
    told.text.encode()


def test_a_file_that_is_named_like_a_secret() -> None:
    line = "from src/refresh_token.cr:36:9 in 'card='"
    assert frames([line, "from src/password.cr:1:1"], REDACTION).text == f"{line}\nfrom src/password.cr:1:1"


def test_a_backtrace_without_end_is_cut() -> None:
    told = frames(["from src/a.cr:1:1"] * 100_000, REDACTION, most=20)
    assert len(told.groups[0].frames) == 20
    assert told.text.count("\n") == 19
