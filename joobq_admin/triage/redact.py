"""What must not leave the process: the values of fields that are named like secrets, found in an entry's own bytes.

The bytes are searched, not parsed: one rule for JSON of any depth, for what is malformed or cut short, for JSON kept as
a string inside JSON (a placeholder's `original_job_data`) and for prose (`password=…` in a message). After a name comes
`:`, `=` or `=>`; then the value, which is a string, an object or list (hidden whole) or one word. An address loses its
password too (`redis://:…@host`). What has no name, or another one, cannot be known and is not hidden. null is shown: it
is the absence of a value. Hidden bytes keep their length, so they still tell how long a value is.

All of it is linear in the bytes and without recursion. A part of an entry may be searched instead of the whole: a value
that is cut is hidden as far as it goes.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from joobq_admin.joobq.entry import OWN_FIELDS, to_bytes, to_text

#: `*` stands for any letters or digits. Short names go without: `discard` is no card, `shipping` no pin.
DEFAULT_PATTERNS = (
    *("*password*", "*passwd*", "*passphrase*", "pass", "pwd", "*secret", "*token", "authorization", "basic_auth"),
    *("bearer", "jwt", "cookie", "session_id", "credential", "otp", "pin", "passport", "ssn", "iban", "account_number"),
    *("*api_key", "access_key", "secret_key", "private_key", "signing_key", "encryption_key"),
    *("card", "cardn*", "credit_card*", "debit_card*", "pan", "cvv", "cvc"),
)

# A text of level n has been freed of its escapes n times. In it three bytes, which it no longer holds itself, stand for
# the quotes of the level above, beyond which no value reaches, and for this level's escaped backslashes and quotes.
LEVELS = 12  # on the last one a quote is written with 4,095 backslashes
_EDGE, _BACKSLASH, _QUOTE = b"\x01", b"\x02", b"\x03"
_WITHOUT_MARKS = bytes.maketrans(_EDGE + _BACKSLASH + _QUOTE, b"\0\0\0")
_NEXT_LEVEL = bytes.maketrans(b'"' + _BACKSLASH + _QUOTE, _EDGE + b'\\"')
_ESCAPES = {rb"\\": _BACKSLASH, rb"\"": _QUOTE, rb"\/": b"/", rb"\b": b"\0", rb"\f": b"\0"}
_ESCAPES |= {rb"\n": b"\n", rb"\r": b"\r", rb"\t": b"\t"}
_CODE = rb"\\u(?:([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|([0-9a-fA-F]{4}))"
_code = re.compile(_CODE)
_escape = re.compile(_CODE + rb'|\\["\\/bfnrt]')

# Do quotes stand where they have to, so that it is known what is a string and what is not? The end may be missing.
_aligned = re.compile(
    rb'[^"]*+(?:(?<![^\[{(,:=>\s])"[^"]*+"(?=\s*+(?:[,:;=>)}\]]|\Z))[^"]*+)*+(?:(?<![^\[{(,:=>\s])"[^"]*+)?\Z'
).match
# In `CardError: declined` and `Token::Expired` an error's class is named, and no field.
_NAME = (
    rb"(?<![\w\x80-\xff-])([\w\x80-\xff-]++)(?<!Error)(?<!Exception)(?!::)"
    rb"\x02*+[\"'\x03]?+[ \t]*+[:=][:=> \t]*+()"
)
_quoted_key = re.compile(rb'"(?=([^"]*+)"\s*+[:=][:=>\s]*+())')
_name = re.compile(_NAME)
_name_outside_strings = re.compile(rb'"[^"]*+"?|' + _NAME)
_address = re.compile(rb'://[^\s/:@"]*+:([^\s/"]+)@')
_value = re.compile(
    # a quote that a letter follows ends no string
    rb"\"(?P<text>[^\"]*+(?:\"(?=[\w\x80-\xff])[^\"]*+)*+)"
    rb"|\x02*+\x03(?P<inner>(?:[^\"\x02\x03]++|\x02++(?!\x03))*+)"
    rb"|'(?P<said>[^'\n]*+)"
    rb"|(?P<open>[{\[])"
    rb"|(?P<word>(?:(?i:basic|bearer|digest|negotiate|token) ++)?[^\s\",;&)\]}]++)"
)
_bracket = re.compile(rb'(?:[^"{}\[\]]++|"[^"]*+"?)*+([{}\[\]]|\Z)')
_NOTHING = (b"null", b"nil", b"None")
_number = re.compile(rb"-?[0-9.]+(?:[eE][-+]?[0-9]+)?").fullmatch

_LOWER = bytes(range(256)).lower()
_NO_WORD = bytes(c for c in range(128) if not chr(c).isalnum())
_escaped_ascii = re.compile(rb"\\u00[2-7]").search
_slashes = re.compile(rb":\\*/\\*/").search
_plain_name = re.compile(rb"[\w .-]{1,64}").fullmatch
_spaces = re.compile(r"[ -/:-@\[-`{-\x7f]+")
_other_signs = re.compile(r"[^ -~\w]")
_camel = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class Hidden(NamedTuple):
    """A value that is not shown: where it stands in the bytes, its field's name, and what it is ("22 characters")."""

    start: int
    end: int
    name: str
    what: str


class Redacted(NamedTuple):
    """Bytes that may be shown: every hidden value in them is `*`, byte for byte. `Redacted(raw, ())` hides nothing."""

    raw: bytes
    hidden: tuple[Hidden, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The fields that are hidden, each once, in their order."""
        return tuple(dict.fromkeys(hidden.name for hidden in self.hidden))

    def part(self, start: int) -> "Redacted":
        """What begins at `start`."""
        later = (hidden._replace(start=hidden.start - start, end=hidden.end - start) for hidden in self.hidden)
        return Redacted(self.raw[start:], tuple(hidden for hidden in later if hidden.start >= 0))


class Redaction:
    """The rule: which names are secrets, by patterns.

    A name matches when one of its words, or some that follow each other, are the letters of a pattern: `card_number`,
    `cardNumber` and `X-Cards-2` are cards, `discard` is not. Case, plural and trailing digits do not matter.
    Raises ValueError for a pattern without letters, and for one that would hide a field of JoobQ's own.
    """

    def __init__(self, patterns: Iterable[str] = DEFAULT_PATTERNS) -> None:
        letters = [[_words(part).strip("_").replace("_", "") for part in pattern.split("*")] for pattern in patterns]
        self._needles = _shortest(max(parts, key=len).encode() for parts in letters)
        if not all(self._needles):
            raise ValueError("a pattern needs letters or digits")
        either = "|".join("[^_]*".join("_?".join(part) for part in parts) for parts in letters)
        self._secret = re.compile(f"_(?:{either})(?:e?s)?[0-9]*_" if either else "(?!)").search
        self._remembered = lru_cache(4096)(self._matches)
        self._always_search = not all(needle.isascii() for needle in self._needles)
        for name in sorted(OWN_FIELDS):
            if self.hides(name):
                raise ValueError(f"the patterns would hide {name}, a field of JoobQ's own")

    def hides(self, name: str | bytes) -> bool:
        """Is this the name of a secret?"""
        return self._remembered(name) if len(name) < 200 else self._matches(name)

    def redacted(self, raw: bytes) -> Redacted:
        """An entry's bytes, or a part of them, without its secrets."""
        hidden = tuple(self.spans(raw))
        if not hidden:
            return Redacted(raw, ())
        shown = bytearray(raw)
        for start, end, _, _ in hidden:
            shown[start:end] = b"*" * (end - start)
        return Redacted(bytes(shown), hidden)

    def redacted_text(self, text: str) -> Redacted:
        """The same for text that was read out of an entry: a message, a line of a backtrace."""
        return self.redacted(to_bytes(text))

    def spans(self, raw: bytes) -> list[Hidden]:
        """The places of the values to hide, in order, none overlapping another."""
        if not self._may_hold_secrets(raw):
            return []
        levels: list[tuple[bytes, list[Hidden]]] = []
        text = raw.translate(_WITHOUT_MARKS)
        while len(levels) < LEVELS:
            plain = _unescaped(text)
            levels.append((text, list(self._search(plain))))
            if _BACKSLASH not in plain and _QUOTE not in plain and b'"' not in plain:
                break
            text = plain.translate(_NEXT_LEVEL)
        found: list[Hidden] = []
        for text, spans in reversed(levels):
            found = _with_escapes(text, found + spans)
        return _merged(found)

    def _may_hold_secrets(self, raw: bytes) -> bool:
        """Quick, and true rather too often: are the letters of a pattern in these bytes, or may escapes hold them?"""
        if b":" not in raw and b"=" not in raw and b"\\u00" not in raw:
            return False
        letters = raw.translate(_LOWER, _NO_WORD)
        for needle in self._needles:
            if needle in letters:
                return True
        return self._always_search or _escaped_ascii(raw) is not None or (b"@" in raw and _slashes(raw) is not None)

    def _search(self, text: bytes) -> Iterator[Hidden]:
        """The values to hide on one level; between edges each stretch is a text of its own."""
        at = 0
        for stretch in text.split(_EDGE):
            if b":" in stretch or b"=" in stretch:
                yield from self._search_stretch(stretch, at)
            at += len(stretch) + 1

    def _search_stretch(self, text: bytes, at: int) -> Iterator[Hidden]:
        aligned = _aligned(text) is not None  # then what is in strings can wait for the next level
        for keys in (_quoted_key, _name_outside_strings if aligned else _name):
            done = 0
            for key in keys.finditer(text):
                name = key[1]
                if name is None or key.start(2) < done or not self.hides(name):
                    continue
                value = _value.match(text, key.start(2))
                if not value or value["word"] in _NOTHING:
                    continue
                start, done = value.span(value.lastindex or 0)
                if value["open"]:
                    done = _closing(text, start) if aligned else len(text)
                if start < done:
                    yield Hidden(at + start, at + done, self._named(name), _what(text[start:done], value.lastgroup))
        for address in _address.finditer(text):
            start, done = address.span(1)
            yield Hidden(at + start, at + done, "password", _what(address[1], "text"))

    def _matches(self, name: str | bytes) -> bool:
        return self._secret(_words(name if isinstance(name, str) else to_text(name))) is not None

    def _named(self, name: bytes) -> str:
        """A field's name as it may be told. Where quotes are amiss it may hold more: then what matched of it."""
        if _plain_name(name):
            return name.decode()
        match = self._secret(_words(to_text(name)))
        return match[0].strip("_") if match else ""


def _words(name: str) -> str:
    """`_credit_card_number_`, however it is spelled. Any other sign becomes two `_`: no pattern goes across them."""
    words = _spaces.sub("_", _camel.sub("_", name))
    return f"_{_other_signs.sub('__', words).lower()}_"


def _shortest(needles: Iterable[bytes]) -> list[bytes]:
    """Those that contain no other."""
    kept: list[bytes] = []
    for needle in sorted(set(needles), key=len):
        if not any(other in needle for other in kept):
            kept.append(needle)
    return kept


def _unescaped(text: bytes) -> bytes:
    if b"\\" not in text:
        return text
    for escape, character in _ESCAPES.items():  # pairs of backslashes first: then every other one begins an escape
        text = text.replace(escape, character)
    return _code.sub(_character, text) if b"\\u" in text else text


def _character(escape: re.Match[bytes]) -> bytes:
    high, low, code = escape[1], escape[2], escape[3]
    if high:
        return chr(0x10000 + ((int(high, 16) & 0x3FF) << 10 | int(low, 16) & 0x3FF)).encode()
    if code is None:
        return _ESCAPES[escape[0]]
    character = chr(int(code, 16))
    if "\ud800" <= character <= "\udfff":
        return escape[0]
    return {"\\": _BACKSLASH, '"': _QUOTE, "\1": b"\0", "\2": b"\0", "\3": b"\0"}.get(character) or character.encode()


def _with_escapes(text: bytes, spans: list[Hidden]) -> list[Hidden]:
    """The same places, found in `_unescaped(text)`, in `text` itself."""
    if not spans or b"\\" not in text:
        return spans
    edges = sorted({edge for span in spans for edge in span[:2]}, reverse=True)
    place: dict[int, int] = {}
    longer = 0
    for escape in _escape.finditer(text):
        while edges and edges[-1] + longer <= escape.start():
            edge = edges.pop()
            place[edge] = edge + longer
        if not edges:
            break
        longer += len(escape[0]) - len(_character(escape))
    place |= {edge: edge + longer for edge in edges}
    return [span._replace(start=place[span.start], end=place[span.end]) for span in spans]


def _closing(text: bytes, at: int) -> int:
    """Where the object or list that opens at `at` ends: behind its bracket, or where the text is cut."""
    depth = 0
    for bracket in _bracket.finditer(text, at):
        depth += 1 if bracket[1] in (b"{", b"[") else -1
        if not depth:
            return bracket.end()
    return len(text)


def _merged(spans: list[Hidden]) -> list[Hidden]:
    merged: list[Hidden] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if merged and span.start < merged[-1].end:
            merged[-1] = merged[-1]._replace(end=max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return merged


def _what(value: bytes, kind: str | None) -> str:
    if kind == "open":
        return "an object" if value[:1] == b"{" else "a list"
    if kind == "word" and value in (b"true", b"false"):
        return "true or false"
    if kind == "word" and _number(value):
        return "a number"
    count = len(value.decode("utf-8", "replace"))
    return f"{count:,} character{'s' * (count != 1)}"
