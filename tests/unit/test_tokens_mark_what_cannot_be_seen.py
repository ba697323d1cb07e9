"""Text as it is, but for what a reader could not see or would be misled by. Never HTML: the template escapes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from joobq_admin.pages.tokens import Tokens, plain, text
from joobq_admin.triage.redact import Redacted, Redaction

HOSTILE = [
    *("<script>window.evil=1</script>", "<img src=x onerror=evil=1>", "</textarea><svg/onload=evil=1>", "<SCRIPT/QSS"),
    *('"onmouseover="evil=1', "{{ 7*7 }}", 'hx-get="/x" hx-trigger="load"', "&lt;b&gt; &amp;", "'\"`"),
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_markup_is_text(hostile: str) -> None:
    assert text(hostile) == [("", hostile)]
    assert text(Redaction().redacted(hostile.encode())) == [("", hostile)]


@pytest.mark.parametrize(
    "seen", ["Größe ☃ 🎉 名前 می‌".replace("\u200c", ""), "a\nb\tc", " ", "e\u0301 vs é", "nbsp \xa0", "\ufffd"]
)
def test_what_can_be_seen_stays(seen: str) -> None:
    assert text(seen) == [("", seen)]


@pytest.mark.parametrize(
    ("unseen", "mark"),
    [
        *(("\0", "U+0000"), ("\x1b", "U+001B"), ("\r", "U+000D"), ("\x7f", "U+007F"), ("\x85", "U+0085")),
        *(("\u202e", "U+202E"), ("\u2066", "U+2066"), ("\u200f", "U+200F"), ("\u061c", "U+061C")),
        *(("\u200b", "U+200B"), ("\u200d", "U+200D"), ("\ufeff", "U+FEFF"), ("\xad", "U+00AD"), ("\u2060", "U+2060")),
        *(("\u2028", "U+2028"), ("\u2029", "U+2029"), ("\u3164", "U+3164"), ("\U000e0041", "U+E0041")),
        *(("\ud800", "U+D800"), ("\udfff", "U+DFFF"), ("\uffff", "U+FFFF")),
    ],
)
def test_what_cannot_be_seen_is_told_by_its_number(unseen: str, mark: str) -> None:
    assert text(f"a{unseen}{unseen}b") == [("", "a"), ("ctl", mark), ("ctl", mark), ("", "b")]
    assert plain(unseen) == mark


def test_bytes_that_are_no_utf8_are_told_in_hex() -> None:
    assert text("x\udcff\udc80") == [("", "x"), ("byte", "\\xff"), ("byte", "\\x80")]
    assert text(Redacted(b"\xc3x\xff", ())) == [("byte", "\\xc3"), ("", "x"), ("byte", "\\xff")]


def test_surrogates_of_both_kinds_in_one_text() -> None:
    assert text("\ud800x") == text(Redaction().redacted_text("\ud800x")) == [("ctl", "U+D800"), ("", "x")]


@given(st.text(st.characters(exclude_categories=())), st.integers(0, 30))
def test_every_text_can_be_sent_and_is_no_longer_than_asked(value: str, longest: int) -> None:
    for tokens in (text(value), text(Redacted(value.encode("utf-8", "surrogatepass"), ()))):
        "".join(word for _, word in tokens).encode()
        assert all(kind in ("", "ctl", "byte") and word for kind, word in tokens)
    cut = text(value, longest)
    assert sum(len(word) for _, word in cut if word != "…") <= longest
    assert cut[-1:] == [("", "…")] or cut == text(value)


def test_a_cut_is_seen() -> None:
    assert text("abcdef", 6) == [("", "abcdef")]
    assert text("abcdef", 5) == [("", "abcde"), ("", "…")]
    assert text("äöü", 2) == [("", "äö"), ("", "…")]
    assert text("ab\0c", 4) == [("", "ab"), ("", "…")]
    assert text("", 0) == []


def test_hidden_values_in_prose() -> None:
    shown = Redaction().redacted_text("bad password=hünter2, ü")
    assert text(shown) == [("", "bad password="), ("hid", "hidden, 7 characters"), ("", ", ü")]
    assert text(shown, 20) == [("", "bad password="), ("", "…")]


def kinds(tokens: Tokens) -> set[str]:
    return {kind for kind, _ in tokens}


def test_a_hidden_value_is_never_cut_in_two() -> None:
    shown = Redaction().redacted_text("token=" + "x" * 1000 + " and more")
    for longest in range(60):
        assert kinds(text(shown, longest)) <= {"", "hid"}
        assert "x" not in plain(shown, longest)
