"""What every panel of a ledger's page has: a heading, a text, a button or why there is none, and what a press did."""

from dataclasses import dataclass, replace
from typing import Self

from joobq_admin.pages.ledger_answers import Told


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """`url`: of the buttons, '' where `needs` says why there are none; `operation`: of the next press.

    `unrecorded`: why the audit log has no record of the last one.
    """

    heading: str
    text: str
    url: str = ""
    needs: str = ""
    operation: str = ""
    unrecorded: str = ""

    def telling(self, told: Told) -> Self:
        """The same with what a press did."""
        return replace(self, heading=told.heading, text=told.text, unrecorded=told.unrecorded)
