"""What chance makes of entries. Everything follows from the Random that is given: the same seed, the same bytes.

`mutated` spoils an entry in a few places, `job` makes one by JoobQ's own grammar with the wildest values, `made` makes
JSON that readers disagree about, `fuzzed` is any of these.
"""

from collections.abc import Iterable
from random import Random

from tests.support.real_entries import REAL

UUID = b"0b8f7b60-5f0c-4b07-9d52-2b6d3b1f8a01"

# What is put into entries: members, pieces of members, and bytes that only some readers take.
_MEMBERS = rb"""
"status":"dead" "st\u0061tus":"DEAD" "status":7 "retries":0 "retries":2 "max_retries":5 "expires":1 "jid":null "jid":"x"
"error":null "error":{"a":[]} "queue":"other" "q\u0075eue":"y" "queue":3 "a":{"status":1} "x":"\"status\""
""".split()
_PIECES = (
    *rb"""" { } [ ] , : \ 1 - + 0 .5 e9 null NaN 01 inf 1e400 \u0061 \u00 \ud800 \udc00 \ud83d\ude00 \/ \x""".split(),
    *(b" ", b"\t", b"\n", b"\0", b"\x01", b"\x1f", b"\x7f"),
    *(b"\xff", b"\xe2\x82", b"\xed\xa0\x80", b"\xc0\x80", b"\xef\xbb\xbf", b"\xc2\xa0"),
    *(member + b"," for member in _MEMBERS),
)

_SPACE = (b"", b"", b"", b"", b" ", b"\n", b"\r\n\t")
_LETTERS = (
    *rb"""a queue Z9 { ] , : / \" \\ \/ \b \f \n \r \t \u0000 \u0041 \u00e9 \uFFFF \ud83d\ude00 \uDBFF\uDFFF""".split(),
    *(rb"\ud7ff", rb"\ue000", b"\x7f", b"\xc3\xbc", b"\xe2\x82\xac", b"\xf0\x9f\x98\x80"),
)
_WILD_LETTERS = (
    *rb"""\ud800 \udc00 \udc00\ud800 \ud800\u0041 \u00 \x \U0041 \'""".split(),
    *(b"\\\n", b"\0", b"\x01", b"\t", b"\n", b"\x1f"),
    *(b"\xff", b"\x80", b"\xe2\x82", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80"),
)
_NUMBERS = (
    *b"0 -0 7 -1 3.0 0.5 -0.0 1e5 1E+5 2.5e-7 1.0e+21 19.10 1795955390586 2147483647 2147483648".split(),
    *b"-2147483648 -2147483649 9007199254740993 9223372036854775807 9223372036854775808 -9223372036854775808".split(),
    *(b"18446744073709551616", b"1" * 60),
)
_WILD_NUMBERS = (
    *b"nan -nan NaN +NaN NAN nan(1) nan( inf -inf INF Infinity -Infinity infinit nul True Nulls nullnull".split(),
    *b"+1 01 -01 00 1. -.5 .5 +.5 1e 1e+ 1.e5 --1 - + 1_0 1x 1.5.5 1e5e5 1e400 -1e400".split(),
    *b"0x10 0X1F -0x10 0x 0x.8 0x1p4 0x1p 0x1.8P-1 0x1.g".split(),
    *(b"1" * 400, b"1" * 5000, b"0" * 30),
)
_KEYS = b"queue jid status retries max_retries expires error to original_job_data".split()


def mutated(chance: Random, raw: bytes) -> bytes:
    """`raw` with one to three changes: something put in, some bytes lost, a member more, its end cut off."""
    for _ in range(chance.randrange(1, 4)):
        at, how = chance.randrange(len(raw) + 1), chance.random()
        comma = raw.find(b",", at) + 1
        if how < 0.4:
            raw = raw[:at] + chance.choice(_PIECES) + raw[at:]
        elif how < 0.5:
            raw = raw[:at] + bytes((chance.randrange(256),)) + raw[at + chance.randrange(2) :]
        elif how < 0.6:
            raw = raw[:at] + raw[at + chance.randrange(1, 5) :]
        elif how < 0.75 and comma:
            raw = raw[:comma] + chance.choice(_MEMBERS) + b"," + raw[comma:]
        elif how < 0.9:
            raw = raw[:-1] + b"," + chance.choice(_MEMBERS) + raw[-1:]
        elif how < 0.95:
            raw += chance.choice((b"\0", b"\0}", b" ", b"\n", b"x", b"}", b"\0" + raw))
        elif how < 0.98:
            raw = chance.choice((b" ", b"\xef\xbb\xbf", b"\0", b"[", b"\xa0", b"//")) + raw
        else:
            raw = raw[:at]
    return raw


def text(chance: Random, wild: bool = False) -> bytes:
    """A JSON string; when `wild`, also such as readers disagree about."""
    letters = _LETTERS + _WILD_LETTERS if wild and chance.random() < 0.3 else _LETTERS
    return b'"' + b"".join(chance.choices(letters, k=chance.randrange(8))) + b'"'


def key(chance: Random, wild: bool = False) -> bytes:
    """A key, as often as not one that JoobQ writes, sometimes with a letter as an escape."""
    if chance.random() < 0.4:
        return text(chance, wild)
    name = chance.choice(_KEYS)
    if chance.random() < 0.2:
        at = chance.randrange(len(name))
        name = name[:at] + b"\\u%04x" % name[at] + name[at + 1 :]
    return b'"' + name + b'"'


def value(chance: Random, wild: bool = False, room: int = 4) -> bytes:
    """Any JSON value, nested at most `room` deep."""
    how = chance.random()
    if how < 0.35:
        return text(chance, wild)
    if how < 0.65:
        return chance.choice(_NUMBERS + _WILD_NUMBERS if wild and chance.random() < 0.4 else _NUMBERS)
    if how < 0.8 or not room:
        return chance.choice((b"null", b"true", b"false"))
    if how < 0.9:
        items = (value(chance, wild, room - 1) for _ in range(chance.randrange(4)))
        return _spaced(chance, b"[", items, b"]")
    return an_object(chance, wild, room - 1)


def an_object(chance: Random, wild: bool = False, room: int = 4) -> bytes:
    """A JSON object, of which a key may stand twice."""
    members = (_member(chance, key(chance, wild), value(chance, wild, room)) for _ in range(chance.randrange(6)))
    return _spaced(chance, b"{", members, b"}")


def job(chance: Random) -> bytes:
    """An entry as JoobQ could write it, or as somebody else did: keys in any order, doubled, values of any kind."""
    usual = {
        b"jid": (b'"' + UUID + b'"', b'"' + UUID.upper() + b'"', b"null"),
        b"queue": (b'"emails"', b'"\\u0065mails"', b'"unicode:m\xc3\xbcller"', b'"\xff"'),
        b"retries": (b"0", b"3", b"-0", b"2147483647", b"null"),
        b"max_retries": (b"3", b"0", b"null", b"-2147483648"),
        b"expires": (b"1795955390586", b"1900003600000", b"1900003599999", b"4102444800000", b"0", b"null", b"-5"),
        b"status": (b'"dead"', b'"Enqueued"', b'"RETRYING"', b'"d\\u0065ad"', b"null"),
        b"error": (b"null", b'{"message":"no","backtrace":"a\\nb"}', b'{"error":{"status":1}}'),
    }
    members = []
    for name, values in usual.items():
        for _ in range(chance.choice((1, 1, 1, 1, 1, 1, 0, 2))):
            spelled = b"\\u%04x" % name[0] + name[1:] if chance.random() < 0.1 else name
            odd = chance.random() < 0.02
            members.append(_member(chance, b'"' + spelled + b'"', value(chance) if odd else chance.choice(values)))
    members += [_member(chance, text(chance), value(chance)) for _ in range(chance.randrange(4))]
    if chance.random() < 0.3:
        chance.shuffle(members)
    if chance.random() < 0.02:
        members.append(b'"original_job_data":"x"')
    return _spaced(chance, b"{", members, b"}")


def made(chance: Random) -> bytes:
    """JSON, or nearly, that readers disagree about: numbers, escapes, nesting at a limit, NULs, other encodings."""
    how = chance.random()
    if how < 0.3:
        name = chance.choice((b'"queue"', b'"queue"', b'"qu\\u0065ue"'))
        members = [
            _member(chance, name, text(chance, wild=True)),
            _member(chance, key(chance), value(chance, wild=True)),
        ]
        return _spaced(chance, b"{", members, b"}")
    if how < 0.6:
        return an_object(chance, wild=True)
    if how < 0.8:
        return b'{"queue":"q","n":' + chance.choice(_WILD_NUMBERS) + chance.choice((b"", b"", b"0", b" ", b"x")) + b"}"
    if how < 0.86:
        deep = chance.choice((500, 511, 512, 999, 1000, 1001, 1023, 1024, 1025)) - 1
        opened = chance.choices((b"[", b'{"queue":'), k=deep)
        closed = b"".join(b"]" if bracket == b"[" else b"}" for bracket in reversed(opened))
        return b'{"queue":"q","x":' + b"".join(opened) + text(chance) + closed + b"}"
    if how < 0.92:
        return an_object(chance).decode("utf-8").encode(chance.choice(("utf-16", "utf-16-le", "utf-32", "utf-8-sig")))
    return an_object(chance) + b"\0" + value(chance, wild=True)


def fuzzed(chance: Random) -> bytes:
    """Any of these: a real entry spoilt, one made, one made and spoilt, bare bytes."""
    how = chance.random()
    if how < 0.5:
        return mutated(chance, chance.choice(REAL).raw)
    if how < 0.75:
        return made(chance)
    if how < 0.85:
        return mutated(chance, job(chance))
    if how < 0.95:
        return mutated(chance, made(chance))
    return chance.choice((value(chance, wild=True), chance.randbytes(chance.randrange(40)), job(chance)))


def _member(chance: Random, name: bytes, what: bytes) -> bytes:
    return name + chance.choice(_SPACE) + b":" + chance.choice(_SPACE) + what


def _spaced(chance: Random, opening: bytes, items: Iterable[bytes], closing: bytes) -> bytes:
    separator = chance.choice(_SPACE) + b"," + chance.choice(_SPACE)
    inner = chance.choice(_SPACE) + separator.join(items) + chance.choice(_SPACE)
    return chance.choice(_SPACE) + opening + inner + closing + chance.choice(_SPACE)
