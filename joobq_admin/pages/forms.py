"""Every parameter of every URL and form, checked. What no page of ours writes is a BadRequest; numbers are clamped."""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from django.core.exceptions import BadRequest
from django.http import HttpRequest

from joobq_admin.joobq.asked import is_operation_id
from joobq_admin.joobq.entry import EntryRef, Score, read_score
from joobq_admin.joobq.lookup import Cursor
from joobq_admin.pages import ledger_rows
from joobq_admin.pages.links import is_plain
from joobq_admin.triage.search import PRESETS

MOST_PARAMETERS = 100
ROWS, MOST_ROWS = 50, 100
SCORE = r"-?(?:[0-9.]{1,40}(?:e[+-]?[0-9]{1,4})?|inf)"
_entry = re.compile(rf"({SCORE})-([0-9a-f]{{16,64}})", re.ASCII).fullmatch
_tick = re.compile(rf"({SCORE})-([0-9a-f]{{64}})(?:-(.*))?", re.ASCII | re.DOTALL).fullmatch
_digest = re.compile(r"[0-9a-f]{64}", re.ASCII).fullmatch


def query(request: HttpRequest) -> dict[str, str]:
    """The parameters of the URL, the last of each name. Bytes that are no UTF-8 are surrogates, as in the port."""
    return dict(_pairs(request))


def each_once(request: HttpRequest, text: str | None = None) -> dict[str, str]:
    """The same of a page with filters, or of `text`: one that comes twice is told."""
    pairs = _pairs(request) if text is None else _parsed(text)
    given = dict(pairs)
    if len(given) < len(pairs):
        raise BadRequest("A filter is given twice.")
    return given


def _pairs(request: HttpRequest) -> list[tuple[str, str]]:
    return _parsed(request.META.get("QUERY_STRING", ""))


def _parsed(text: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            text,
            keep_blank_values=True,
            errors="surrogateescape",
            max_num_fields=MOST_PARAMETERS,
        )
    except ValueError as error:
        raise BadRequest("too many parameters") from error


def cursor(text: str | None) -> Cursor | None:
    if not text:
        return None
    try:
        return Cursor.parse(text)
    except ValueError as error:
        raise BadRequest(f"“{text[:80]}” is no place in a list.") from error


def number(text: str | None, default: int, least: int, most: int) -> int:
    if not text:
        return default
    if not re.fullmatch(r"-?[0-9]{1,30}", text, re.ASCII):
        raise BadRequest(f"“{text[:80]}” is no number.")
    return max(least, min(int(text), most))


def flag(given: dict[str, str], name: str) -> bool:
    value = given.get(name, "")
    if value not in ("", "0", "1"):
        raise BadRequest(f"“{value[:80]}” is none of {name}: 1, or nothing.")
    return value == "1"


def entry_ref(text: str, jid: str | None) -> EntryRef:
    """`<score>-<16 to 64 hex digits>`: an entry as the path of its URL names it."""
    match = _entry(text)
    if not match:
        raise BadRequest("no such form of an entry's address")
    return EntryRef(score(match[1]), match[2], jid if jid and is_plain(jid) else None)


def ticked(text: str | None) -> EntryRef:
    """`<score>-<64 hex digits>-<jid>`: an entry in one word."""
    match = _tick(text or "")
    if not match:
        raise BadRequest("no such form of an entry")
    jid = match[3]
    return EntryRef(score(match[1]), match[2], jid if jid and is_plain(jid) else None)


def score(text: str) -> Score:
    try:
        return read_score(text)
    except ValueError as error:
        raise BadRequest("no score") from error


def operation_id(text: str | None) -> str:
    if not is_operation_id(text or ""):
        raise BadRequest("no operation id")
    return str(text)


@dataclass(frozen=True, slots=True)
class Press:
    """One press of a button: on which exact entry, as what operation, and what its presser had before them."""

    ref: EntryRef
    operation: str
    reviewed: str = ""
    older: str = ""

    @property
    def older_ref(self) -> EntryRef | None:
        """The next older entry on the presser's page, to go on to; only a link, so no reason to refuse a press."""
        try:
            return ticked(self.older)
        except BadRequest:
            return None


def press(request: HttpRequest, path: str) -> Press:
    """The form of a slip, which must be about the entry that `path` names."""
    posted: Any = request.POST
    jid, digest = posted.get("jid"), posted.get("digest", "")
    ref = EntryRef(score(posted.get("score", "")), digest, jid if jid and is_plain(jid) else None)
    named = entry_ref(path, None)
    if not _digest(digest) or named.score != ref.score or not digest.startswith(named.digest):
        raise BadRequest("the form and its address name two entries")
    return Press(ref, operation_id(posted.get("operation")), posted.get("reviewed", ""), posted.get("older", ""))


def unsure(request: HttpRequest) -> bool:
    """Was this operation pressed before, and its answer lost?"""
    posted: Any = request.POST
    return bool(posted.get("unsure") == "1")


def job_id(text: str | None) -> str:
    """Any jid that a request can carry: the look-up takes it as text, whatever it is."""
    if not text or len(text) > 2_000:
        raise BadRequest("no jid")
    return text


# -- the audit log

ACTIONS = ("redrive", "purge", "restore", "purge_all", "empty", "unredacted", *ledger_rows.ACTIONS)
OTHER = "other"  # as an action: whatever is recorded of none of these
FORMATS = ("csv", "ndjson")
LONGEST_FILTER = 2_000  # characters
_place = re.compile(r"([0-9]{1,20})-([0-9]{1,20})", re.ASCII).fullmatch


@dataclass(frozen=True, slots=True)
class Sought:
    """Which records of the audit log are asked for: '' = any. `q`: text of jid, digest, operation or reason."""

    q: str = ""
    action: str = ""
    queue: str = ""
    by: str = ""
    since: str = ""

    @property
    def filters(self) -> dict[str, str]:
        """What is not any, by the name of its parameter."""
        return {name: value for name in self.__slots__ if (value := getattr(self, name))}


@dataclass(frozen=True, slots=True)
class Reading:
    """What of the audit log its page is asked for. `before`: the id of the record before which to read on."""

    sought: Sought
    before: str
    limit: int


def reading(request: HttpRequest, text: str | None = None) -> Reading:
    """By the query of the URL, or by `text`, which is another."""
    filters, others = sought(request, "before", "limit", text=text)
    limit = number(others.get("limit"), ROWS, 1, MOST_ROWS)
    return Reading(filters, place_in_the_log(others.get("before", "")), limit)


def sought(request: HttpRequest, *others: str, text: str | None = None) -> tuple[Sought, dict[str, str]]:
    """The filters, and `others`: parameters that the page has besides. What is neither is told, never dropped."""
    given = each_once(request, text)
    if unknown := [name for name in given if name not in (*Sought.__slots__, *others)]:
        raise BadRequest(f"There is no filter “{unknown[0][:80]}”.")
    filters = {name: given.pop(name) for name in Sought.__slots__ if name in given}
    known = {"action": (*ACTIONS, OTHER), "since": tuple(PRESETS)}
    for name, value in filters.items():
        if value and value not in known.get(name, (value,)):
            raise BadRequest(f"“{value[:80]}” is none of {name}: {', '.join(known[name])}.")
        if len(value) > LONGEST_FILTER:
            raise BadRequest(f"The filter {name} is longer than {LONGEST_FILTER:,} characters.")
    typed = {name: filters[name].strip() for name in ("q", "by") if name in filters}
    return Sought(**filters | typed), given


def place_in_the_log(text: str) -> str:
    """The id of a record, to read on before it; '' = from the newest."""
    match = _place(text)
    if text and not (match and 0 < int(match[1]) < 1 << 64 and int(match[2]) < 1 << 64):
        raise BadRequest(f"“{text[:80]}” is no place in the audit log.")
    return text


def export_format(text: str) -> str:
    if text not in FORMATS:
        raise BadRequest(f"An export has a format: {' or '.join(FORMATS)}.")
    return text
