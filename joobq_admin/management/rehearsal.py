"""manage.py ledger import --dry-run: what an import would do now. It reads, and touches nothing, no file either."""

from argparse import Namespace
from collections import Counter
from collections.abc import Mapping, Set
from typing import BinaryIO

from joobq_admin.joobq.delivery import MAX_BATCH, CorruptRecord, Gate, Ledger, Record, State
from joobq_admin.joobq.delivery.batches import batches
from joobq_admin.management import lines
from joobq_admin.management.files import Line, lines_of
from joobq_admin.management.lines import Brought
from joobq_admin.management.terminal import Exit, Terminal

GATE_OPEN = "The gate of {0} is open: requests may be claimed. To import, close it: ledger gate {0} close --reason '…'"
CONFLICT = "something else stands under this request id"
TOO_LARGE = "its payload is larger than --max-payload-bytes"


def longest(ledger: Ledger) -> int:
    """Bytes that a line may have: text may take six for each of the payload, and all else is small."""
    return 6 * ledger.max_payload_bytes + 16_384


def rehearse(terminal: Terminal, asked: Namespace, file: BinaryIO, gate: Gate | None) -> Exit:
    """Lines that would be rejected go to stdout. A request id that comes twice in the file is told as new each time."""
    ledger: Ledger = asked.ledger
    if gate is None:
        terminal.say(GATE_OPEN.format(asked.name))
    room, found, full = ledger.max_records - ledger.stats().records, Counter(accepted=0, duplicate=0, rejected=0), 0
    number = 0
    with terminal.progress("dry run", asked.file.stat().st_size) as advance:
        for batch in batches(lines_of(file, longest(ledger)), MAX_BATCH, lambda line: len(line.text or b"")):
            for line, verdict in zip(batch, _verdicts(ledger, batch), strict=True):
                found[verdict if verdict in found else "rejected"] += 1
                if verdict not in found:
                    terminal.line(line=line.number, reason=verdict)
                if found["accepted"] > room:
                    full = full or line.number
                number = line.number
            advance(batch[-1].end - batch[0].at)
    terminal.line(ledger=asked.name, lines=number, **found)
    if full:
        terminal.say(f"It would stop at line {full:,}: the ledger would be full.")
    return Exit.LOOK if full or found["rejected"] or gate is None else Exit.DONE


def _verdicts(ledger: Ledger, batch: list[Line]) -> list[str]:
    """accepted, duplicate, or why it would be rejected."""
    read = [_read(ledger, line) for line in batch]
    ids = [each.request_id for each in read if isinstance(each, Brought)]
    here, aside = dict(zip(ids, ledger.resolve_many(ids), strict=True)), ledger.in_quarantine(ids)
    return [_verdict(each, here, aside) if isinstance(each, Brought) else each for each in read]


def _read(ledger: Ledger, line: Line) -> Brought | str:
    try:
        brought = lines.read(line.text)
    except ValueError as wrong:
        return str(wrong)
    return brought if len(brought.payload) <= ledger.max_payload_bytes else TOO_LARGE


def _verdict(brought: Brought, stored: Mapping[str, Record | CorruptRecord | None], aside: Set[str]) -> str:
    here = stored[brought.request_id]
    if brought.request_id in aside or isinstance(here, CorruptRecord):
        return CONFLICT
    if here is None:
        return "accepted"
    leased = brought.state is State.LEASED
    state, owner = (State.READY, "") if leased else (brought.state, brought.owner)
    same = (here.payload, here.state, here.due_at, here.owner)
    return "duplicate" if same == (brought.payload, state, brought.due_at, owner) else CONFLICT
