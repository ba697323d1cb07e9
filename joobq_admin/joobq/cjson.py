"""JSON exactly as Redis reads it (lua-cjson), and the places of an object's top-level members in its bytes.

JoobQ's scripts read an entry's queue with cjson, which takes much that other readers refuse (bytes that are no UTF-8,
raw control characters, `01`, `nan`, whatever follows a NUL) and refuses some that they take (lone surrogates, a byte
order mark). The counts per queue are right only if Python gives cjson's answer for every byte string.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import orjson

MAX_DEPTH = 1000  # cjson.decode_max_depth(1000), set at the head of every script that decodes

_STRING = (
    rb'"[^"\\\x00]*+(?:\\(?:["\\/bfnrt]|u(?:[0-9a-cefA-CEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2}'
    rb'|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}))[^"\\\x00]*+)*+"'
)
_NUMBER = (  # what strtod takes, once cjson has seen a first character of a number
    rb"(?=[-+0-9nNiI])[-+]?(?:0[xX](?:[0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?|\.[0-9a-fA-F]+)(?:[pP][-+]?[0-9]+)?"
    rb"|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
    rb"|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|[nN][aA][nN](?:\([0-9a-zA-Z_]*\))?)"
)
_string = re.compile(_STRING).match
_scalar = re.compile(_STRING + rb"|true|false|null|" + _NUMBER).match
_space = re.compile(rb"[ \t\n\r]*").match

_ESCAPE = re.compile(rb"\\(?:u([0-9a-fA-F]{4})(?:\\u([dD][c-fC-F][0-9a-fA-F]{2}))?|(.))", re.S)
_LETTERS = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}


class NotJSON(ValueError):
    """cjson would not take these bytes; the argument says what is wrong and where."""


class Member(NamedTuple):
    """One top-level member of an object: its key, unescaped, and where its value stands in the bytes."""

    key: bytes
    start: int
    end: int


def queue_of(raw: bytes) -> bytes:
    """The queue that an entry names: the string under its last top-level `queue` as cjson decodes it, else b''."""
    try:
        job = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return _queue_by_scan(raw)
    if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH:
        return _queue_by_scan(raw)
    queue = job.get("queue") if isinstance(job, dict) else None
    return queue.encode() if isinstance(queue, str) else b""


def _queue_by_scan(raw: bytes) -> bytes:
    queue = b""
    try:
        for member in scan(raw):
            if member.key == b"queue":
                text = raw[member.start : member.end]
                queue = unescape(text) if text[:1] == b'"' else b""
    except NotJSON:
        return b""
    return queue


def scan(raw: bytes) -> list[Member]:
    """The top-level members of a document, in order, as cjson reads it; [] when it is no object. Raises NotJSON.

    Without recursion: nesting costs a list, not a stack.
    """
    if len(raw) >= 2 and 0 in raw[:2]:
        raise NotJSON("UTF-16 or UTF-32")
    raw, _, _ = raw.partition(b"\0")  # cjson stops there; a string that is cut so is unclosed, an error there too
    found: list[Member] = []
    open_brackets: list[bytes] = []
    key, start, at = b"", 0, _skip(raw, 0)
    wants_value = True
    while True:
        if wants_value:
            first = raw[at : at + 1]
            if first in (b"{", b"["):
                if len(open_brackets) >= MAX_DEPTH:
                    raise NotJSON(f"nested deeper than {MAX_DEPTH} at byte {at}")
                if len(open_brackets) == 1:
                    start = at
                open_brackets.append(first)
                at = _skip(raw, at + 1)
                if raw[at : at + 1] != (b"}" if first == b"{" else b"]"):
                    if first == b"{":
                        text, at = _key(raw, at)
                        key = text if len(open_brackets) == 1 else key
                    continue
            else:
                match = _scalar(raw, at)
                if not match:
                    raise NotJSON(f"no value at byte {at}")
                if len(open_brackets) == 1 and open_brackets[0] == b"{":
                    found.append(Member(unescape(key), at, match.end()))
                at = match.end()
                if not open_brackets:
                    break
                at = _skip(raw, at)
        wants_value = False
        closer = raw[at : at + 1]
        if closer == b",":
            at = _skip(raw, at + 1)
            if open_brackets[-1] == b"{":
                text, at = _key(raw, at)
                key = text if len(open_brackets) == 1 else key
            wants_value = True
        elif (closer, open_brackets[-1]) in ((b"}", b"{"), (b"]", b"[")):
            open_brackets.pop()
            at += 1
            if not open_brackets:
                break
            if len(open_brackets) == 1 and open_brackets[0] == b"{":
                found.append(Member(unescape(key), start, at))
            at = _skip(raw, at)
        else:
            raise NotJSON(f"no comma or closing bracket at byte {at}")
    if _skip(raw, at) != len(raw):
        raise NotJSON(f"more text at byte {at}")
    return found


def is_object(raw: bytes) -> bool:
    """Does cjson read one JSON object?"""
    try:
        scan(raw)
    except NotJSON:
        return False
    return raw.lstrip(b" \t\n\r")[:1] == b"{"


def _skip(raw: bytes, at: int) -> int:
    match = _space(raw, at)
    assert match  # matches nothing at least
    return match.end()


def _key(raw: bytes, at: int) -> tuple[bytes, int]:
    """The key that begins here, quotes included, and where its value begins."""
    match = _string(raw, at)
    if not match:
        raise NotJSON(f"no key at byte {at}")
    colon = _skip(raw, match.end())
    if raw[colon : colon + 1] != b":":
        raise NotJSON(f"no colon at byte {colon}")
    return match[0], _skip(raw, colon + 1)


def unescape(text: bytes) -> bytes:
    """The bytes that a JSON string stands for, quotes included in `text`, as cjson writes them out."""
    return _ESCAPE.sub(_unescaped, text[1:-1]) if b"\\" in text else text[1:-1]


def _unescaped(match: re.Match[bytes]) -> bytes:
    if match[3]:
        return _LETTERS.get(match[3], match[3])
    code, low = int(match[1], 16), match[2]
    if 0xD800 <= code < 0xDC00 and low:
        return chr(0x10000 + ((code - 0xD800) << 10) + (int(low, 16) - 0xDC00)).encode()
    return chr(code).encode("utf-8", "surrogatepass") + (b"\\u" + low if low else b"")


# What follows is for documents that a strict reader took first: brackets then only need to be counted outside strings.
_LOOSE_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_strict_key = re.compile(rb"[ \t\n\r]*+(" + _LOOSE_STRING + rb")[ \t\n\r]*+:[ \t\n\r]*+", re.S).match
_strict_scalar = re.compile(_LOOSE_STRING + rb'|[^\s,{}\[\]"]++', re.S).match
_bracket = re.compile(rb'[^"{}\[\]]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"{}\[\]]*+)*+([{}\[\]])', re.S).match
_separator = re.compile(rb"[ \t\n\r]*+([,}])").match


def strict_members(raw: bytes) -> Iterator[Member]:
    """The top-level members of an object that a strict JSON reader took. On anything else the answer means nothing."""
    at = raw.index(b"{") + 1
    while match := _strict_key(raw, at):
        key, start = unescape(match[1]), match.end()
        end = start
        if raw[start] in b"{[":
            depth, end = 1, start + 1
            while depth and (bracket := _bracket(raw, end)):
                depth += 1 if bracket[1] in b"{[" else -1
                end = bracket.end()
        elif scalar := _strict_scalar(raw, start):
            end = scalar.end()
        yield Member(key, start, end)
        separator = _separator(raw, end)
        if not separator or separator[1] == b"}":
            return
        at = separator.end()


def deeper_than(limit: int, raw: bytes) -> bool:
    """Is a document that a JSON reader took nested deeper than `limit`?"""
    return raw.count(b"[") + raw.count(b"{") > limit and depth(raw) > limit


def depth(raw: bytes) -> int:
    """How deep a document that a JSON reader took is nested."""
    deep = deepest = at = 0
    while bracket := _bracket(raw, at):
        deep += 1 if bracket[1] in b"{[" else -1
        deepest = max(deepest, deep)
        at = bracket.end()
    return deepest
