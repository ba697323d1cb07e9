"""Counts per queue are kept by Lua, lists are read by Python: both must read the same queue out of any bytes."""

from pathlib import Path
from random import Random

import pytest
import redis as redis_py

from joobq_admin.joobq.cjson import queue_of
from tests.support.mutations import fuzzed
from tests.support.queue_in_redis import INCLUDED, queues_in_redis
from tests.support.real_entries import REAL


def nested(deep: int, bracket: bytes = b"[", closing: bytes = b"]") -> bytes:
    """An entry of queue q that is nested so deep in all."""
    return b'{"queue":"q","x":' + bracket * (deep - 1) + b"1" + closing * (deep - 1) + b"}"


def beside(number: bytes) -> bytes:
    """An entry of queue q that holds a number, or what may be one."""
    return b'{"queue":"q","n":' + number + b"}"


Q = b'{"queue":"q"}'

# Where cjson and other JSON readers are known to differ, and where they could: words, bytes, queue.
CASES = [
    # bytes that are no UTF-8: taken as they are
    ("invalid UTF-8 in the queue", b'{"queue":"x\xff\xfe\x80"}', b"x\xff\xfe\x80"),
    ("invalid UTF-8 in a value", b'{"queue":"q","to":"\xe2\x82"}', b"q"),
    ("invalid UTF-8 in a key", b'{"\xff":1,"queue":"q"}', b"q"),
    ("overlong UTF-8", b'{"queue":"\xc0\xaf"}', b"\xc0\xaf"),
    ("surrogate bytes", b'{"queue":"\xed\xa0\x80"}', b"\xed\xa0\x80"),
    ("invalid UTF-8 outside strings", b'{"queue":"q"\xff}', b""),
    # surrogates as escapes
    ("a lone high surrogate in a value", b'{"queue":"q","x":"\\ud800"}', b""),
    ("a lone low surrogate in a value", b'{"queue":"q","x":"\\udc00"}', b""),
    ("a high surrogate before other text", b'{"queue":"q","x":"\\ud800\\u0041"}', b""),
    ("reversed surrogates in a key", b'{"queue":"q","\\udc00\\ud800":1}', b""),
    ("a lone surrogate deep inside", b'{"queue":"q","x":[{"y":"\\uD83D!"}]}', b""),
    ("a surrogate pair in the queue", b'{"queue":"\\ud83d\\uDE00"}', "\U0001f600".encode()),
    ("the last pair", b'{"queue":"\\uDBFF\\uDFFF"}', b"\xf4\x8f\xbf\xbf"),
    ("escapes around the surrogates", b'{"queue":"\\ud7ff\\ue000"}', b"\xed\x9f\xbf\xee\x80\x80"),
    ("an escape, then the letters of another", b'{"queue":"\\u0041\\\\udc00"}', b"A\\udc00"),
    # control characters and NUL
    ("a raw tab", b'{"queue":"a\tb"}', b"a\tb"),
    ("a raw newline", b'{"queue":"q","x":"a\nb"}', b"q"),
    ("raw control characters", b'{"queue":"\x01\x1f\x7f"}', b"\x01\x1f\x7f"),
    ("a NUL in a string", b'{"queue":"q","x":"a\0b"}', b""),
    ("a NUL among members", b'{"queue":"q",\0"x":1}', b""),
    ("a NUL behind it", Q + b"\0", b"q"),
    ("a NUL and anything behind it", Q + b'\0,{"queue":"z"} [[[', b"q"),
    ("a NUL before it", b"\0" + Q, b""),
    ("a NUL as the second byte", b"{\0}", b""),
    ("an escaped NUL in the queue", b'{"queue":"a\\u0000b"}', b"a\0b"),
    ("an escaped NUL in the key", b'{"queue\\u0000":"x"}', b""),
    # depth
    ("1,000 deep", nested(1000), b"q"),
    ("1,001 deep", nested(1001), b""),
    ("1,000 deep in objects", nested(1000, b'{"queue":', b"}"), b"q"),
    ("1,001 deep in objects", nested(1001, b'{"queue":', b"}"), b""),
    ("as deep as orjson reads", nested(1024), b""),
    ("100,000 deep", nested(100_000), b""),
    ("2,000 brackets in a string", b'{"queue":"q","x":"' + b"[" * 2000 + b'"}', b"q"),
    ("2,000 brackets side by side", b'{"queue":"q","x":[' + b"[]," * 1999 + b"[]]}", b"q"),
    # encodings
    ("a byte order mark", b"\xef\xbb\xbf" + Q, b""),
    ("UTF-16", '{"queue":"q"}'.encode("utf-16"), b""),
    ("UTF-16 without a mark", '{"queue":"q"}'.encode("utf-16-le"), b""),
    ("UTF-32", '{"queue":"q"}'.encode("utf-32-be"), b""),
    # where everybody agrees
    ("the last of doubled keys", b'{"queue":"a","queue":"b"}', b"b"),
    ("the last of doubled keys, no string", b'{"queue":"a","queue":1}', b""),
    ("the last of doubled keys, null", b'{"queue":"a","queue":null}', b""),
    ("an escaped key", b'{"qu\\u0065ue":"q"}', b"q"),
    ("an escaped key doubles a plain one", b'{"queue":"a","qu\\u0065ue":"b"}', b"b"),
    ("another case", b'{"Queue":"q"}', b""),
    ("a queue further inside", b'{"job":{"queue":"q"}}', b""),
    ("an empty name", b'{"queue":""}', b""),
    ("a long name", b'{"queue":"' + b"n" * 100_000 + b'"}', b"n" * 100_000),
    ("every short escape", b'{"queue":"\\"\\\\\\/\\b\\f\\n\\r\\t"}', b'"\\/\b\f\n\r\t'),
    ("an unknown escape", b'{"queue":"\\x41"}', b""),
    ("a short escape cut off", b'{"queue":"q","x":"\\u00"}', b""),
    ("a list", b'["queue","q"]', b""),
    ("a string", b'"queue"', b""),
    ("nothing", b"", b""),
    ("white space around it", b"\r\n\t " + Q + b" \n", b"q"),
    ("a form feed around it", b"\f" + Q, b""),
    ("a no-break space around it", b"\xc2\xa0" + Q, b""),
    ("a comment", b'{"queue":"q"/**/}', b""),
    ("single quotes", b"{'queue':'q'}", b""),
    ("a comma too many", b'{"queue":"q",}', b""),
    ("a comma too many in a list", b'{"queue":"q","x":[1,]}', b""),
    ("a comma before a list", b'{"queue":"q","x":[,1]}', b""),
    ("two commas", b'{"queue":"q",,"x":1}', b""),
    ("a comma missing", b'{"queue":"q" "x":[1]}', b""),
    ("a colon missing", b'{"queue" "q"}', b""),
    ("brackets that do not match", b'{"queue":"q","x":[1}]', b""),
    ("a bracket too many", b'{"queue":"q"}}', b""),
    ("text behind it", Q + b"x", b""),
    ("two documents", Q + Q, b""),
    ("a queue that is a number", b'{"queue":5}', b""),
    ("a queue that is an object", b'{"queue":{}}', b""),
    *(
        (f"the number {number[:20].decode()}, {len(number)} bytes", beside(number), b"q")
        for number in (
            *b"NaN nan -nan +NaN NAN nan(1) inf -inf INF infinity Infinity -Infinity".split(),
            *b"0x10 0X10 -0x10 0x1p4 0x.8 0x1.8P-1 +1".split(),
            *b"01 -01 00 1. -.5 +.5 -0 1E+5 1e400 -1e400 9223372036854775808".split(),
            *(b"1" * 400, b"1" * 5000),
        )
    ),
    *(
        (f"no number: {text.decode()}", beside(text), b"")
        for text in b".5 1e 1e+ 0x 0x1p 0x1.g 1x 1_000 - --1 +-1 1.5.5 nan( nul infin True nullnull '1'".split()
    ),
]


@pytest.mark.parametrize(("raw", "queue"), [pytest.param(raw, queue, id=words) for words, raw, queue in CASES])
def test_known_differences(redis: redis_py.Redis, raw: bytes, queue: bytes) -> None:
    assert queues_in_redis(redis, [raw]) == [queue]
    assert queue_of(raw) == queue


def test_the_real_entries(redis: redis_py.Redis) -> None:
    entries = [entry.raw for entry in REAL]
    queues = queues_in_redis(redis, entries)
    assert [queue_of(raw) for raw in entries] == queues
    assert queues.count(b"") == 1
    assert len(set(queues)) == 10


def test_five_thousand_fuzzed_texts(redis: redis_py.Redis) -> None:
    """`make lab` reads a million."""
    chance = Random(1)
    texts = [fuzzed(chance) for _ in range(5000)]
    here, there = [queue_of(raw) for raw in texts], queues_in_redis(redis, texts)
    assert [(raw, ours, theirs) for raw, ours, theirs in zip(texts, here, there, strict=True) if ours != theirs] == []
    assert sum(map(bool, here)) > 1500  # the fuzz is not all nonsense
    assert len(set(here)) > 200


def test_what_other_scripts_set_in_cjson_changes_nothing(redis: redis_py.Redis) -> None:
    """Its settings are global to the server."""
    redis.eval("cjson.decode_max_depth(5) cjson.decode_invalid_numbers(false)", 0)
    texts = [nested(1000), nested(1001), beside(b"nan"), beside(b"0x10")]
    assert queues_in_redis(redis, texts) == [b"q", b"", b"q", b"q"] == [queue_of(raw) for raw in texts]


def test_every_script_that_decodes_takes_these_settings() -> None:
    """The included file is the only one that names cjson."""
    naming = [path for path in INCLUDED.parent.parent.rglob("*.lua") if "cjson" in _code(path)]
    assert naming == [INCLUDED]


def _code(path: Path) -> str:
    return "\n".join(line.split("--")[0] for line in path.read_text().splitlines())
