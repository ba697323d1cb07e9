"""Fields that a worker would not take are refused, for the first reason that applies.

Seen on JoobQ 0.4.2: a value of a wrong type makes a placeholder of the job, a jid that is no UUID loses it in silence.
"""

import pytest

from joobq_admin.joobq.outcome import Refusal
from joobq_admin.joobq.redriven import HOUR, redriven
from tests.support.refusals import NOW, refusal, with_

UUID = "0b8f7b60-5f0c-4b07-9d52-2b6d3b1f8a01"


@pytest.mark.parametrize(
    "members",
    [
        '"original_job_data":"x"',
        '"original_job_data":null',
        '"original_job_dat\\u0061":{}',
        f'"jid":"{UUID}","status":"Dead","original_job_data":"{{}}","max_retries":3',
    ],
)
def test_placeholder(members: str) -> None:
    assert refusal(with_(members)) == (Refusal.PLACEHOLDER, "")


def test_a_job_may_have_an_argument_of_that_name() -> None:
    assert refusal(with_('"original_job_data":"x","retries":0')) is None
    assert refusal(with_('"x":{"original_job_data":"x"}')) is None


NO_INTEGERS = (
    *("3.0", "3e0", "1.5", '"3"', '""', "true", "false", "[]", "{}", "[3]"),
    *("1" * 20, "1" * 50, "-" + "1" * 20),
)


@pytest.mark.parametrize("field", ["retries", "max_retries"])
@pytest.mark.parametrize("value", [*NO_INTEGERS, "2147483648", "-2147483649", "9223372036854775807"])
def test_bad_field_retries_is_no_int32(field: str, value: str) -> None:
    shown = value if len(value) <= 40 else value[:40] + "..."
    answer = Refusal.BAD_FIELD, f"{field} is {shown}, no 32-bit integer"
    assert refusal(with_(f'"{field}":{value}')) == answer
    assert refusal(with_(f'"{field}":{value},"{field}":1')) == answer
    assert refusal(with_(f'"{field}":1,"{field}":{value}')) == answer


@pytest.mark.parametrize("value", ["2147483647", "-2147483648", "0", "-0", "3", "null"])
def test_an_int32_or_null_is_sent(value: str) -> None:
    assert refusal(with_(f'"retries":{value}')) is None
    assert refusal(with_(f'"retries":3,"max_retries":{value}')) is None


@pytest.mark.parametrize(
    "value", [*NO_INTEGERS, "9223372036854775808", "-9223372036854775809", "1.7e12", '"1795955390586"']
)
def test_bad_field_expires_is_no_integer(value: str) -> None:
    shown = value if len(value) <= 40 else value[:40] + "..."
    assert refusal(with_(f'"expires":{value}')) == (Refusal.BAD_FIELD, f"expires is {shown}, no 64-bit integer")
    assert refusal(with_(f'"expires":{value},"expires":1')) is not None


@pytest.mark.parametrize("value", ["9223372036854775807", "-9223372036854775808", "0", "-0", "1795955390586", "null"])
def test_an_int64_or_null_is_sent(value: str) -> None:
    assert refusal(with_(f'"expires":{value}')) is None


@pytest.mark.parametrize(
    "value",
    [
        *('"failed"', '"queued"', '"en_queued"', '""', '" dead"', '"dead "', '"dead\\u0000"', '"d\xe9ad"', '"\udcff"'),
        *("1", "0", "true", "[]", "{}", '["dead"]', '{"dead":1}'),
    ],
)
def test_bad_field_status_is_none_that_a_worker_knows(value: str) -> None:
    answer = Refusal.BAD_FIELD, f"status is {value}, none that a worker knows"
    assert refusal(with_(f'"status":{value}')) == answer
    assert refusal(with_(f'"status":{value},"status":"dead"')) == answer


@pytest.mark.parametrize("status", ["completed", "dead", "enqueued", "expired", "retrying", "running", "scheduled"])
def test_every_status_in_any_case_is_sent(status: str) -> None:
    for spelled in (status, status.upper(), status.title(), f"\\u{ord(status[0]):04x}{status[1:]}"):
        assert refusal(with_(f'"status":"{spelled}"')) is None
    assert refusal(with_(f'"status":null,"status":"{status}"')) is None


@pytest.mark.parametrize("first", ["{}", '"x"', "5", '{"message":"no"}'])
def test_bad_field_an_error_that_stands_before_another(first: str) -> None:
    assert refusal(with_(f'"error":{first},"error":null')) == (Refusal.BAD_FIELD, "error stands twice")
    assert refusal(with_(f'"error":{first}')) is None
    assert refusal(with_(f'"error":null,"error":{first}')) is None


JIDS = {
    f'"{UUID}"': True,
    f'"{UUID.upper()}"': True,
    '"0B8f7b60-5F0c-4b07-9D52-2b6d3B1f8a01"': True,
    f'"{UUID.replace("-", "")}"': True,
    f'"{UUID.replace("-", "").upper()}"': True,
    f'"urn:uuid:{UUID}"': True,
    f'"urn:uuid:{UUID.upper()}"': True,
    f'"\\u0030{UUID[1:]}"': True,
    "null": True,
    f'"URN:UUID:{UUID}"': False,
    f'"Urn:uuid:{UUID}"': False,
    f'"urn:uuid:{UUID.replace("-", "")}"': False,
    f'"{{{UUID}}}"': False,
    f'"{UUID} "': False,
    f'" {UUID}"': False,
    f'"{UUID}\\n"': False,
    f'"{UUID[:-1]}"': False,
    f'"{UUID}0"': False,
    f'"{UUID[:-1]}g"': False,
    f'"{UUID.replace("-", "")[:-1]}"': False,
    f'"{UUID.replace("-", "_")}"': False,
    '"0b8f7b605-f0c-4b07-9d52-2b6d3b1f8a01"': False,
    '"0b8f7b60-5f0c-4b07-9d52-2b6d3b1f8a0１"': False,
    '"unparseable_b53058d3e0fa3874"': False,
    '"x"': False,
    '""': False,
    '"\udcff"': False,
    "1": False,
    "true": False,
    "{}": False,
    f'["{UUID}"]': False,
}


@pytest.mark.parametrize(("jid", "fine"), JIDS.items(), ids=[ascii(jid) for jid in JIDS])
def test_jid_not_uuid(jid: str, fine: bool) -> None:
    answer = None if fine else (Refusal.JID_NOT_UUID, f"jid is {jid if len(jid) <= 40 else jid[:40] + '...'}")
    assert refusal(with_(f'"jid":{jid}')) == answer
    assert refusal(with_(f'"jid":{jid},"jid":"{UUID}"')) == answer
    assert refusal(with_(f'"jid":"{UUID}","jid":{jid}')) == answer


def test_without_a_jid_it_is_sent() -> None:
    assert refusal(b'{"queue":"q"}') is None


@pytest.mark.parametrize(
    ("members", "detail"),
    [
        ('"to":1', ""),
        ('"queue":""', ""),
        ('"queue":"q","queue":""', ""),
        ('"queue":null', "queue is null"),
        ('"queue":5', "queue is 5"),
        ('"queue":["q"]', 'queue is ["q"]'),
        ('"queue":"q","queue":{}', "queue is {}"),
        ('"queue":1,"queue":"q"', "queue is 1"),
        ('"queue":null,"queue":"q"', "queue is null"),
        ('"Queue":"q"', ""),
        ('"x":{"queue":"q"}', ""),
    ],
)
def test_no_queue(members: str, detail: str) -> None:
    assert refusal(f"{{{members}}}".encode()) == (Refusal.NO_QUEUE, detail)


def test_of_doubled_queues_the_last_one_counts() -> None:
    assert redriven(b'{"queue":"","queue":"b"}', NOW, HOUR).queue == b"b"
    assert redriven(b'{"queue":"joobq:a","qu\\u0065ue":"b"}', NOW, HOUR).queue == b"b"


@pytest.mark.parametrize("queue", ["joobq:", "joobq:dead_letter", "joobq:admin:audit", "\\u006aoobq:x"])
def test_reserved_queue(queue: str) -> None:
    answer = refusal(f'{{"queue":"{queue}"}}'.encode())
    assert answer == (Refusal.RESERVED_QUEUE, queue.replace("\\u006a", "j"))


@pytest.mark.parametrize(
    "queue", ["joobq", "JOOBQ:x", "jobs:joobq:x", " joobq:x", "unicode:müller", "a b", "\udcff", "🐙"]
)
def test_any_other_name_is_sent(queue: str) -> None:
    assert (
        redriven(f'{{"queue":"{queue}"}}'.encode("utf-8", "surrogateescape"), NOW, HOUR).queue.decode(
            "utf-8", "surrogateescape"
        )
        == queue
    )


@pytest.mark.parametrize("queue", ["a\\nb", "\\u0000", "\\u001f", "\x7f", "\\u007f", "a\\t", "n" * 513, "ü" * 257])
def test_queue_name(queue: str) -> None:
    assert refusal(f'{{"queue":"{queue}"}}'.encode()) == (Refusal.QUEUE_NAME, "")


def test_a_name_of_512_bytes_is_sent() -> None:
    for name in ("n" * 512, "ü" * 256):
        assert refusal(f'{{"queue":"{name}"}}'.encode()) is None


# Each of these is refused by its own reason; put together, the first one of Refusal is the answer.
FAULTS = {
    Refusal.NOT_STRICT_JSON: '"n":01',
    Refusal.PLACEHOLDER: '"original_job_data":"x"',
    Refusal.BAD_FIELD: '"status":"failed"',
    Refusal.JID_NOT_UUID: '"jid":"x"',
    Refusal.NO_QUEUE: '"queue":null',
}


@pytest.mark.parametrize("first", FAULTS, ids=str)
@pytest.mark.parametrize("second", [*FAULTS, Refusal.RESERVED_QUEUE, Refusal.QUEUE_NAME], ids=str)
def test_the_first_reason_that_applies_is_the_answer(first: Refusal, second: Refusal) -> None:
    queues = {Refusal.RESERVED_QUEUE: '"queue":"joobq:x"', Refusal.QUEUE_NAME: '"queue":"\\n"'}
    both = [(FAULTS | queues)[second], FAULTS[first]]
    order = list(Refusal)
    for members in (both, both[::-1]):
        answer = refusal(with_(",".join(members)))
        assert answer
        assert answer[0] is min(first, second, key=order.index)


def test_a_queue_that_is_reserved_and_too_long_is_reserved() -> None:
    answer = refusal(f'{{"queue":"joobq:{"x" * 600}"}}'.encode())
    assert answer
    assert answer[0] is Refusal.RESERVED_QUEUE


def test_the_refusal_reads_well_and_is_a_value_error() -> None:
    with pytest.raises(ValueError, match=r"^BAD_FIELD: retries is 3\.0, no 32-bit integer$"):
        redriven(with_('"retries":3.0'), NOW, HOUR)
    with pytest.raises(ValueError, match=r"^PLACEHOLDER$"):
        redriven(with_('"original_job_data":1'), NOW, HOUR)
