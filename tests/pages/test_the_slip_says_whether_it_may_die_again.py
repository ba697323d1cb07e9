"""Before a press: what bears on whether the job dies again, each with the key or the field that it was read from."""

from time import time

import pytest
from django.test import Client

from joobq_admin import connection
from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import EntryRef
from tests.support.html import elements, get, says
from tests.support.letters import digest, jid, letter
from tests.support.operators import ANN, BOB, dead_letters
from tests.support.servers import Server
from tests.support.trips import sends

NOW = int(time() * 1000)
AFAR = NOW + 86_400_000
JOB = f"/jobs/{jid(1)}/"
ONE = letter(1, "invoices", death=9, expires=AFAR)


@pytest.fixture(autouse=True)
def nobody_looked_lately() -> None:
    connection.lately.cache_clear()


def dead(valkey: Server, raw: bytes, seconds_ago: float) -> EntryRef:
    score = int(time() * 1000) - int(seconds_ago * 1000)
    valkey.client.zadd(keys.DEAD, {raw: score})
    return EntryRef(score, digest(raw), jid(1))


def with_workers(valkey: Server) -> None:
    valkey.client.hset(keys.PROCESSED, "invoices", 35)


def test_redriven_by_two_and_dead_again_as_others_since(client: Client, valkey: Server) -> None:
    queue = dead_letters(valkey.client)
    for death, by in enumerate((ANN, BOB, ANN)):
        earlier = dead(valkey, letter(1, "invoices", death=death), 300)
        assert queue.redrive_entries([earlier], by=by).done
    valkey.client.delete("invoices")
    dead(valkey, ONE, -0.01)
    for n in range(2, 106):
        dead(valkey, letter(n, "invoices"), -0.02)
    dead(valkey, letter(200, "emails"), -0.02)
    with_workers(valkey)
    words = says(get(client, JOB))
    for word in (
        "Will it die again? Redriven just now and died again."
        " Since then 104 entries of invoices died with the same error. joobq:admin:audit, joobq:dead_letter",
        "4th death; redriven by Ann Āboliņa and Bob. joobq:dead_letter, joobq:admin:audit",
        "105 others died of this error in the last 5 minutes, the last just now. joobq:dead_letter",
    ):
        assert word in words
    assert "second copy" not in words


def test_a_copy_that_is_alive_would_be_one_of_two(client: Client, valkey: Server) -> None:
    dead(valkey, ONE, 3_000)
    valkey.client.rpush("invoices", letter(1, "invoices"), letter(7, "invoices"))
    valkey.client.lpush("joobq:processing:invoices", letter(1, "invoices"))
    valkey.client.zadd("joobq:delayed_jobs", {letter(1, "invoices"): 1000})
    words = says(get(client, JOB))
    for copy, source in (
        ("A copy of this job waits in invoices, 2nd from the front.", "invoices"),
        ("A worker has a copy of this job, or left it behind.", "joobq:processing:invoices"),
        ("A copy of this job is delayed until a time that is not told.", "joobq:delayed_jobs"),
    ):
        assert f"{copy} This one would be a second copy. {source}" in words


def test_an_older_death_is_one_of_several(client: Client, valkey: Server) -> None:
    older = dead(valkey, ONE, 3_000)
    dead(valkey, letter(1, "invoices", death=3), 2_000)
    with_workers(valkey)
    words = says(get(client, f"/dead-letters/{older.score}-{older.digest[:16]}/?jid={jid(1)}"))
    assert "Will it die again? One of 2 deaths of this job. joobq:dead_letter" in words


@pytest.mark.parametrize(
    ("waiting", "said"),
    [
        (2, "No sign of a worker: 2 wait in invoices, and nothing of it is being run. invoices,"),
        (0, "No sign of a worker: nothing of invoices was ever counted as run, and nothing of it is being run."
            " joobq:stats:processed,"),
    ],
)  # fmt: skip
def test_no_sign_of_a_worker(client: Client, valkey: Server, waiting: int, said: str) -> None:
    dead(valkey, ONE, 3_000)
    for n in range(waiting):
        valkey.client.rpush("invoices", letter(n + 2, "invoices"))
    assert f"{said} joobq:processing:invoices" in says(get(client, JOB))


def test_where_nothing_says_so_it_is_told_what_was_looked_at(client: Client, valkey: Server) -> None:
    dead(valkey, ONE, 3_000)
    with_workers(valkey)
    words = says(get(client, JOB))
    assert (
        "Will it die again? Nothing seen that says so: no copy of this job waits, runs or is delayed,"
        " and no other died of this error in the last 5 minutes."
        " invoices, joobq:processing:invoices, joobq:delayed_jobs, joobq:dead_letter"
    ) in words
    for n in range(2, 250):
        valkey.client.rpush("invoices", letter(n, "invoices"))
        dead(valkey, letter(n, "invoices", error=None), 1)
    connection.lately.cache_clear()
    words = says(get(client, JOB))
    assert "No sign of a worker: 248 wait in invoices" in words
    valkey.client.lpush("joobq:processing:invoices", letter(3, "invoices"))
    words = says(get(client, JOB))
    assert (
        "no copy of this job waits, runs or is delayed among the nearest 200 of each,"
        " and no other died of this error among the newest that died."
    ) in words


def test_who_only_reads_is_told_too(client: Client, valkey: Server) -> None:
    dead(valkey, ONE, 3_000)
    client.post("/auth/dev-role", {"role": "viewer"})
    page = get(client, JOB)
    assert "You can read this entry, not act on it" in says(page)
    assert elements(page, "div", aria_label="Will it die again?")


def test_of_what_cannot_be_redriven_nothing_is_said(client: Client, valkey: Server) -> None:
    dead(valkey, letter(1, queue=""), 3_000)
    assert elements(get(client, JOB), "div", aria_label="Will it die again?") == []


def test_it_costs_the_page_no_round_trip_of_its_own(client: Client, valkey: Server) -> None:
    dead(valkey, ONE, 3_000)
    get(client, JOB)
    counted = []
    for _ in ("once", "a look at what died lately goes along"):
        with sends(connection.client()) as count:
            get(client, JOB)
            counted.append(count())
        connection.lately.cache_clear()
    assert counted == [7, 7]
