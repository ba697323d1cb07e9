"""Each request is a line of the log, with an id that all lines of it share; nothing of a query, a form or a cookie."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.log_lines import Formatter
from tests.support.elsewhere import redis_at
from tests.support.html import get, press, says
from tests.support.letters import DIED, digest, jid, letter
from tests.support.servers import Server

LETTER = letter(1, queue="invoices")
ENTRY = f"/dead-letters/{DIED}-{digest(LETTER)[:16]}/"
FORM = {"score": str(DIED), "digest": digest(LETTER), "jid": jid(1), "operation": "op-1"}


class Written(logging.Handler):
    """Keeps lines as they stand in the log, made while they are logged."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.texts: list[str] = []
        self.setFormatter(Formatter())

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(self.format(record))


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[Written]:
    caplog.set_level(logging.INFO)
    written = Written()
    logging.getLogger().addHandler(written)
    yield written
    logging.getLogger().removeHandler(written)


def lines(log: Written, logger: str = "") -> list[dict[str, Any]]:
    return [line for line in map(json.loads, log.texts) if line["logger"].endswith(logger)]


def test_it_says_what_was_asked_by_whom_and_how_it_went(client: Client, log: Written) -> None:
    answer = get(client, "/dead-letters/?queue=private")
    (line,) = lines(log)
    assert 0 <= line.pop("ms") < 10_000
    assert line.pop("at")
    assert line == {
        "level": "info",
        "logger": "joobq_admin.request_lines",
        "message": "answered",
        "request": answer["X-Request-ID"],
        "method": "GET",
        "path": "/dead-letters/",
        "status": 200,
        "user": "dev",
    }


def test_a_press_and_its_request_are_told_under_one_id(client: Client, valkey: Server, log: Written) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    press(client, ENTRY, FORM, HTTP_X_REQUEST_ID="7f3c-1")
    (done,), (answered,) = lines(log, "pages.log"), lines(log, "request_lines")
    assert (done["message"], done["outcome"], done["request"]) == ("redrive", "done", "7f3c-1")
    assert (answered["path"], answered["status"], answered["request"]) == (f"{ENTRY}redrive", 200, "7f3c-1")
    get(client, ENTRY)
    assert lines(log)[-1]["request"] not in ("7f3c-1", "")


@pytest.mark.parametrize("given", ["a", "f" * 128, "Root=1-67891233-abcdef", "a/b:c+d@e=.-_"])
def test_an_id_that_comes_along_is_kept(client: Client, log: Written, given: str) -> None:
    assert client.get("/nowhere", headers={"X-Request-ID": given})["X-Request-ID"] == given
    assert lines(log)[-1]["request"] == given


@pytest.mark.parametrize("given", ["", " ", "a b", "a,b", "a\r\nSet-Cookie: x=1", "a\x1b[2J", "é", '"}', "f" * 129])
def test_what_is_no_id_is_not_taken_for_one(client: Client, log: Written, given: str) -> None:
    told = client.get("/nowhere", headers={"X-Request-ID": given})["X-Request-ID"]
    assert len(told) == 32
    assert lines(log)[-1]["request"] == told
    assert "Set-Cookie" not in log.texts[-1]


def test_nothing_of_a_query_a_form_a_cookie_or_a_job_is_told(client: Client, valkey: Server, log: Written) -> None:
    secret = "hunter2"
    raw = letter(1, queue=secret, card=secret)
    valkey.client.zadd(keys.DEAD, {raw: DIED})
    client.cookies["theme"] = secret
    form = {"score": str(DIED), "digest": digest(raw), "operation": "op-1", "reason": secret, "confirmed": "1"}
    get(client, f"/dead-letters/?queue={secret}")
    get(client, f"/dead-letters/?after={secret}")
    get(client, f"/audit/?{secret}=1")
    client.post(f"/dead-letters/{DIED}-{digest(raw)}/purge", form, headers={"Referer": f"http://127.0.0.1/?{secret}"})
    assert len(lines(log)) == 5
    assert secret not in "".join(log.texts)


@pytest.mark.parametrize("path", ["/jobs/%0d%0aERROR/", "/jobs/%1b[2J/", "/jobs/\u202e/", "/jobs/%ff%fe/"])
def test_a_path_stays_in_its_line(client: Client, log: Written, path: str) -> None:
    get(client, path)
    (text,) = log.texts
    assert text.isprintable()
    assert text.isascii()
    assert json.loads(text)["path"].startswith("/jobs/")


def test_probes_and_static_files_are_for_debugging(client: Client, log: Written) -> None:
    for path in ("/healthz", "/readyz", "/static/css/app.css"):
        answer = client.get(path)
        assert answer.status_code == 200
        answer.close()
    assert log.texts == []
    assert get(client, "/static").status_code == 404
    assert len(log.texts) == 1


def test_redis_that_does_not_answer_is_told_with_who_asked(client: Client, log: Written) -> None:
    with redis_at("redis://127.0.0.1:1/0"):
        get(client, "/dead-letters/")
    line = lines(log, "request_lines")[-1]
    assert (line["status"], line["user"]) == (503, "dev")


def test_a_mistake_of_ours_names_the_line_that_tells_it(
    client: Client, log: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mistaken(*_: object) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr("joobq_admin.pages.listing.read", mistaken)
    client.raise_request_exception = False
    answer = get(client, "/dead-letters/")
    assert answer.status_code == 500
    assert f"Request {answer['X-Request-ID']}" in says(answer)
    told = [line for line in lines(log) if "traceback" in line]
    assert [line["request"] for line in told] == [answer["X-Request-ID"]]
