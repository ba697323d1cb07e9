"""What no script of ours says is no outcome: it is another version of a script, or a mistake, and nobody guesses."""

import pytest
from redis import exceptions

from joobq_admin.joobq import scripts
from joobq_admin.joobq.delivery import SettlementOutcome, steps
from joobq_admin.joobq.operation import reason_of
from joobq_admin.joobq.outcome import UnexpectedReply
from joobq_admin.joobq.scripts import Reply


@pytest.mark.parametrize(
    "reply", [4, -8, int(Reply.UNKNOWN), int(Reply.NOT_SENT), None, b"OK", [], exceptions.ResponseError("ERR oddly")]
)
def test_it_is_no_answer(reply: object) -> None:
    with pytest.raises(UnexpectedReply):
        scripts.answer(reply)


def test_a_reply_that_refuses_nothing_is_no_reason() -> None:
    with pytest.raises(UnexpectedReply):
        reason_of(Reply.DONE)


@pytest.mark.parametrize("reply", [b"", b"lost", b"LOST ", b"RELEASED", b"\xff", "LOST", 1, None, [b"LOST"]])
def test_nor_is_it_one_of_a_ledger(reply: object) -> None:
    assert steps.outcome(SettlementOutcome, b"LOST") is SettlementOutcome.LOST
    with pytest.raises(UnexpectedReply):
        steps.outcome(SettlementOutcome, reply)
