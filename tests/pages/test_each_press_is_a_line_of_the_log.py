"""Every press is a line of the log: what became of it, why, of which bytes, by whom. Never what the job holds."""

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.log_lines import Formatter
from tests.support import walk
from tests.support.elsewhere import redis_at
from tests.support.html import press
from tests.support.letters import DIED, digest, jid, letter
from tests.support.servers import Proxy, Server

SECRET = "4111 1111\r\n{}"
LETTER = letter(1, queue="invoices", card=SECRET)
AGAIN = letter(1, queue="invoices", death=1, card=SECRET)
Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Lines:
    """The lines of presses, as they stand in the log."""
    caplog.set_level(logging.INFO)

    def told() -> list[dict[str, Any]]:
        texts = [Formatter().format(record) for record in caplog.records]
        assert [text for text in texts if "4111" in text] == []
        return [line for line in map(json.loads, texts) if line["logger"] == "joobq_admin.pages.log"]

    return told


def redrive(client: Client, raw: bytes = LETTER, operation: str = "op-1") -> int:
    form = {"score": str(DIED), "digest": digest(raw), "operation": operation, "jid": jid(1)}
    return int(press(client, f"/dead-letters/{DIED}-{digest(raw)[:16]}/", form).status_code)


def line(outcome: str, reason: str = "", level: str = "warning", raw: bytes = LETTER) -> dict[str, str]:
    about = {"level": level, "logger": "joobq_admin.pages.log", "message": "redrive", "outcome": outcome}
    return about | {"reason": reason, "digest": digest(raw), "operation": "op-1", "user": "dev"}


def without_time(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in one.items() if name != "at"} for one in told]


def test_done_is_no_warning(client: Client, valkey: Server, lines: Lines) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    assert redrive(client) == 200
    assert without_time(lines()) == [line("done", level="info")]


def test_another_was_faster(client: Client, valkey: Server, lines: Lines) -> None:
    assert redrive(client) == 409
    assert without_time(lines()) == [line("missing")]


def test_another_version_is_there(client: Client, valkey: Server, lines: Lines) -> None:
    valkey.client.zadd(keys.DEAD, {AGAIN: DIED + 1})
    assert redrive(client) == 409
    assert without_time(lines()) == [line("conflict")]


def test_refused_with_its_reason(client: Client, valkey: Server, lines: Lines) -> None:
    raw = letter(1, retries=SECRET)
    valkey.client.zadd(keys.DEAD, {raw: DIED})
    assert redrive(client, raw) == 422
    assert without_time(lines()) == [line("refused", "BAD_FIELD", raw=raw)]


def test_refused_by_the_server(client: Client, valkey: Server, lines: Lines, new_server: Callable[..., Server]) -> None:
    replica = new_server("valkey", replica_of=valkey)
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    valkey.client.execute_command("WAIT", "1", "5000")
    with redis_at(replica.url):
        assert redrive(client) == 503
    assert without_time(lines()) == [line("refused", "READONLY")]


def test_the_answer_was_lost(client: Client, valkey: Server, lines: Lines, new_proxy: Callable[..., Proxy]) -> None:
    valkey.client.zadd(keys.DEAD, {LETTER: DIED})
    between = new_proxy(valkey)
    with redis_at(between.url):
        redrive(client, letter(2), "op-0")  # now the scripts are loaded
        between.cut()
        assert redrive(client) == 503
    assert without_time(lines())[1:] == [line("unknown")]


def test_nothing_was_sent(client: Client, lines: Lines) -> None:
    with redis_at("redis://127.0.0.1:1/0"):
        assert redrive(client) == 503
    assert without_time(lines()) == [line("unsent")]


def test_a_key_of_another_type_is_named(client: Client, valkey: Server, lines: Lines) -> None:
    valkey.client.set(keys.DEAD, "no sorted set")
    assert redrive(client) == 422
    assert without_time(lines()) == [line("refused", "DEAD_BROKEN")]


DONE = {
    "op-redrive": "redrive", "op-ticked": "redrive", "op-purge": "purge", "op-undo": "restore", "op-again": "purge",
    "op-restore": "restore", "op-third": "purge", "op-empty": "purge for good", "op-good": "purge for good",
    "op-bytes": "see unredacted bytes", "op-queue": "purge all", "op-all": "purge all",
}  # fmt: skip
ON_A_LEDGER = {
    "open gate": "done", "close gate": "done", "repair": "done", "expire": "done", "prune": "done",
    "release": "refused", "discard": "done",
}  # fmt: skip


def test_so_is_every_other_press(client: Client, valkey: Server, lines: Lines) -> None:
    walk.prepare(valkey.client)
    walk.walk(client, walk.PRESSES)
    assert {told["operation"]: told["message"] for told in lines()} == DONE
    assert {(told["outcome"], told["user"]) for told in lines()} == {("done", "dev")}


def test_so_is_every_press_on_a_ledger(client: Client, valkey: Server, lines: Lines) -> None:
    steps = walk.tending(walk.fill_ledger(valkey.client))
    walk.walk(client, [step for step in steps if step.form is not None])
    assert {told["message"]: told["outcome"] for told in lines()} == ON_A_LEDGER
    assert {(told["ledger"], told["user"]) for told in lines()} == {("shop:emails", "dev")}
