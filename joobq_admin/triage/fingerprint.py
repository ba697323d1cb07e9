"""Which errors are one: the same class, and the same message once what varies from job to job is set aside.

Set aside are, by FINGERPRINT = 1:
  quoted values  in "…", '…', `…`, “…”, ‘…’, «…», however long; one that is not closed reaches to the end
  addresses      URLs, e-mail addresses, hosts, and whatever else is written as they are: order.paid, report.pdf
  paths          /a/b, ./a, a/b/c, src/jobs.cr:36:9, C:\\a; not and/or, not application/json
  ids            UUIDs, 0x7f3a, hex of seven digits and more, words of ten characters and more with three digits in them
  times          2026-11-29T12:29:50Z, 29 Nov 2026 12:29, 12:29:50
  numbers        with sign, fraction, exponent, unit (30s) and parts (4.7.1); the digits of node-12 and node12; what
                 follows an `=`
  values         that are not shown (`Redaction` goes first), and words with bytes in them that are no UTF-8

Kept are numbers that are the error: behind HTTP, SMTP, status, code, errno, signal, exit and the like, before the words
of an HTTP status (404 Not Found), in a word (Int32, utf8), and the 0 of a division.

What is set aside and stands side by side is one thing: [1, 2, 3] is as [7]. Any blanks are one blank, a word behind a
number may be plural, and of a message the first 1,000 characters count.

What did not fail is told apart by its kind alone: expired jobs, placeholders, malformed entries, jobs without an error.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from joobq_admin.joobq.entry import Entry, JobError, Kind, to_bytes, to_text
from joobq_admin.triage.redact import Redaction

FINGERPRINT = 1  # the rule above: by another one the groups are others, so that a link says by which it was made
UNNAMED = "Error"  # the class of an error that tells none
LONGEST_MESSAGE, LONGEST_CLASS, LONGEST_PATTERN = 1_000, 200, 400  # characters

_id = re.compile(r"([0-9]{1,4})-[0-9a-f]{16}", re.ASCII).fullmatch
_controls = re.compile(r"[\0-\x1f\x7f]")
_no_text = re.compile("(?<![^\\s\"'`])[^\\s\"'`\udc80-\udcff]*+[\udc80-\udcff][^\\s\"'`]*+")
_VARIES, _HIDDEN, _BYTES = "\0", "\1", "\2"  # what stands for them in a text, which holds no controls of its own

_HEX = "[0-9a-fA-F]"
_MONTH, _DAY = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*+", "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*+"
_CLOCK = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]++)?+)?+(?:[ ]?(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2})\b)?+"

# Each begins with a look at one sign, since most signs of a message begin nothing. Runs are possessive: nothing is gone
# through again and again.
_varies = re.compile(
    rf"""
      (?P<text>
        "[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)
      | '(?<![^\s(\[{{<=:,;/"'-].)[^']*+(?:'(?=\w)[^']*+)*+(?:'|\Z)
      | `[^`]*+(?:`|\Z) | [“„][^“”]*+(?:[“”]|\Z) | ‘[^’]*+(?:’|\Z) | «[^»]*+(?:»|\Z)
      )
    | (?P<hidden>{_HIDDEN}++)
    | (?P<bytes>{_BYTES}++)
    | (?P<value>[^\s,;&)\]}}"'`](?<=\w=.)[^\s,;&)\]}}"'`]*+|[^)](?<=\)=\(.)[^)]*+)
    | (?P<path>[/~.](?<![\w/.~<-].)(?:(?<=/)|\.?/)[^\s"'<>:,;()\[\]{{}}|`]++(?::[0-9]++)*+)
    | (?P<date>
        (?=[A-Z])(?<!\w)(?:{_DAY},?[ ])?+(?:[0-9]{{1,2}}[ ]{_MONTH}|{_MONTH}[ ][0-9]{{1,2}}\b)
        (?:,?[ ][0-9]{{4}}\b)?+(?:[ ]{_CLOCK})?+
      | [0-9](?<!\w.)[0-9]?+[ ]{_MONTH}(?:,?[ ][0-9]{{4}}\b)?+(?:[ ]{_CLOCK})?+
      )
    | (?<!\w)(?=[A-Za-z]*+[^\sA-Za-z,;!?)])(?:
        (?P<url>[A-Za-z][A-Za-z0-9+.-]{{1,20}}://[^\s"'<>`]*(?<![.,:;)\]}}]))
      | (?P<address>[^\s<>"'(),;:=@\[\]]++@[^\s<>"'(),;:@\[\]]++)
      | (?P<time>
          (?:[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?:[T ]{_CLOCK})?+|[0-9]{{1,2}}:[0-9]{{2}}:[0-9]{{2}}(?:[.,][0-9]++)?+)
          (?![\w-])
        )
      | (?P<id>(?:urn:uuid:)?+{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}(?!\w)|0x{_HEX}++)
      | (?P<file>
          (?=[\w.@+-]++/[\w.@+-]*+(?:/|(?<=\.[a-z]{{2}})|(?<=\.[a-z]{{3}})|(?<=\.[a-z]{{4}})))
          [\w.@+-]++(?:/[\w.@+-]*+)++(?::[0-9]++)*+
        | [A-Za-z]:\\[^\s"'<>|`]++
        )
      | (?P<host>
          (?:[0-9]{{1,3}}\.){{3}}[0-9]{{1,3}}(?:[:/][0-9]++)?+(?![\w.])
        | (?=[a-fA-F:]*+[0-9])(?:{_HEX}{{0,4}}:){{2,7}}{_HEX}{{1,4}}(?:%\w++)?+(?![\w:])
        )
      | (?P<name>
          (?=[a-z]|[0-9][a-z0-9_.-]*\.[a-z])[a-z0-9][a-z0-9_-]*+(?:\.[a-z0-9_][a-z0-9_-]++)++
          (?P<port>:[0-9]++)?+(?!\w|\.\w)
        )
      | (?P<token>
          (?<!-)(?![A-Za-z_-]*+[0-9]*+(?![\w-]))(?=(?:[A-Za-z_-]*+[0-9]){{3}})(?=[0-9_-]*+[A-Za-z])[\w-]{{10,}}+
        | (?=[0-9]*+[a-fA-F])(?=[a-fA-F]*+[0-9]){_HEX}{{7,}}+(?!\w)
        | (?=[A-Za-z+/_-]*+[0-9])[\w+/-]{{24,}}+=*+
        )
      )
    | (?P<n>
        [-+v0-9](?<![A-Za-z0-9].)(?<!\w\..)(?:(?<=[0-9])|(?=[0-9]))
        [0-9]*+(?:[.,_:/-][0-9]++)*+(?:[eE][-+]?+[0-9]++)?+(?:[ ]?(?:[munµ]?s|min|h|[KMGT]?i?B)\b|[\w-]*+)
      | [0-9](?:(?<=[A-Za-z]{{3}}.)|(?<=\b(?:db|pg|vm).))
        (?<!(?i:utf|sha|ase|int|oat|ttp|ipv|crc|aes|rsa|iso|tin).)[0-9]*+(?!\w)
      )
    """,
    re.X | re.A,
)
_code = re.compile(
    r"(?<!\w)(?:(?i:status|code|errno|error|signal|exit)(?: code| status)?(?:: |[ =\[-])|SQLSTATE[\[ ]|ORA-"
    r"|(?i:reason|cause|type|kind|class|state)=|Division by )\Z"
).search
_answer = re.compile(
    r"(?<!\w)(?:HTTP(?:/[0-9.]+)?|SMTP|(?i:status|returned|responded|with|got|answer|response)) \Z"
).search
_things = re.compile(r" [a-z]+s\b").match
_reason = re.compile(
    " (?:Bad|Unauthori[sz]ed|Forbidden|Not|Method|Request|Conflict|Gone|Payload|Unprocessable|Too|Internal|Service"
    r"|Gateway)\b"
).match
_NUMBERS = ("n", "value")
_SHOWN_AS = {"date": "time", "file": "path", "token": "id", "value": "text"}
_JOINS = r"[\s,;:|/=&+(){}\[\]<>#.-]*+"
_only_joins = re.compile(_JOINS).fullmatch
_side_by_side = re.compile(rf"\0(?:{_JOINS}\0)++")
_plural = re.compile(r"(\0 [a-z]{2,}?)(?:ies|es|y|s|e)?\b")


class Part(NamedTuple):
    """A piece of a message as it is printed. `varies`: this stands for what was set aside, and says what it was:
    text, url, address, host, name, path, time, id, n, hidden or bytes."""

    varies: bool
    text: str


class Key(NamedTuple):
    """What errors that are one have in common. `kind`: None for jobs that failed."""

    kind: Kind | None
    cls: str
    pattern: str


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """One error, for a page. `id` travels in links; `cls` and `parts` hold nothing that must not be shown.

    `kind`: None for jobs that failed; else what the entries are, and there is no class and no message. `JOB`: no error.
    """

    id: str
    kind: Kind | None
    cls: str
    parts: tuple[Part, ...]


def fingerprint(entry: Entry, redaction: Redaction) -> Fingerprint:
    """The error of an entry. Never raises."""
    key = key_of(entry, redaction)
    parts = () if key.kind else tuple(_parts(_text(entry, redaction)))
    return Fingerprint(id_of(key), key.kind, key.cls, parts)


def key_of(entry: Entry, redaction: Redaction) -> Key:
    """The same for all entries of one error, and quicker than their fingerprint."""
    if entry.kind is not Kind.JOB or entry.error is None:
        return Key(entry.kind, "", "")
    cls = to_text(redaction.redacted_text(error_class(entry.error)[:LONGEST_CLASS]).raw)
    return Key(None, _printable(cls), _pattern(_text(entry, redaction)))


def error_class(error: JobError) -> str:
    """The class of an error, or what there is in its place."""
    return error.cls or error.type or UNNAMED


def id_of(key: Key) -> str:
    """`<version>-<16 hex digits>`."""
    text = "\0\0".join((key.kind or "", key.cls, key.pattern))
    return f"{FINGERPRINT}-{hashlib.sha256(to_bytes(text)).hexdigest()[:16]}"


def version_of(text: str) -> int:
    """By which version an id was made. Raises ValueError for what is no id."""
    match = _id(text)
    if not match:
        raise ValueError(f"“{text[:80]}” is no fingerprint of an error.")
    return int(match[1])


def _text(entry: Entry, redaction: Redaction) -> str:
    """The beginning of the message: no controls in it, but marks where a value is hidden and where no text stands."""
    error = entry.error
    text = (error.message or error.cause if error else "")[:LONGEST_MESSAGE]
    if hidden := redaction.spans(to_bytes(text)):  # by the very text that pages show: a blank of ours would end a value
        raw, at, shown = to_bytes(text), 0, list[str]()
        for value in hidden:
            shown.append(to_text(raw[at : value.start]))
            at = value.end
        text = _HIDDEN.join(map(_printable, (*shown, to_text(raw[at:]))))
    else:
        text = _printable(text)
    text = " ".join(text.split())
    return text if text.isascii() else _no_text.sub(_BYTES, text)


def _printable(text: str) -> str:
    return text if text.isprintable() else _controls.sub(" ", text)


@lru_cache(1_024)  # jobs die again and again with the same words
def _pattern(text: str) -> str:
    """The same with \\0 where something is set aside."""
    text = _side_by_side.sub(_VARIES, _varies.sub(_marked, text))
    return _plural.sub(r"\1", text)[:LONGEST_PATTERN]


def _marked(match: re.Match[str]) -> str:
    return match[0] if match.lastgroup in _NUMBERS and _is_a_code(match) else _VARIES


def _is_a_code(number: re.Match[str]) -> bool:
    """Does it tell one error from another?"""
    digits, text, start, end = number[0], number.string, *number.span()
    before = text[max(0, start - 24) : start]
    if number.lastgroup == "value" or len(digits) > 5 or not digits.isdecimal():
        return number.lastgroup == "value" and _code(before) is not None
    if _code(before):
        return True
    is_http = len(digits) == 3 and digits[0] in "12345"
    return is_http and bool(_reason(text, end) or (_answer(before) and not _things(text, end)))


def _parts(text: str) -> Iterator[Part]:
    """The same to be printed. What stands side by side is named by its first."""
    at, varies = 0, False
    for match in _varies.finditer(text):
        if match.lastgroup in _NUMBERS and _is_a_code(match):
            continue
        between = text[at : match.start()]
        if not (varies and _only_joins(between)):
            if between:
                yield Part(False, between)
            yield Part(True, _named(match))
        at, varies = match.end(), True
    if text[at:]:
        yield Part(False, text[at:])


def _named(match: re.Match[str]) -> str:
    if match.lastgroup == "text" and (inside := _varies.fullmatch(match[0][1:-1])):
        match = inside
    name = match.lastgroup or ""
    return "host" if match["port"] else _SHOWN_AS.get(name, name)
