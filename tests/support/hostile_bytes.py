"""What a careless reader takes quadratic time for, or worse; and all that pages do with the bytes of an entry."""

from collections.abc import Callable

from joobq_admin.joobq.entry import Entry
from joobq_admin.pages.backtrace import frames
from joobq_admin.pages.tokens import arguments, hex_lines, json_pretty, plain
from joobq_admin.triage.redact import Redaction

REDACTION = Redaction()
LONGEST = 5_000

# Each made of n repeats.
HOSTILE: dict[str, Callable[[int], bytes]] = {
    "open brackets": lambda n: b'{"token":' + b"[" * n,
    "closed brackets": lambda n: b'{"token":' + b"[" * n + b"]" * n + b"}",
    "a list without brackets": lambda n: b'{"token":[' + b"1," * n,
    "secrets in secrets": lambda n: b'{"token":' * n,
    "secrets side by side": lambda n: b'{"token":1' + b',"token":"x"' * n + b"}",
    "secrets in a string": lambda n: b'{"a":"' + b'{\\"token\\":\\"x\\"}' * n + b'"}',
    "secrets without quotes": lambda n: b"token=" * n,
    "quotes that do not match": lambda n: b'token:"a' * n,
    "apostrophes": lambda n: b"token:'" * n,
    "quotes": lambda n: b'{"token":1,' + b'"' * n,
    "backslashes": lambda n: b'{"token":"' + b"\\" * n,
    "escaped quotes": lambda n: b'{"token":1,"a":"' + b'\\"' * n,
    "escapes": lambda n: b'{"token":"' + b"\\n\\u0041" * n + b'"}',
    "escapes of escapes": lambda n: b'{"token":1,"a":"\\' + b"u005c" * n + b'u0022"}',
    "blanks after a name": lambda n: b'{"token"' + b" " * n + b"x",
    "blanks between names": lambda n: b"token   " * n + b"=",
    "a long name": lambda n: b'{"' + b"a_" * n + b'token":"x"}',
    "a long word": lambda n: b"a" * n + b"token=x",
    "addresses": lambda n: b"token=://" * n,
    "an address without end": lambda n: b"token=://a:" + b"b" * n,
    "controls": lambda n: b'{"token":"\x01\x02\x03","a":"' + b"\x01\x02\x03" * n,
    "members": lambda n: b'{"token":1' + b',"a":1' * n + b"}",
}


# What a careless pattern goes through again and again, in a message of nothing else.
HOSTILE_WORDS = {
    "a regex": "(a+)+$",
    "one word": "a",
    "digits": "7",
    "hex": "a1",
    "words that begin": "a-",
    "dots": "a.",
    "slashes": "a/",
    "colons": ":",
    "numbers": "1 ",
    "quotes": "'a ",
    "escaped quotes": '"\\"',
    "signs": "a=",
    "at signs": "@",
    "schemes": "a://",
    "months": "Sun, 29 Nov ",
    "no text": "\udcff",
}


def all_of_it(raw: bytes) -> None:
    shown, entry = REDACTION.redacted(raw), Entry(raw, 1)
    for printed in (plain(shown, LONGEST), json_pretty(shown, LONGEST), hex_lines(shown, 10)):
        assert printed
    list(arguments(entry, REDACTION, 60))
    frames(["said", f"from {raw.decode('latin-1')}"], REDACTION)
