"""What a script says is one of its names: anything else is of a script of another version, and is never guessed at."""

import pytest
from redis import exceptions

from joobq_admin.joobq import scripts
from joobq_admin.joobq.delivery import SettlementOutcome, steps
from joobq_admin.joobq.operation import reason_of
from joobq_admin.joobq.outcome import Refusal, UnexpectedReply
from joobq_admin.joobq.scripts import Reply


@pytest.mark.parametrize("reply", list(Reply))
def test_each_name_is_known_by_its_number_but_for_what_no_script_can_say(reply: Reply) -> None:
    assert scripts.answer(reply) is reply
    if reply > Reply.UNKNOWN:
        assert scripts.answer(int(reply)) is reply
    else:
        with pytest.raises(UnexpectedReply):
            scripts.answer(int(reply))


@pytest.mark.parametrize(
    "reply", [4, -8, -99, None, b"OK", b"1", "1", [1], exceptions.ResponseError("ERR oh"), exceptions.RedisError()]
)
def test_what_no_script_says_is_an_error(reply: object) -> None:
    with pytest.raises(UnexpectedReply):
        scripts.answer(reply)


@pytest.mark.parametrize("reply", [Reply.DONE, Reply.GONE, Reply.UNKNOWN])
def test_what_is_no_refusal_is_no_reason(reply: Reply) -> None:
    assert reason_of(Reply.NOT_A_LIST) is Refusal.NOT_A_LIST
    with pytest.raises(UnexpectedReply):
        reason_of(reply)


@pytest.mark.parametrize("reply", [b"", b"lost", b"LOST ", b"RELEASED", b"\xff", "LOST", 1, None, [b"LOST"]])
def test_what_no_script_of_a_ledger_says_is_an_error(reply: object) -> None:
    assert steps.outcome(SettlementOutcome, b"LOST") is SettlementOutcome.LOST
    with pytest.raises(UnexpectedReply):
        steps.outcome(SettlementOutcome, reply)
