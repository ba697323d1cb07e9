"""Names of entries and jobs: scores, digests, jids and bytes as text go there and back without loss."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from joobq_admin.joobq.entry import (
    Entry,
    is_digest,
    is_uuid,
    job_key,
    read_score,
    score_text,
    to_bytes,
    to_text,
)

UUID = "0b8f7b60-5f0c-4b07-9d52-2b6d3b1f8a01"
PLAIN = UUID.replace("-", "")
SPELLINGS = [
    *(UUID, UUID.upper(), "0B8f7b60-5F0c-4b07-9D52-2b6d3B1f8a01", PLAIN, PLAIN.upper()),
    *(f"urn:uuid:{UUID}", f"urn:uuid:{UUID.upper()}"),
]
NO_UUIDS = [
    *(f"URN:UUID:{UUID}", f"urn:uuid:{PLAIN}", f"{{{UUID}}}", f" {UUID}", f"{UUID}\n", PLAIN[:-1], f"{PLAIN}0"),
    *("x", "", "unparseable_b53058d3e0fa3874", UUID.replace("-", "_"), "０" * 32, "\ud800"),
]


def test_every_spelling_of_a_uuid_is_one_job() -> None:
    assert {job_key(jid) for jid in SPELLINGS} == {PLAIN}
    assert {Entry(b'{"jid":"%s"}' % jid.encode(), 0).job_key for jid in SPELLINGS} == {PLAIN}
    assert all(map(is_uuid, SPELLINGS))


@pytest.mark.parametrize("jid", NO_UUIDS, ids=ascii)
def test_any_other_jid_is_its_own_name(jid: str) -> None:
    assert job_key(jid) == jid
    assert not is_uuid(jid)


@pytest.mark.parametrize("raw", [b"{}", b'{"jid":null}', b'{"jid":5}', b'{"jid":["a"]}', b"text", b'["jid"]'])
def test_without_a_jid_there_is_no_job_to_name(raw: bytes) -> None:
    assert Entry(raw, 0).jid is None
    assert Entry(raw, 0).job_key is None


def test_an_empty_jid_is_a_jid() -> None:
    assert Entry(b'{"jid":""}', 0).job_key == ""


@given(st.uuids(), st.integers(0, 2**122 - 1))
def test_other_uuids_are_other_jobs(uuid: object, cases: int) -> None:
    text = str(uuid)
    mixed = "".join(c.upper() if cases >> i & 1 else c for i, c in enumerate(text))
    assert job_key(mixed) == text.replace("-", "")
    assert job_key(mixed) != job_key(UUID) or text == UUID


@given(st.floats(allow_nan=False))
@example(-0.0)
@example(5e-324)
@example(math.inf)
@example(-math.inf)
@example(2.0**63)
@example(1795955390586.3333)
def test_a_score_comes_back_from_its_text(score: float) -> None:
    for text in (score_text(score), score_text(score).encode()):
        again = read_score(text)
        assert again == score
        assert isinstance(again, int) == score.is_integer()


@given(st.integers(-(2**53), 2**53))
def test_a_whole_score_comes_back_as_an_int(score: int) -> None:
    assert read_score(score_text(score)) == score
    assert type(read_score(score_text(score))) is int


@pytest.mark.parametrize(
    ("score", "text"),
    [
        *((0, "0"), (604800, "604800"), (1_795_955_390_586, "1795955390586"), (1.5, "1.5"), (-0.25, "-0.25")),
        *((1e22, "1e+22"), (math.inf, "inf"), (-math.inf, "-inf"), (0.1, "0.10000000000000001")),
    ],
)
def test_scores_as_redis_writes_them(score: float, text: str) -> None:
    assert score_text(score) == text
    assert read_score(text) == read_score(text.encode()) == score


@pytest.mark.parametrize("text", ["", "nan", "-nan", "NaN", "x", "1,5", b"\xff", "0x10", "--1"])
def test_what_is_no_score(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_score(text)


@given(st.binary())
@example(b"\xed\xa0\x80\xff")
@example(bytes(range(256)))
def test_any_bytes_come_back_from_their_text(raw: bytes) -> None:
    assert to_bytes(to_text(raw)) == raw


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_comes_back_from_its_bytes(text: str) -> None:
    assert to_text(to_bytes(text)) == text


def test_surrogates_that_never_were_bytes_are_written_out() -> None:
    """JSON's `\\ud800`: no bytes stand for it, but something must be looked up and shown."""
    assert to_bytes("a\ud800") == b"a\xed\xa0\x80"
    assert to_bytes("\ud83d\ude00") == b"\xed\xa0\xbd\xed\xb8\x80"


@given(st.binary())
def test_a_digest_is_one(raw: bytes) -> None:
    assert is_digest(Entry(raw, 0).digest)


@pytest.mark.parametrize(
    "text", ["", "0" * 63, "0" * 65, "A" * 64, "g" * 64, "0" * 64 + "\n", "０" * 64, None, 5, b"0" * 64]
)
def test_what_is_no_digest(text: object) -> None:
    assert not is_digest(text)
