"""With the Redis users of docs/redis-acl.md all works; without any right of theirs nothing is lost, and it is told."""

from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest
from django.http import HttpResponse
from django.test import Client, override_settings
from redis import exceptions

from joobq_admin import connection
from joobq_admin.joobq import audit, background, keys
from joobq_admin.joobq.delivery import Ledger
from joobq_admin.joobq.entry import EntryRef
from joobq_admin.joobq.sessions import SessionOver
from tests.support import documented, ledgers, walk
from tests.support.background import nobody_counts
from tests.support.database import contents
from tests.support.documented import allow, rights, without_one
from tests.support.elsewhere import redis_at
from tests.support.eventually import eventually
from tests.support.html import says
from tests.support.letters import DIED, digest, jid, letter
from tests.support.operators import ANN, dead_letters
from tests.support.servers import KINDS, Server
from tests.support.trials import LAB
from tests.support.walk import STEPS

OPERATOR, READER = rights("joobq-admin"), rights("joobq-reader")
#: How a page, an answer or the log says that something is not allowed.
TOLD = "Redis does not allow it", "Redis does not let us read", "cannot be read", "Redis said", "not let it be read"
# rights that a walk through the pages over a few entries does not need
COUNTING = {"+zrank", "+watch", "+unwatch", "+multi", "+exec"}
SESSIONS = {"+mget", "+set"}
LEDGERS = {"+hexists", "+hlen", "+hscan", "+zmscore", "+zscan", "+scan"}
IMPORT = {"+exists"}  # no page does it
AT_START = {"+info"}


@pytest.fixture(scope="module", params=KINDS if LAB else KINDS[:1])
def guarded(request: pytest.FixtureRequest, with_django: None) -> Iterator[Server]:
    """The dashboard comes as `somebody`, and keeps seven records; the test comes as who may do everything."""
    with (
        Server(request.param) as server,
        override_settings(AUDIT_ENTRIES=7),
        patch.object(audit, "TRIM_SLACK", 0),
        patch.object(background, "LINGER", 0.05),
        patch.object(background, "PAUSE", 0.01),
    ):
        allow(server.client, OPERATOR)
        with redis_at(documented.url(server)):
            yield server


@pytest.fixture
def somebody(client: Client, guarded: Server) -> Client:
    nobody_counts()
    connection.discovery.cache_clear()  # else ledgers may be known of the test before
    walk.prepare(guarded.client)
    guarded.client.script_flush()
    allow(guarded.client, OPERATOR)
    return client


def every(given: list[str]) -> Any:
    """Each right of theirs, and the others."""
    cases = list(without_one(given))
    return pytest.mark.parametrize(("right", "left"), cases, ids=[right for right, _ in cases])


def statuses(answers: dict[str, HttpResponse]) -> dict[str, int]:
    return {name: answer.status_code for name, answer in answers.items()}


def text(answers: dict[str, HttpResponse]) -> str:
    return "\n".join(says(answer) for answer in answers.values() if not answer.streaming)


def told(said: str) -> bool:
    return any(words in said for words in TOLD)


# -- an operator's dashboard


def test_an_operator_can_do_everything(somebody: Client, guarded: Server) -> None:
    answers = walk.walk(somebody)
    assert statuses(answers) == {step.name: step.status for step in STEPS}
    assert not told(text(answers))
    assert walk.lost(guarded.client) == set()


@every(OPERATOR)
def test_a_right_that_is_missing_is_told_and_loses_nothing(
    somebody: Client, guarded: Server, caplog: pytest.LogCaptureFixture, right: str, left: list[str]
) -> None:
    allow(guarded.client, left)
    answers = walk.walk(somebody, walk.PRESSES)
    assert {name: status for name, status in statuses(answers).items() if status >= 500 and status != 503} == {}
    assert walk.lost(guarded.client) == set()
    to_read = {given for given, _ in without_one(READER)}  # what is missing of those is told by pages
    assert right in to_read or told(text(answers) + caplog.text) == (right not in SESSIONS | LEDGERS | IMPORT)


def test_a_large_set_is_counted_and_proved(somebody: Client, guarded: Server) -> None:
    guarded.client.zadd(keys.DEAD, {letter(n): DIED for n in range(450)})
    eventually(lambda: connection.dead_letters().counts().exact)
    eventually(lambda: guarded.client.exists(keys.PROVED))


@pytest.mark.parametrize("right", sorted(COUNTING) if LAB else ["+watch"])
def test_a_right_to_count_that_is_missing_is_told_in_the_log(
    somebody: Client, guarded: Server, caplog: pytest.LogCaptureFixture, right: str
) -> None:
    guarded.client.zadd(keys.DEAD, {letter(n): DIED for n in range(450)})
    allow(guarded.client, [given for given in OPERATOR if given != right])
    eventually(lambda: somebody.get("/dead-letters/").status_code == 200 and "counts ended: " in caplog.text)


def test_sessions_end(somebody: Client, guarded: Server) -> None:
    connection.end_sessions("browser")
    with pytest.raises(SessionOver), connection.while_signed_in(["browser"], 0):
        connection.ask()
    for right in ("+mget", "+get", "+set"):
        allow(guarded.client, [given for given in OPERATOR if given != right])
        with pytest.raises(exceptions.NoPermissionError):
            sign_out()


def sign_out() -> None:
    connection.end_sessions("another browser")
    with connection.while_signed_in(["another"], 0):
        connection.ask()


@pytest.fixture
def ledger(guarded: Server) -> Ledger:
    return walk.fill_ledger(guarded.client)


def test_a_ledger_is_tended(somebody: Client, ledger: Ledger) -> None:
    steps = walk.tending(ledger)
    answers = walk.walk(somebody, steps)
    assert statuses(answers) == {step.name: step.status for step in steps}
    assert not told(text(answers))
    assert set(ledger.redis.hkeys(ledger.records_key)) == {b"over", b"due", b"corrupt"}


@every(OPERATOR)
def test_a_right_to_ledgers_that_is_missing_is_told_and_loses_nothing(
    somebody: Client, guarded: Server, ledger: Ledger, right: str, left: list[str]
) -> None:
    steps = walk.tending(ledger)
    allow(guarded.client, left)
    answers = walk.walk(somebody, steps)
    assert {name: status for name, status in statuses(answers).items() if status >= 500 and status != 503} == {}
    assert told(text(answers)) or right not in LEDGERS
    assert {b"over", b"due", b"corrupt"} <= set(ledger.redis.hkeys(ledger.records_key))


# -- a reader's


@pytest.fixture
def before(somebody: Client, guarded: Server) -> dict[bytes, object]:
    """What there is to read: much was done, and the job that was redriven is dead again."""
    queue = dead_letters(guarded.client)
    refs = {n: EntryRef(DIED, digest(raw), jid(n)) for n, raw in walk.LETTERS.items()}
    queue.redrive_entries([refs[1]], by=ANN, operation="op-redrive")
    queue.purge_entries([refs[3]], by=ANN, operation="op-purge")
    queue.purge_all("reports", by=ANN, operation="op-queue")
    guarded.client.zadd(keys.DEAD, {walk.LETTERS[1]: DIED})
    queue.counts()
    walk.fill_ledger(guarded.client)
    return contents(guarded.client)


def reading(guarded: Server) -> list[walk.Step]:
    of_a_ledger = walk.tending(ledgers.ledger_of(guarded.client))
    return walk.LOOKS + [step for step in of_a_ledger if step.form is None]


def test_a_reader_sees_every_page_and_changes_nothing(
    somebody: Client, guarded: Server, before: dict[bytes, object]
) -> None:
    looks = reading(guarded)
    allow(guarded.client, READER)
    pages = walk.walk(somebody, looks)
    assert {name: status for name, status in statuses(pages).items() if status not in (200, 410)} == {}
    assert not told(text(pages))
    assert text(pages).count("Redis does not allow changes. Its user may not take entries out of dead letters.") >= 4
    presses = walk.walk(somebody, walk.PRESSES)
    assert {name: answer for name, answer in statuses(presses).items() if answer not in (200, 303, 409, 422, 503)} == {}
    assert contents(guarded.client) == before


@every(READER)
def test_a_right_of_a_reader_that_is_missing_is_told(
    somebody: Client, guarded: Server, before: dict[bytes, object], right: str, left: list[str]
) -> None:
    looks = reading(guarded)
    allow(guarded.client, left)
    pages = walk.walk(somebody, looks)
    assert {status for status in statuses(pages).values() if status >= 500} <= {503}
    assert told(text(pages)) == (right not in COUNTING | SESSIONS | AT_START)
    assert contents(guarded.client) == before
