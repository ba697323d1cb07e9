"""What a template prints of an entry, as lists of (kind, text) for ui/_tokens.html. Never HTML.

Kinds: `k s n c p` = key, string, number, constant, punctuation of JSON; `hid` = a hidden value; `byte` = one that is no
UTF-8, `\\xff`; `ctl` = a character that cannot be seen or that moves others, `U+202E`; '' = plain. Every text can be
sent as UTF-8. An entry's bytes are taken as `Redacted` only: who prints some must have asked what is to be hidden.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from joobq_admin.joobq.cjson import strict_members
from joobq_admin.joobq.entry import OWN_FIELDS, Entry, to_bytes, to_text
from joobq_admin.triage.redact import Redacted, Redaction

Token = tuple[str, str]
Tokens = list[Token]

ENDLESS = 10**12  # characters
FEW = 50  # arguments
DEEPEST_INDENT = 32  # levels; the rest stand below each other, else depth 5,000 would be 25 MB of blanks
CUT = ("", "…")

# Controls but tab and newline; what directs, joins, separates, fills or annotates text and is not seen; surrogates.
_unseen = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_written_surrogate = re.compile("\udced[\udca0-\udcbf][\udc80-\udcbf]")
_escape = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|([\"\\/bfnrt]))"
)
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_lexeme = re.compile(
    rb'(?P<space>[ \t\n\r]++)|(?P<s>"[^"\\]*+(?:\\.[^"\\]*+)*+"?)(?P<colon>[ \t\n\r]*+:)?+|(?P<n>-?[0-9][-+.0-9eE]*+)'
    rb"|(?P<c>true|false|null)|(?P<open>[{\[])(?P<empty>[ \t\n\r]*+[}\]])?+|(?P<close>[}\]])|(?P<comma>,)"
    rb'|(?P<other>:|[^ \t\n\r"{}\[\],:]++)',
    re.S,
)
_READABLE = bytes(byte if 32 <= byte < 127 else ord(".") for byte in range(256))
_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def text(value: str | Redacted, longest: int = ENDLESS) -> Tokens:
    """Text as it is, newlines kept; cut behind `longest` characters, which … then says."""
    shown = value if isinstance(value, Redacted) else Redacted(to_bytes(value), ())
    return _quickly("", shown.raw, shown, longest) or _Paper(shown, longest).print_to(len(shown.raw)).tokens()


def copyable(raw: bytes) -> str:
    """The very text of these bytes, as an attribute can carry it; '' where it cannot."""
    if b"\0" in raw or b"\r" in raw:
        return ""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return ""


def plain(value: str | Redacted, longest: int = ENDLESS) -> str:
    """The same in one string, for where no spans can be: titles, attributes."""
    return "".join(word for _, word in text(value, longest))


def inline(value: Redacted, longest: int = ENDLESS) -> Tokens:
    """One JSON value in one run: a string as what it stands for (an empty one by its quotes), all else by its bytes."""
    raw = value.raw
    if raw == b'""':
        return [("", '""')]
    if raw[:1] != b'"':
        kind = "n" if raw[:1].isdigit() or raw[:1] == b"-" else "c" if raw in (b"true", b"false", b"null") else ""
        return _quickly(kind, raw, value, longest) or _Paper(value, longest).print_to(len(raw), kind).tokens()
    end = len(raw) - raw.endswith(b'"', 1)
    if b"\\" not in raw and (tokens := _quickly("", raw[1:end], value, longest)):
        return tokens
    return _Paper(value, longest, 1, _unescaped).print_to(end).tokens()


def arguments(entry: Entry, redaction: Redaction, longest: int = ENDLESS) -> Iterator[tuple[str, Tokens]]:
    """The job's own fields, names and values, in their order; each name and value cut behind `longest` characters.

    Made as they are asked for: a job may have 100,000.
    """
    for name, member, at in _members(entry):
        if redaction.hides(name):
            tokens = inline(redaction.redacted(member).part(at), longest)
        else:  # no more of it than could be printed: a character takes up to 12 bytes
            enough = at + 12 * (longest + 2)
            tokens = inline(redaction.redacted(member[at:enough]), longest)
            if enough < len(member) and tokens[-1] != CUT:
                tokens.append(CUT)
        yield plain(redaction.redacted_text(name), longest), tokens


def _members(entry: Entry) -> Iterable[tuple[str, bytes, int]]:
    """The job's own fields: the name, the member's bytes, and where in these the value begins."""
    if not entry.arguments:
        return []
    try:  # most jobs are written like this, behind JoobQ's fields: quicker to see than to look for
        few = entry.arguments if len(entry.arguments) <= FEW else {}
        fields = [(name, _written(name) + b":", _written(value)) for name, value in few.items()]
    except (ValueError, RecursionError):
        fields = []
    if fields and entry.raw.endswith(b"," + b",".join([key + value for _, key, value in fields]) + b"}"):
        return [(name, key + value, len(key)) for name, key, value in fields]
    return _looked_for(entry.raw)


def _looked_for(raw: bytes) -> Iterator[tuple[str, bytes, int]]:
    at = 0
    for member in strict_members(raw):
        name = to_text(member.key)
        if name not in OWN_FIELDS:
            yield name, raw[at : member.end], member.start - at
        at = member.end


def _written(value: Any) -> bytes:
    return to_bytes(repr(value) if type(value) in (int, float) else _compact(value))


def json_pretty(value: Redacted, longest: int) -> tuple[Tokens, int]:
    """An entry as JSON, a line a member, and how many of its bytes are left out once `longest` characters are printed.

    Key order, numbers and escapes are the entry's own: lexemes are printed as they stand, only the blanks between them
    are ours. So nothing is too malformed to be printed. What is neither an object nor a list is printed as text.
    """
    raw, paper = value.raw, _Paper(value, longest)
    if raw.lstrip(b" \t\n\r")[:1] not in (b"{", b"["):
        return paper.print_to(len(raw)).tokens(), len(raw) - paper.at
    depth, after_value = 0, False
    while not paper.full and (lexeme := _lexeme.match(raw, paper.at)):
        kind, end = lexeme.lastgroup or "", lexeme.end()
        if kind in ("open", "close", "comma"):
            depth = max(0, depth + (kind == "open") - (kind == "close"))
            line, sign = "\n" + "  " * min(depth, DEEPEST_INDENT), lexeme[0].decode()
            paper.mark("p", line + sign if kind == "close" else sign + line, end)
        elif kind == "empty":
            paper.mark("p", lexeme["open"].decode() + chr(raw[end - 1]), end)
        elif kind == "colon":
            paper.print_to(lexeme.end("s"), "k")
            paper.mark("p", ": ", end)
        elif kind == "space":
            paper.mark("", " " if after_value and raw[end : end + 1] not in (b",", b"}", b"]", b"") else "", end)
        else:
            paper.print_to(end, kind if kind != "other" else "")
        after_value = kind in ("s", "n", "c", "other", "close", "empty")
    return paper.tokens(), len(raw) - paper.at


def hex_lines(value: Redacted, most: int) -> list[tuple[str, str, str]]:
    """The exact bytes, 16 a line: where they stand, in hex, and as ASCII with a dot for the rest. `most`: lines."""
    lines = [(at, value.raw[at : at + 16]) for at in range(0, min(len(value.raw), most * 16), 16)]
    return [
        (f"{at:06x}", f"{line[:8].hex(' '):<23}  {line[8:].hex(' '):<23}", line.translate(_READABLE).decode())
        for at, line in lines
    ]


def _quickly(kind: str, raw: bytes, value: Redacted, longest: int) -> Tokens:
    """For a row's sake: what is short, all to be seen and not hidden. Else []."""
    if value.hidden or len(raw) > longest:
        return []
    words = to_text(raw)
    return [(kind, words)] if words and not _unseen.search(words) else []


def _decoded(raw: bytes) -> str:
    """Bytes as text: those that are no UTF-8 as U+DC80 to U+DCFF, any other surrogate as itself."""
    words = to_text(raw)
    if "\udced" not in words:
        return words
    return _written_surrogate.sub(lambda found: to_bytes(found[0]).decode("utf-8", "surrogatepass"), words)


def _unescaped(raw: bytes) -> str:
    """What JSON writes so. A lone surrogate stays written: it stands for no character."""
    return _escape.sub(_character, _decoded(raw))


def _character(escape: re.Match[str]) -> str:
    high, low, code, letter = escape.groups()
    if high:
        return chr(0x10000 + ((int(high, 16) & 0x3FF) << 10 | int(low, 16) & 0x3FF))
    if letter:
        return _LETTERS.get(letter, letter)
    character = chr(int(code, 16))
    return escape[0] if "\ud800" <= character <= "\udfff" else character


class _Paper:
    """What is printed of `value`, from byte `at` on, while there is room: `room` characters. Likes are joined."""

    def __init__(self, value: Redacted, room: int, at: int = 0, read: Callable[[bytes], str] = _decoded) -> None:
        self.at = at
        self.full = False
        self._raw, self._hidden = value
        self._next_hidden = 0
        self._room = room
        self._read = read
        self._runs: list[tuple[str, list[str]]] = []

    def tokens(self) -> Tokens:
        """What was printed; an … at the end when there was no room for all."""
        printed = [(kind, "".join(words)) for kind, words in self._runs]
        return [*printed, CUT] if self.full else printed

    def print_to(self, end: int, kind: str = "") -> "_Paper":
        """Prints the bytes up to `end`, values that are hidden as such."""
        while self.at < end and not self.full:
            hidden = self._hidden[self._next_hidden] if self._next_hidden < len(self._hidden) else None
            if hidden and hidden.start <= self.at:
                self.mark("hid", f"hidden, {hidden.what}", hidden.end)
                self._next_hidden += 1
            else:
                self._print(min(end, hidden.start) if hidden else end, kind)
        return self

    def mark(self, kind: str, word: str, end: int) -> None:
        """Prints `word` for the bytes up to `end`: all of it, or nothing when it does not fit."""
        self.full = self.full or len(word) > self._room
        if self.full:
            return
        self.at = end
        self._room -= len(word)
        if self._runs and self._runs[-1][0] == kind and kind not in ("hid", "byte", "ctl"):
            self._runs[-1][1].append(word)
        elif word:
            self._runs.append((kind, [word]))

    def _print(self, end: int, kind: str) -> None:
        words = self._read(self._raw[self.at : min(end, self.at + 12 * (self._room + 2))])
        at = 0
        for unseen in _unseen.finditer(words):
            self._print_seen(kind, words[at : unseen.start()])
            code = ord(unseen[0])
            kind_and_name = (
                ("byte", f"\\x{code - 0xDC00:02x}") if 0xDC80 <= code <= 0xDCFF else ("ctl", f"U+{code:04X}")
            )
            self.mark(*kind_and_name, self.at + len(to_bytes(unseen[0])))
            if self.full:
                return
            at = unseen.end()
        self._print_seen(kind, words[at:])
        if not self.full:
            self.at = end

    def _print_seen(self, kind: str, words: str) -> None:
        fitting = words[: self._room]
        self.mark(kind, fitting, self.at + len(to_bytes(fitting)))
        self.full = self.full or len(fitting) < len(words)
