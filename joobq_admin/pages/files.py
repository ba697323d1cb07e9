"""The audit log as files: one record a line, whatever it holds.

NDJSON keeps every value: what cannot be seen is escaped as JSON does it. CSV is for spreadsheets, which take a cell for
a formula by its first character, and begin cells where their country does: there it gets an apostrophe before it.
In both, a byte that is no UTF-8 is written as `\\xff`, and a secret in a reason as so many `*`.
"""

import csv
import json
import re
from collections.abc import Iterable
from io import StringIO

from joobq_admin.connection import redaction
from joobq_admin.joobq.audit import Record
from joobq_admin.joobq.entry import to_text
from joobq_admin.pages import ledger_rows

#: Fields of a record as the log holds them. Others, of another version, are not known to be fit for a file.
FIELDS = (
    "action", "operation", "by", "name", "reason", "queue", "jid", "digest", "score", "sent", "entries", "bin",
    "emptied", "there",
    *ledger_rows.FIELDS,
)  # fmt: skip
COLUMNS = ("id", "at", *FIELDS, "changes")
BOM = "\ufeff"  # without it a spreadsheet reads UTF-8 as something else
HEADS = {"csv": BOM + ",".join(f'"{name}"' for name in COLUMNS) + "\r\n", "ndjson": ""}

_no_character = re.compile("[\ud800-\udfff]")
_formula = re.compile(r"(^|[\"',;|]|\\[nrt])(\s*)(?=[=+\-@＝＋－＠])")
_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def ndjson(records: Iterable[Record]) -> str:
    return "".join(_json_line(record) for record in records)


def _json_line(record: Record) -> str:
    changes = [
        {name: _readable(getattr(change, name)) for name in ("field", "was", "now")} for change in record.changes
    ]
    told = {name: _readable(value) for name, value in _fields(record).items()}
    line = json.dumps({**told, "changes": changes} if changes else told, ensure_ascii=False)
    return (line if line.isprintable() else "".join(map(_as_json, line))) + "\n"


def _readable(text: str) -> str:
    return text if text.isprintable() else _no_character.sub(lambda found: _written(found[0]), text)


def _as_json(character: str) -> str:
    return character if character.isprintable() else json.dumps(character)[1:-1]


def csv_rows(records: Iterable[Record]) -> str:
    paper = StringIO()
    writer = csv.writer(paper, quoting=csv.QUOTE_ALL)
    for record in records:
        changes = " · ".join(f"{change.field} {change.was} → {change.now}" for change in record.changes)
        told = {**_fields(record), "changes": changes}
        writer.writerow([cell(told.get(name, "")) for name in COLUMNS])
    return paper.getvalue()


def cell(text: str) -> str:
    """Text as a cell shows it: in one line, and no part of it a formula."""
    seen = text if text.isprintable() else "".join(each if each.isprintable() else _written(each) for each in text)
    guarded = _formula.sub(r"\1\2'", seen)
    return f"'{guarded}" if text[:1] in _SHORT else guarded


def _written(character: str) -> str:
    """What cannot be seen, in characters that can."""
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return rf"\x{code - 0xDC00:02x}"
    return _SHORT.get(character) or (rf"\u{code:04x}" if code < 1 << 16 else rf"\U{code:08x}")


def _fields(record: Record) -> dict[str, str]:
    at = f"{record.at:%Y-%m-%dT%H:%M:%S}.{record.at.microsecond // 1000:03d}Z" if record.at else ""
    told = {name: record.fields[name] for name in FIELDS if name in record.fields}
    if told.get("reason"):
        told["reason"] = to_text(redaction().redacted_text(told["reason"]).raw)
    return {"id": record.id, "at": at} | told
