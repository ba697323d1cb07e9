"""Secrets in made-up entries: in every spelling, depth and wrapping, then cut, then damaged. None is ever printed."""

import json
import re
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from joobq_admin.joobq.entry import Entry
from joobq_admin.pages.backtrace import frames
from joobq_admin.pages.tokens import Tokens, arguments, hex_lines, json_pretty, plain, text
from joobq_admin.triage.redact import Redaction
from joobq_admin.triage.versions import version
from tests.support.trials import trials

REDACTION = Redaction()
SECRET = "Zq7Secr3tVa1ue"
PROPER = st.sampled_from(
    ["password", "user_password", "apiKey", "X-Api-Key", "card", "cardNumber", "IBAN", "accesstoken"]
)
WORDS = st.sampled_from(["a", "note", "discard", "tokenizer", "message", "queue", "é", "", "a b", 'q"uote', "sl\\ash"])
ODD = st.text(st.sampled_from("ab:=,;{}[]\"'\\/ \n\t\0\x01\x02\x03é\u202e\U0001f389"), max_size=8)
PLAIN = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), ODD, st.text(max_size=8))
HARMLESS = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3))
#: What stands under a secret's name: the secret among anything, in any container.
HELD = st.recursive(
    st.builds(lambda before, after: before + SECRET + after, ODD, ODD) | st.just(SECRET),
    lambda inner: (
        st.builds(lambda one, other: [other, one], inner, HARMLESS)
        | st.builds(lambda name, one, other: {name: one, "z": other}, WORDS, inner, HARMLESS)
    ),
    max_leaves=3,
)
PLANTED = st.builds(lambda name, value: {name: value}, PROPER, HELD)


def escaped(text: str) -> str:
    """Its letters written as numbers, as JSON may."""
    return "".join(f"\\u{ord(c):04x}" if c.isalpha() and ord(c) < 128 else c for c in text)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """JSON with a secret in it, somewhere."""
    value: Any = draw(PLANTED)
    for _ in range(draw(st.integers(0, 6))):
        aside, name = draw(HARMLESS), draw(WORDS)
        match draw(st.sampled_from(["object", "list", "string"])):
            case "object":
                value = {"y": aside, name: value} if draw(st.booleans()) else {name: value, "y": aside}
            case "list":
                value = [aside, value, aside]
            case "string":
                value = {name: dumped(draw, value), "y": aside}
    return dumped(draw, value)


def dumped(draw: st.DrawFn, value: Any) -> str:
    separators, indent = draw(st.sampled_from([(None, None), ((",", ":"), None), ((" , ", " : "), None), (None, 1)]))
    written = json.dumps(value, ensure_ascii=draw(st.booleans()), separators=separators, indent=indent)
    if draw(st.integers(0, 3)) == 0:
        name = draw(PROPER)
        written = written.replace(f'"{name}"', f'"{escaped(name)}"')
    if draw(st.integers(0, 2)) == 0:  # as .NET and PHP can write what must be escaped
        signs = draw(st.sampled_from(['"', "\\", '"\\']))
        written = re.sub(r"\\(.)", lambda pair: f"\\u{ord(pair[1]):04x}" if pair[1] in signs else pair[0], written)
    return written


def words(tokens: Tokens) -> str:
    return "".join(word for _, word in tokens)


def all_that_is_printed(raw: bytes) -> str:
    """Every text that can come of these bytes, each way in which pages print them."""
    shown, entry = REDACTION.redacted(raw), Entry(raw, 1)
    printed = [shown.raw.decode("utf-8", "replace"), words(text(shown)), words(json_pretty(shown, 100_000)[0])]
    printed += ["".join(line[2] for line in hex_lines(shown, 10_000)), *shown.names]
    for longest in (20, 60, 10**12):
        printed += [name + words(value) for name, value in arguments(entry, REDACTION, longest)]
    said = raw.decode("utf-8", "surrogateescape")
    printed.append(json.dumps(json.loads(str(version(entry, REDACTION))), ensure_ascii=False))
    printed += [words(text(REDACTION.redacted_text(said))), frames([f"from {said}", said], REDACTION).text]
    if entry.error and entry.error.message:
        printed.append(plain(REDACTION.redacted_text(entry.error.message)))
    return "\n".join(printed)


@given(documents())
@settings(max_examples=trials(120, 6_000))
def test_in_json(document: str) -> None:
    assert SECRET in document
    assert SECRET not in all_that_is_printed(document.encode("utf-8", "surrogatepass"))


@given(documents())
@settings(max_examples=trials(120, 6_000))
@example(f'{{"password":{{"current":"{SECRET}"}}}}')
@example(f'{{"context":{{"password":["{SECRET}"]}}}}')
@example(f'{{"db.password.0":"{SECRET}"}}')
def test_in_what_a_form_carries_of_an_error(document: str) -> None:
    raw = b'{"jid":"x","error":' + document.encode("utf-8", "surrogatepass") + b"}"
    assert SECRET not in all_that_is_printed(raw)


@given(documents(), st.floats(0, 1))
@settings(max_examples=trials(120, 6_000))
def test_in_json_that_is_cut(document: str, part: float) -> None:
    raw = document.encode("utf-8", "surrogatepass")
    end = raw.index(SECRET.encode()) + 6 + int(part * len(raw))
    assert SECRET[:6] not in all_that_is_printed(raw[:end])


@given(documents(), st.floats(0, 1))
@settings(max_examples=trials(100, 6_000))
def test_in_a_placeholder_that_keeps_the_beginning_of_a_job(document: str, part: float) -> None:
    kept = document[: document.index(SECRET) + 6 + int(part * len(document))]
    raw = json.dumps({"jid": "x", "queue": "q", "original_job_data": kept}, ensure_ascii=False)
    printed = all_that_is_printed(raw.encode("utf-8", "surrogatepass"))
    assert SECRET[:6] not in printed + plain(REDACTION.redacted_text(kept))


NOISE = st.lists(
    st.tuples(st.floats(0, 1), st.sampled_from([*"\"\\{}[],:'= \n", "", "\0", "\x01", "\x02", "\x03", "ü"])), max_size=6
)


@given(
    PROPER,
    NOISE,
    NOISE,
    st.sampled_from(['"%s":"%s"', '"%s" : "%s"', "'%s': '%s'", "%s=%s ", "%s: %s\n", '"%s" => "%s"']),
)
@settings(max_examples=trials(100, 6_000))
@example("password", [(0.9, "\\")], [], '"%s":"%s"')
def test_among_noise(name: str, before: Any, after: Any, form: str) -> None:
    member = (form % (name, SECRET)).encode()
    raw = (
        b'{"a":"b",'
        + damaged(b'"c":["d",{"e":"f"}],"g":"h"', before)
        + b","
        + member
        + b","
        + damaged(b'"i":"j"}', after)
    )
    assert SECRET not in all_that_is_printed(raw)


def damaged(raw: bytes, noise: list[tuple[float, str]]) -> bytes:
    """With signs put in, or bytes taken out."""
    for where, sign in noise:
        at = int(where * len(raw))
        raw = raw[:at] + sign.encode() + raw[at + (not sign) :]
    return raw


@given(st.binary(max_size=60), st.binary(max_size=60))
@settings(max_examples=trials(120, 6_000))
def test_any_bytes_at_all_keep_their_length_and_what_is_not_hidden(before: bytes, after: bytes) -> None:
    raw = before + b'"token":"x"' + after
    shown = REDACTION.redacted(raw)
    assert len(shown.raw) == len(raw)
    hidden = {at for span in shown.hidden for at in range(span.start, span.end)}
    assert all(shown.raw[at] == (ord("*") if at in hidden else raw[at]) for at in range(len(raw)))
    assert [span.start for span in shown.hidden] == sorted(span.start for span in shown.hidden)
    all_that_is_printed(raw)


@given(documents(), st.floats(0, 1))
@settings(max_examples=trials(80, 6_000))
def test_a_beginning_hides_all_that_the_whole_hides_there(document: str, part: float) -> None:
    raw = document.encode("utf-8", "surrogatepass")
    end = int(part * len(raw))
    whole, beginning = REDACTION.redacted(raw), REDACTION.redacted(raw[:end])
    hidden = {at for span in beginning.hidden for at in range(span.start, span.end)}
    assert {at for span in whole.hidden for at in range(span.start, min(span.end, end))} <= hidden
