"""What a redrive pushes, by another reader: Python's json, and the places of members, which have tests of their own."""

import json
from random import Random

import orjson
import pytest

from joobq_admin.joobq import cjson
from joobq_admin.joobq.redriven import HOUR, CannotRedrive, Change, Redriven, redriven
from tests.support.mutations import fuzzed, job, mutated
from tests.support.real_entries import REAL
from tests.support.trials import trials

NOW = 1_900_000_000_000
LIFETIME = 72 * HOUR
REPLACED = (b"status", b"retries", b"expires", b"error")


def outcome(raw: bytes) -> Redriven | None:
    """None when it is refused. Nothing but a refusal may be raised."""
    try:
        return redriven(raw, NOW, LIFETIME)
    except CannotRedrive:
        return None


def text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def last_copies(raw: bytes) -> dict[str, str | None]:
    """The value of each of JoobQ's fields as another reader finds it: numbers as their letters, None for null."""
    return {
        name: value if isinstance(value, str | None) else "…"
        for name, value in json.loads(text(raw), strict=False, parse_int=str, parse_float=str).items()
    }


def expected_changes(raw: bytes) -> dict[str, str]:
    """What must stand there afterwards, as JSON, by the field; only fields that are there."""
    had = last_copies(raw)
    now = {"status": '"enqueued"', "error": "null"}
    most, expires = had.get("max_retries"), had.get("expires")
    if most is not None and (had.get("retries") is None or int(str(had["retries"])) != int(most)):
        now["retries"] = str(int(most))
    if expires is not None and int(expires) < NOW + HOUR:
        now["expires"] = str(NOW + LIFETIME)
    return {name: value for name, value in now.items() if name in had}


def parts(raw: bytes) -> tuple[bytes, dict[str, str]]:
    """Every byte but the values that count of the four fields, and these."""
    last = {member.key: member for member in cjson.scan(raw) if member.key in REPLACED}
    in_order = sorted(last.values(), key=lambda member: member.start)
    kept, at = b"", 0
    for member in in_order:
        kept, at = kept + raw[at : member.start] + b"@", member.end
    return kept + raw[at:], {text(key): text(raw[start:end]) for key, start, end in in_order}


def check(raw: bytes, push: Redriven) -> None:
    (kept_before, was), (kept_after, now) = parts(raw), parts(push.raw)
    assert kept_after == kept_before
    assert now == was | expected_changes(raw)
    assert push.queue == cjson.queue_of(raw) == cjson.queue_of(push.raw)
    shown = was | {"error": "this one"}
    assert push.changes == tuple(Change(name, shown[name], now[name]) for name in now if was[name] != now[name])
    strict = orjson.loads(push.raw.decode("utf-8", "replace"))
    assert strict.get("status", "enqueued") == "enqueued"
    assert strict.get("error") is None
    assert strict.get("max_retries") is None or strict.get("retries", strict["max_retries"]) == strict["max_retries"]
    assert strict.get("expires") is None or strict["expires"] >= NOW + HOUR


@pytest.mark.parametrize("seed", range(2))
def test_thousands_of_fuzzed_jobs(seed: int) -> None:
    chance, sent, jobs = Random(seed), 0, trials(2_000, 100_000)
    for _ in range(jobs):
        how = chance.randrange(3)
        raw = job(chance) if how == 0 else mutated(chance, job(chance))
        raw = mutated(chance, chance.choice(REAL).raw) if how == 2 else raw
        if push := outcome(raw):
            check(raw, push)
            sent += 1
    assert 0.3 < sent / jobs < 0.7


def test_thousands_of_texts_of_any_kind() -> None:
    chance = Random(11)
    for _ in range(trials(3_000, 200_000)):
        raw = fuzzed(chance)
        if push := outcome(raw):
            check(raw, push)


def test_what_is_pushed_could_be_redriven_again_and_would_be_the_same() -> None:
    chance = Random(12)
    pushes = [push for _ in range(2000) if (push := outcome(job(chance)))]
    assert len(pushes) > 1000
    for push in pushes:
        assert redriven(push.raw, NOW, LIFETIME) == Redriven(push.queue, push.raw, ())


def test_nothing_in_a_job_is_touched_but_the_four_values() -> None:
    raw = (
        b' {"to" : "x\xff\\/\\u00e9\xc3\xa9",\t"status":"Dead" , "amount":19.10,"big":9223372036854775808,\n'
        b'"retr\\u0069es" :0,"max_retries": 3,"job":{"status":"dead","retries":0,"expires":1,"error":{}},'
        b'"expires":  1795955390586 ,"queue":"a\\u0062", "error":{"status":"x","message":"}]\\"","status":null}, '
        b'"status" :null } '
    )
    assert redriven(raw, NOW, LIFETIME) == Redriven(
        b"ab",
        b' {"to" : "x\xff\\/\\u00e9\xc3\xa9",\t"status":"Dead" , "amount":19.10,"big":9223372036854775808,\n'
        b'"retr\\u0069es" :3,"max_retries": 3,"job":{"status":"dead","retries":0,"expires":1,"error":{}},'
        b'"expires":  1900259200000 ,"queue":"a\\u0062", "error":null, "status" :"enqueued" } ',
        (
            Change("retries", "0", "3"),
            Change("expires", "1795955390586", "1900259200000"),
            Change("error", "this one", "null"),
            Change("status", "null", '"enqueued"'),
        ),
    )


def test_no_field_is_ever_added() -> None:
    assert redriven(b'{"queue":"q"}', NOW, LIFETIME) == Redriven(b"q", b'{"queue":"q"}', ())
    raw = b'{"queue":"q","max_retries":3,"to":"x"}'
    assert redriven(raw, NOW, LIFETIME) == Redriven(b"q", raw, ())


def test_a_long_entry_is_sent_whole() -> None:
    kept = b'","queue":"q","x":[' + b"[[1,2]]," * 50_000 + b'"\xff"]}'
    raw = b'{"status":"dead","note":"' + b"\\n\xff" * 500_000 + kept
    push = redriven(raw, NOW, LIFETIME)
    assert push.raw == raw.replace(b'"dead"', b'"enqueued"')
