"""What an export writes an import takes, byte for byte."""

import json
from pathlib import Path

import pytest

from joobq_admin.joobq.delivery import Ledger, State
from tests.support.commands import ledger, noted, process
from tests.support.database import changed, contents
from tests.support.ledgers import HOUR, ledger_of, spoil_header
from tests.support.operators import ANN
from tests.support.servers import Server

pytestmark = pytest.mark.usefixtures("with_django")
ODD = ["\udcff", "é\u2028\n", '"\\', "\udced\udca0\udc80", "\x00", "x" * 512, "\ufeff", "5"]
PAYLOADS = [b"", b"\xff\0\r\n", "é".encode(), b"x" * 300_000, b"\xef\xbb\xbf", b"null", b"\n", b"{}"]


def full_of_odd_ones(server: Server) -> Ledger:
    emails = ledger_of(server.client)
    emails.admit_many(zip(ODD, PAYLOADS, strict=True))
    first, second, third = (emails.claim(f"w \udcfe{n}", HOUR) for n in range(3))
    emails.settle(first)
    emails.settle(second, State.DEAD)
    assert third  # stays leased
    return emails


def test_every_record_comes_back_as_it_was(valkey: Server, tmp_path: Path) -> None:
    emails, file = full_of_odd_ones(valkey), tmp_path / "emails.ndjson"
    emails.admit_many((f"order-{n}", f"{n}") for n in range(150))
    before = contents(valkey.client)
    ran = ledger("export", "shop:emails")
    assert (ran.ended, len(ran.lines)) == (0, 158)
    assert changed(before, contents(valkey.client)) == set()
    assert all(line["payload_base64"] is not None for line in ran.lines)
    file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in ran.lines))
    moved = Ledger(valkey.client, "new", "emails")
    moved.close_gate(ANN, "moving")
    assert ledger("import", "new:emails", file).lines[0]["accepted"] == 158
    told = ledger("repair", "new:emails").lines[0]
    assert (told["scanned"], told["mended"], told["quarantined"]) == (158 + 156, 0, 0)
    ids = [record.request_id for record in emails.records(count=1_000).records]
    for there, here in zip(emails.resolve_many(ids), moved.resolve_many(ids), strict=True):
        leased = there.state is State.LEASED  # a lease cannot be carried over
        state, owner = (State.READY, "") if leased else (there.state, there.owner)
        assert (here.request_id, here.payload, here.due_at) == (there.request_id, there.payload, there.due_at)
        assert (here.state, here.owner) == (state, owner)
    out = ledger("export", "new:emails").lines
    file.write_text("".join(f"{json.dumps(line)}\n" for line in out))
    before = contents(valkey.client)
    assert ledger("import", "new:emails", file).lines[0]["duplicate"] == 158
    assert changed(before, contents(valkey.client)) == set()


def test_a_corrupt_record_is_left_out_and_told(valkey: Server) -> None:
    emails = full_of_odd_ones(valkey)
    spoil_header(emails, "5")
    ran = ledger("export", "shop:emails")
    assert (ran.ended, len(ran.lines)) == (3, 7)
    assert "5 is left out, it is corrupt: the header's checksum does not fit." in ran.words
    assert noted(valkey) == []


def test_where_nothing_can_be_written_it_says_so(valkey: Server) -> None:
    ledger_of(valkey.client).admit("a", b"1")
    with Path("/dev/full").open("w") as full, process(valkey, "export", "shop:emails", stdout=full) as running:
        _, words = running.communicate(timeout=20)
    assert running.returncode == 1
    assert words.splitlines()[1:] == ["It could not be written: No space left on device."]
