"""Line by line: a bad one stops nothing, an interruption loses nothing, a second run changes nothing."""

import json
import signal
from pathlib import Path

import pytest
from django.core.management import CommandError

from joobq_admin.joobq.delivery import Ledger, State
from tests.support.commands import Ran, ledger, noted, process
from tests.support.database import changed, contents
from tests.support.eventually import eventually
from tests.support.ledgers import agrees, held, ledger_of, mend, spoil_header, stored
from tests.support.operators import ANN
from tests.support.servers import Server

pytestmark = pytest.mark.usefixtures("with_django")
DUE = 1_700_000_000_123


def line(request_id: object, **fields: object) -> str:
    return json.dumps({"request_id": str(request_id), "payload": "é", "state": "READY", "due_at": DUE} | fields)


@pytest.fixture
def emails(valkey: Server) -> Ledger:
    """With a closed gate."""
    found = ledger_of(valkey.client)
    found.close_gate(ANN, "moving")
    return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "emails.ndjson"


def write(file: Path, *lines: str) -> None:
    file.write_text("".join(f"{each}\n" for each in lines), newline="")


def imported(file: Path, *more: object) -> Ran:
    return ledger("import", "shop:emails", file, *more)


def counts(ran: Ran) -> tuple[int, int, int, int]:
    told = ran.lines[-1]
    return told["lines"], told["accepted"], told["duplicate"], told["rejected"]


def beside(file: Path) -> list[str]:
    return sorted(path.name for path in file.parent.iterdir() if path != file)


BAD = {
    "{": "it is no JSON",
    "[1]": "it is no JSON object",
    line("\ud800"): "it is no JSON",
    "{}": "request_id, payload, state and due_at are needed",
    line("a", payload=None): "request_id, payload, state and due_at are needed",
    line("a", payload=7): "payload is text",
    line("a", payload_base64="eA=="): "payload and payload_base64 are both there",
    line("a", payload=None, payload_base64="!"): "payload_base64 is no base64",
    line("a", state="WAITING"): "a state is READY, LEASED, COMPLETED, DEAD",
    line("a", state=["READY"]): "a state is READY, LEASED, COMPLETED, DEAD",
    line("a", due_at=1.5): "due_at is a whole number from 0",
    line("a", due_at=10**15): "due_at has at most 15 digits",
    line("a", due=5): "no field is called due",
    line(""): "a request id is text of 1 to 512 bytes",
    line("a", owner="x" * 513): "an owner is text of 1 to 512 bytes",
    line("a", payload="x" * 11): "its payload is larger than --max-payload-bytes",
    line("x" * 20_000): "it is longer than any record",
    line("there"): "something else stands under this request id",
    line("corrupt"): "something else stands under this request id",
}


def test_a_bad_line_is_counted_and_told_and_stops_nothing(valkey: Server, emails: Ledger, file: Path) -> None:
    emails.admit_many([("there", "other"), ("corrupt", "é")])
    spoil_header(emails, "corrupt")
    write(file, line("first"), "", *BAD, line("last", state="DEAD", owner="w") + "\r")
    before = contents(valkey.client)
    rehearsed = imported(file, "--max-payload-bytes", 10, "--dry-run")
    assert (rehearsed.ended, counts(rehearsed)) == (3, (22, 2, 0, 19))
    assert changed(before, contents(valkey.client)) == set()
    assert beside(file) == []
    ran = imported(file, "--max-payload-bytes", 10, "--reason", "from the old one")
    assert (ran.ended, counts(ran)) == (3, (22, 2, 0, 19))
    rejects = [json.loads(text) for text in (file.parent / "emails.rejected.ndjson").read_text().splitlines()]
    assert rejects == rehearsed.lines[:-1]
    assert [each["line"] for each in rejects] == list(range(3, 22))
    for each, said in zip(rejects, BAD.values(), strict=True):
        assert each["reason"].startswith(said)
    first, last = emails.resolve_many(["first", "last"])
    assert (first.payload, first.due_at, last.state, last.owner) == ("é".encode(), DUE, "DEAD", "w")
    assert beside(file) == ["emails.rejected.ndjson"]
    (record,) = noted(valkey)
    assert (record.action, record.reason, record.queue) == ("import", "from the old one", "emails")
    assert (record.fields["accepted"], record.fields["rejected"]) == ("2", "19")


def test_a_second_run_changes_nothing(valkey: Server, emails: Ledger, file: Path) -> None:
    write(file, line("a"), line("b", state="LEASED", owner="w"), line("a"))
    assert counts(imported(file)) == (3, 2, 1, 0)
    before = contents(valkey.client)
    assert counts(imported(file, "--dry-run")) == counts(imported(file)) == (3, 0, 3, 0)
    assert changed(before, contents(valkey.client)) == set()
    assert beside(file) == []
    assert agrees(emails)


def test_a_dry_run_says_of_what_is_here_what_an_import_does(valkey: Server, emails: Ledger, file: Path) -> None:
    """Of a record that was claimed before; of one in quarantine that decodes again; of a copy without a record."""
    emails.open_gate(ANN)
    emails.settle(held(emails, "done"), State.DEAD)
    emails.admit_many([("sound again", "é"), ("copy alone", "é")])
    sound = stored(emails, "sound again")[0]
    for name in ("sound again", "copy alone"):
        spoil_header(emails, name)
    mend(emails)
    valkey.client.hset(emails.records_key, "sound again", sound)
    due = {name: emails.look(name).record.due_at for name in ("done", "sound again")}
    valkey.client.hdel(emails.records_key, "copy alone")
    emails.close_gate(ANN, "moving")
    write(
        file,
        line("done", payload="payload of done", state="DEAD", due_at=due["done"], owner="w"),
        line("sound again", due_at=due["sound again"]),
        line("copy alone"),
    )
    rehearsed, ran = imported(file, "--dry-run"), imported(file)
    assert counts(rehearsed) == counts(ran) == (3, 0, 1, 2)
    rejects = (file.parent / "emails.rejected.ndjson").read_text().splitlines()
    assert [json.loads(text) for text in rejects] == rehearsed.lines[:-1]


def test_it_needs_a_closed_gate_and_says_so(valkey: Server, emails: Ledger, file: Path) -> None:
    write(file, line("a"))
    emails.open_gate(ANN)
    before = contents(valkey.client)
    ran = imported(file)
    assert (ran.ended, ran.lines) == (1, [])
    assert "To import, close it: ledger gate shop:emails close" in ran.words
    rehearsed = imported(file, "--dry-run")
    assert (rehearsed.ended, counts(rehearsed)) == (3, (1, 1, 0, 0))
    assert "is open" in rehearsed.words
    assert changed(before, contents(valkey.client)) == set()
    assert beside(file) == []


def test_a_file_that_is_not_there_is_told(valkey: Server, file: Path) -> None:
    with pytest.raises(CommandError, match="there is no file"):
        imported(file)


def test_a_place_that_cannot_be_written_to_is_told(valkey: Server, emails: Ledger, file: Path) -> None:
    write(file, line("a"))
    (file.parent / "emails.rejected.ndjson").mkdir()
    ran = imported(file)
    assert (ran.ended, ran.lines) == (1, [])
    assert "emails.rejected.ndjson: Is a directory." in ran.words
    assert emails.stats().records == 0


def test_files_whose_names_differ_in_their_ends_have_their_rejects_each(emails: Ledger, tmp_path: Path) -> None:
    for name in ("emails.1", "emails.2", "emails.ndjson", "emails.ndjson.1"):
        write(tmp_path / name, f"bad {name}")
        assert imported(tmp_path / name).ended == 3
    assert sorted(path.name for path in tmp_path.glob("*.rejected.ndjson")) == [
        "emails.1.rejected.ndjson",
        "emails.2.rejected.ndjson",
        "emails.ndjson.1.rejected.ndjson",
        "emails.rejected.ndjson",
    ]


def stopped_at_100(file: Path) -> None:
    """Of 300 lines; line 50 is bad."""
    write(file, *(line(n) if n != 50 else "bad" for n in range(1, 301)))
    ran = imported(file, "--max-records", 99)
    assert (ran.ended, counts(ran)) == (1, (100, 99, 0, 1))
    assert "The ledger is full" in ran.words
    assert beside(file) == ["emails.checkpoint.json", "emails.rejected.ndjson"]


def test_what_was_stopped_goes_on_where_it_was(valkey: Server, emails: Ledger, file: Path) -> None:
    write(file, *(line(n) for n in range(1, 301)))
    rehearsed = imported(file, "--max-records", 99, "--dry-run")
    assert "It would stop at line 100: the ledger would be full." in rehearsed.words
    stopped_at_100(file)
    ran = imported(file)
    assert "It goes on after line 100." in ran.words
    assert (ran.ended, counts(ran)) == (3, (300, 299, 0, 1))  # of the whole import
    assert beside(file) == ["emails.rejected.ndjson"]
    assert len((file.parent / "emails.rejected.ndjson").read_text().splitlines()) == 1
    assert [record.fields["accepted"] for record in noted(valkey)] == ["200", "99"]
    assert agrees(emails)


def other_content(valkey: Server, emails: Ledger, file: Path) -> None:
    file.write_text(file.read_text().replace('"é"', '"e"'))


def another_gate(valkey: Server, emails: Ledger, file: Path) -> None:
    emails.open_gate(ANN)
    emails.close_gate(ANN, "moving")


def the_newest_writes_lost(valkey: Server, emails: Ledger, file: Path) -> None:
    valkey.client.hdel(emails.records_key, "100", "99")


def a_torn_checkpoint(valkey: Server, emails: Ledger, file: Path) -> None:
    (file.parent / "emails.checkpoint.json").write_text("{")


def no_reject_file(valkey: Server, emails: Ledger, file: Path) -> None:
    (file.parent / "emails.rejected.ndjson").unlink()


@pytest.mark.parametrize(
    "change", [other_content, another_gate, the_newest_writes_lost, a_torn_checkpoint, no_reject_file]
)
def test_a_checkpoint_that_may_not_hold_is_not_believed(valkey: Server, emails: Ledger, file: Path, change) -> None:
    stopped_at_100(file)
    change(valkey, emails, file)
    ran = imported(file)
    assert "goes on after" not in ran.words
    lines, accepted, duplicate, rejected = counts(ran)
    assert lines == 300
    assert accepted + duplicate + rejected == 300
    assert emails.stats().records == 299
    assert len((file.parent / "emails.rejected.ndjson").read_text().splitlines()) == rejected


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_what_was_killed_goes_on(valkey: Server, emails: Ledger, file: Path, how: signal.Signals) -> None:
    write(file, *(line(n) for n in range(2_000)))
    admin = valkey.connect()
    with process(valkey, "import", "shop:emails", file) as running:
        eventually(lambda: emails.stats().records > 200, timeout=20, every=0.001)
        admin.execute_command("CLIENT", "PAUSE", 5_000, "WRITE")  # held at whatever it was doing
        assert 200 < emails.stats().records < 2_000
        at_once = imported(file)
        assert (at_once.ended, "Another import" in at_once.words) == (1, True)
        running.send_signal(how)
        admin.execute_command("CLIENT", "UNPAUSE")
        _, words = running.communicate(timeout=20)
    assert running.returncode == (130 if how is signal.SIGINT else -signal.SIGKILL)
    ran = imported(file)
    assert ran.ended == 0
    assert (
        ("It goes on after line" in ran.words)
        is ("the same command goes on from there" in words)
        is (how is signal.SIGINT)
    )
    _, accepted, duplicate, rejected = counts(ran)
    assert (accepted + duplicate, rejected) == (2_000, 0)
    assert emails.stats().records == 2_000
    assert agrees(emails)
