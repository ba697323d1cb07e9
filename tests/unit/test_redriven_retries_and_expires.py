"""Retries become max_retries, an expiry that is past or near moves: a worker never runs an expired job."""

import pytest

from joobq_admin.joobq.redriven import HOUR, Change, Redriven, redriven

NOW = 1_900_000_000_000
DAY = 24 * HOUR
AFTER = str(NOW + 3 * DAY)


def sent(members: str, lifetime: int = 3 * DAY) -> str:
    """The members of the entry that is pushed."""
    push = redriven(f'{{"queue":"q",{members}}}'.encode(), NOW, lifetime)
    return push.raw.decode().removeprefix('{"queue":"q",').removesuffix("}")


@pytest.mark.parametrize(
    ("expires", "becomes"),
    [
        (0, AFTER),
        (-5, AFTER),
        (-(2**63), AFTER),
        (1_795_955_390_586, AFTER),
        (NOW - 1, AFTER),
        (NOW, AFTER),
        (NOW + 1, AFTER),
        (NOW + HOUR - 1, AFTER),
        (NOW + HOUR, str(NOW + HOUR)),
        (NOW + HOUR + 1, str(NOW + HOUR + 1)),
        (2**63 - 1, str(2**63 - 1)),
    ],
)
def test_expires_moves_when_it_is_past_or_within_the_hour(expires: int, becomes: str) -> None:
    assert sent(f'"expires":{expires}') == f'"expires":{becomes}'


def test_a_negative_zero_is_an_integer_too() -> None:
    assert sent('"expires":-0') == f'"expires":{AFTER}'
    assert sent('"retries":-0,"max_retries":0') == '"retries":-0,"max_retries":0'
    assert sent('"retries":5,"max_retries":-0') == '"retries":0,"max_retries":-0'


@pytest.mark.parametrize("member", ['"expires":null', '"to":1'])
def test_without_an_expiry_none_is_written(member: str) -> None:
    assert sent(member) == member


def test_the_new_expiry_is_as_far_off_as_the_setting_says() -> None:
    assert sent('"expires":1', lifetime=2 * HOUR) == f'"expires":{NOW + 2 * HOUR}'


def test_the_last_copy_decides_and_is_the_one_that_moves() -> None:
    late = NOW + 5 * DAY
    assert sent(f'"expires":1,"expires":{late}') == f'"expires":1,"expires":{late}'
    assert sent(f'"expires":{late},"expires":1') == f'"expires":{late},"expires":{AFTER}'
    assert sent('"expires":1,"expires":null') == '"expires":1,"expires":null'
    assert sent('"retries":7,"retries":0,"max_retries":9,"max_retries":3') == (
        '"retries":7,"retries":3,"max_retries":9,"max_retries":3'
    )
    assert sent('"retries":1,"max_retries":9,"max_retries":null') == '"retries":1,"max_retries":9,"max_retries":null'


@pytest.mark.parametrize(
    ("retries", "most", "becomes"),
    [
        (0, 3, 3),
        (1, 3, 3),
        (3, 3, 3),
        (5, 3, 3),  # above it a failing job would lose its real error
        (2**31 - 1, 0, 0),
        (-(2**31), 2**31 - 1, 2**31 - 1),
        ("null", 3, 3),
        ("null", "null", "null"),
        (5, "null", 5),
        (0, "null", 0),
    ],
)
def test_retries_become_max_retries(retries: int | str, most: int | str, becomes: int | str) -> None:
    assert sent(f'"retries":{retries},"max_retries":{most}') == f'"retries":{becomes},"max_retries":{most}'
    assert sent(f'"max_retries":{most},"retries":{retries}') == f'"max_retries":{most},"retries":{becomes}'


def test_retries_stay_where_there_is_no_max_retries() -> None:
    assert sent('"retries":2') == '"retries":2'


@pytest.mark.parametrize("status", ["dead", "Dead", "DEAD", "enqueued", "Enqueued", "retrying", "running", "completed"])
def test_every_status_becomes_enqueued(status: str) -> None:
    assert sent(f'"status":"{status}"') == '"status":"enqueued"'


def test_a_status_that_is_null_or_escaped_becomes_enqueued() -> None:
    assert sent('"status":null') == '"status":"enqueued"'
    assert sent('"status":"d\\u0065ad"') == '"status":"enqueued"'


@pytest.mark.parametrize("error", ['{"message":"no"}', '"text"', "5", "[]", "null", '{"error":{"error":null}}'])
def test_the_error_becomes_null(error: str) -> None:
    assert sent(f'"error":{error},"to":1') == '"error":null,"to":1'
    assert sent(f'"error":null,"error":{error}') == '"error":null,"error":null'


def test_changes_are_told_in_the_order_of_the_bytes_and_only_where_bytes_change() -> None:
    raw = b'{"queue":"q","error":{},"expires":1,"retries":0,"max_retries":2,"status":"enqueued"}'
    assert redriven(raw, NOW, DAY) == Redriven(
        b"q",
        b'{"queue":"q","error":null,"expires":%d,"retries":2,"max_retries":2,"status":"enqueued"}' % (NOW + DAY),
        (Change("error", "this one", "null"), Change("expires", "1", str(NOW + DAY)), Change("retries", "0", "2")),
    )
    assert redriven(b'{"queue":"q","error":null,"status":"enqueued"}', NOW, DAY).changes == ()
    assert redriven(b'{"queue":"q","status":"Dead"}', NOW, DAY).changes == (Change("status", '"Dead"', '"enqueued"'),)
