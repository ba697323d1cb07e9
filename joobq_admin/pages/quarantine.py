"""What is in quarantine: a list of it, and the slip where one record is released or discarded by its exact bytes."""

from dataclasses import dataclass

from joobq_admin.connection import redaction
from joobq_admin.joobq.delivery import CorruptRecord, Ledger, Quarantined
from joobq_admin.joobq.delivery.record import evidence
from joobq_admin.pages import ledger_names, times, words
from joobq_admin.pages.entry_page import MOST_LINES, what_is_hidden
from joobq_admin.pages.links import Link
from joobq_admin.pages.slip import short
from joobq_admin.pages.tokens import hex_lines, plain
from joobq_admin.sso.roles import Action, User
from joobq_admin.triage.redact import Redacted

ROWS = 10
SOUND = "It decodes now"
NOBODY = (
    "At least one byte is not the one that was written. Nobody can say what the state was, so nobody gets this request."
)
NOW_SOUND = "Every byte is checked, and fits: released, it is under the indexes again as its record says."


@dataclass(frozen=True, slots=True)
class Row:
    id: str
    url: str
    wrong: str
    size: str
    short: str


@dataclass(frozen=True, slots=True)
class Table:
    """`more`: where the next ones are."""

    rows: list[Row]
    at: str
    more: str = ""


@dataclass(frozen=True, slots=True)
class Bytes:
    """What is stored now, in hex; `note`: what of it is not shown."""

    lines: list[tuple[str, str, str]]
    size: str
    digest: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """The slip. `operation` '' where `needs` says why there are no buttons; `sound`: a release would do."""

    heading: str
    text: str
    short: str
    at: str
    digest: str = ""
    tone: str = "bad"
    icon: str = "no"
    status: int = 200
    operation: str = ""
    release_url: str = ""
    discard_url: str = ""
    sound: bool = False
    needs: str = ""
    unrecorded: str = ""
    links: tuple[Link, ...] = ()


def table(ledger: Ledger, cursor: str) -> Table:
    """Some of it, from this place on. Raises TROUBLE."""
    page = ledger.quarantined(cursor, ROWS)
    more = ledger_names.url(ledger, quarantine=page.cursor) if page.cursor != "0" else ""
    return Table([_row(ledger, each) for each in page.records], times.time(times.now()), more)


def _row(ledger: Ledger, each: Quarantined) -> Row:
    return Row(
        id=plain(each.request_id, 80),
        url=ledger_names.request_url(ledger, each.request_id),
        wrong=wrong(each),
        size=_size(each),
        short=short(each.digest),
    )


def wrong(each: Quarantined) -> str:
    record = each.record
    return record.reason.capitalize() if isinstance(record, CorruptRecord) else SOUND


def _size(each: Quarantined) -> str:
    return words.counted(len(each.header or b"") + len(each.payload or b""), "byte")


def stored_bytes(each: Quarantined) -> Bytes:
    """What its digest is of; values of secret fields are replaced, byte for byte."""
    payload = redaction().redacted(each.payload or b"")
    shown = evidence(each.header, payload.raw if each.payload is not None else None)
    lines = hex_lines(Redacted(shown, ()), MOST_LINES)
    left = max(0, len(shown) - 16 * len(lines))
    cut = f"{left:,} more bytes are not shown." if left else ""
    note = " ".join(filter(None, (cut, what_is_hidden(payload, "record", exact=True))))
    return Bytes(lines, _size(each), each.digest, note)


def review(ledger: Ledger, each: Quarantined, user: User) -> Review:
    """Before a press."""
    may, sound = user.can(Action.RELEASE), not isinstance(each.record, CorruptRecord)
    of = {"id": each.request_id}
    return Review(
        heading=wrong(each),
        text=NOW_SOUND if sound else NOBODY,
        short=short(each.digest),
        at=f"as read {times.time(times.now())}",
        digest=each.digest,
        tone="send" if sound else "bad",
        icon="check" if sound else "no",
        operation=ledger_names.new_operation() if may else "",
        release_url=ledger_names.url(ledger, "release", **of),
        discard_url=ledger_names.url(ledger, "discard", **of),
        sound=sound,
        needs="" if may else words.may_not(user, Action.RELEASE),
    )
