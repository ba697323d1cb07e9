"""Why a redrive would be refused."""

from joobq_admin.joobq.entry import Entry, Kind
from joobq_admin.joobq.outcome import Refusal
from joobq_admin.joobq.redriven import HOUR, CannotRedrive, redriven

NOW = 1_900_000_000_000


def refusal(raw: bytes) -> tuple[Refusal, str] | None:
    """The reason and its detail; None when it would be sent. Entry and refusal agree on what is no object."""
    answer = None
    try:
        redriven(raw, NOW, 72 * HOUR)
    except CannotRedrive as no:
        answer = no.reason, no.detail
    assert (answer is not None and answer[0] is Refusal.NOT_AN_OBJECT) == (Entry(raw, NOW).kind is Kind.MALFORMED)
    return answer


def with_(members: str) -> bytes:
    """An entry that would be sent, but for these members, which come last."""
    return f'{{"queue":"q",{members}}}'.encode("utf-8", "surrogateescape")
