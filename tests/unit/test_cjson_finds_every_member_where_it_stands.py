"""The places of an object's members: two readers of ours against each other, and against Python's json."""

import json
from random import Random

import orjson
import pytest

from joobq_admin.joobq import cjson
from joobq_admin.joobq.cjson import Member, NotJSON
from tests.support.mutations import an_object, fuzzed, job, mutated
from tests.support.real_entries import REAL
from tests.support.trials import trials

Pairs = list[tuple[bytes, object]]


def pairs(text: str) -> object:
    """As Python's json reads it: an object as its members in order, doubled ones too, numbers by their letters."""
    decoder = json.JSONDecoder(
        object_pairs_hook=lambda found: [(to_bytes(key), value) for key, value in found],
        parse_int=lambda digits: ("number", digits),
        parse_float=lambda digits: ("number", digits),
        strict=False,
    )
    return decoder.decode(text)


def to_text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def by_json(raw: bytes) -> Pairs:
    found = pairs(to_text(raw))
    assert isinstance(found, list)
    return found


def by_spans(raw: bytes, members: list[Member]) -> Pairs:
    return [(key, pairs(to_text(raw[start:end]))) for key, start, end in members]


def check(raw: bytes) -> None:
    members = cjson.scan(raw)
    assert list(cjson.strict_members(raw)) == members
    assert by_spans(raw, members) == by_json(raw)
    for _, start, end in members:
        assert raw[start:end] == raw[start:end].strip()


def strict_objects(seed: int, enough: int) -> list[bytes]:
    """Fuzzed objects that a strict reader takes; bytes that are no UTF-8 may stand in their strings."""
    chance, found = Random(seed), list[bytes]()
    while len(found) < enough:
        how = chance.randrange(4)
        raw = an_object(chance) if how == 0 else job(chance) if how == 1 else mutated(chance, job(chance))
        raw = mutated(chance, chance.choice(REAL).raw) if how == 3 else raw
        try:
            document = orjson.loads(raw.decode("utf-8", "replace"))
        except orjson.JSONDecodeError:
            continue
        if isinstance(document, dict):
            found.append(raw)
    return found


@pytest.mark.parametrize("seed", range(2))
def test_in_thousands_of_fuzzed_objects(seed: int) -> None:
    objects = strict_objects(seed, trials(2_000, 100_000))
    for raw in objects:
        check(raw)
    assert len({tuple(key for key, _, _ in cjson.scan(raw)) for raw in objects}) > 600


def test_in_every_real_entry() -> None:
    for entry in REAL:
        check(entry.raw)


@pytest.mark.parametrize(
    "raw",
    [
        b"{}",
        b" { } ",
        b'{"":{}}',
        b'{"a":[],"a":{"a":1},"b":"]}"}',
        b'{"a" : [1 , {"b":"\\"}"} ] ,\n"c"\t:\r-1.5e3 }',
        b'{"\\u0061\\\\":"\\\\","\\"":"\\""}',
        b'{"a":"\xff","\xe2\x82":"\xf0"}',
        b'{"a":' + b"[" * 900 + b"]" * 900 + b',"b":2}',
    ],
)
def test_in_small_ones(raw: bytes) -> None:
    check(raw)


def test_a_member_says_its_key_and_where_its_value_begins_and_ends() -> None:
    raw = b' {"qu\\u0065ue" : "a b", "n":[1, 2]}'
    assert cjson.scan(raw) == [Member(b"queue", 17, 22), Member(b"n", 28, 34)]
    assert [raw[start:end] for _, start, end in cjson.scan(raw)] == [b'"a b"', b"[1, 2]"]


@pytest.mark.parametrize("raw", [b"[1]", b'"a"', b"1", b"null", b"nan", b" [] \0{"])
def test_what_is_no_object_has_no_members(raw: bytes) -> None:
    assert cjson.scan(raw) == []
    assert not cjson.is_object(raw)


@pytest.mark.parametrize("raw", [b"{}", b" {}", b"{} \0 no more", b'{"a":nan}', b'{"a":"\xff\t"}'])
def test_objects_by_redis_own_rules(raw: bytes) -> None:
    assert cjson.is_object(raw)


@pytest.mark.parametrize(
    "raw", [b"", b"{", b'{"a"}', b'{"a":1,}', b"{1:2}", b"{}x", b"\0{}", b'{"a":"\\ud800"}', b"[1}", b"1\0"]
)
def test_what_redis_does_not_read_is_not_json(raw: bytes) -> None:
    with pytest.raises(NotJSON):
        cjson.scan(raw)
    assert not cjson.is_object(raw)


def test_a_string_that_no_reader_takes_keeps_its_letters() -> None:
    """Keys of such entries are shown, too."""
    assert cjson.unescape(rb'"\u0041\udc00"') == rb"A\udc00"
    assert cjson.unescape(rb'"\ud800"') == b"\xed\xa0\x80"
    assert cjson.unescape(rb'"\x\u12"') == b"xu12"


def test_the_queue_is_the_last_member_of_that_name() -> None:
    """The fast way to the queue and the members agree on whatever Redis reads."""
    chance, read, texts = Random(3), 0, trials(3_000, 200_000)
    for _ in range(texts):
        raw = fuzzed(chance)
        try:
            queues = [raw[start:end] for key, start, end in cjson.scan(raw) if key == b"queue"]
            read += 1
        except NotJSON:
            queues = []
        last = queues[-1] if queues and queues[-1].startswith(b'"') else b'""'
        assert cjson.queue_of(raw) == cjson.unescape(last), raw
    assert read > 0.4 * texts


def depth_by_recursion(lists: object) -> int:
    return 1 + max(map(depth_by_recursion, lists), default=0) if isinstance(lists, list) else 0


def test_depth_counts_brackets_outside_strings() -> None:
    for raw in strict_objects(5, 1000):
        lists = json.loads(to_text(raw), object_pairs_hook=lambda members: [value for _, value in members])
        assert cjson.depth(raw) == depth_by_recursion(lists)
    assert cjson.depth(b"1") == 0
    assert cjson.depth(b'"[[["') == 0
    assert cjson.depth(b'{"a[":"\\"[[","b":[[]]}') == 3


def test_long_and_deep_documents_take_no_longer_than_their_bytes() -> None:
    """No recursion, no backtracking: one that tried again from every byte would not end here."""
    for raw in (
        b'{"a":"' + b"\\n" * 2_000_000 + b'","queue":"q\xff"}',
        b'{"a":"' + b"\xff" * 4_000_000 + b'","queue":"q\xff"}',
        b'{"queue":"q\xff","a":' + b" " * 4_000_000 + b"1}",
        b'{"queue":"q\xff","a":' + b"9" * 4_000_000 + b"}",
    ):
        assert cjson.queue_of(raw) == b"q\xff"
        assert list(cjson.strict_members(raw)) == cjson.scan(raw)
    for raw in (
        b"[" * 4_000_000,
        b'{"a":' * 800_000,
        b'"' + b"\\" * 3_999_999,
        b'{"queue":"q","a":"' + b"\\n" * 2_000_000,
    ):
        assert cjson.queue_of(raw) == b""
