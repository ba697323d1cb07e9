"""A ledger, its requests, its people and its buttons, as all its pages name them."""

from dataclasses import dataclass
from uuid import uuid4

from joobq_admin.connection import redaction
from joobq_admin.joobq.delivery import Ledger
from joobq_admin.pages import links, words
from joobq_admin.pages.tokens import plain
from joobq_admin.sso.roles import Action, User


@dataclass(frozen=True, slots=True)
class Head:
    """Which ledger a page is about; `names`: for a form that looks there."""

    namespace: str
    queue: str
    url: str
    names: tuple[str, str]

    def __str__(self) -> str:
        return f"{self.namespace} / {self.queue}"


def head(ledger: Ledger) -> Head:
    return Head(plain(ledger.namespace, 80), plain(ledger.queue, 80), url(ledger), (ledger.namespace, ledger.queue))


def url(ledger: Ledger, view: str = "ledger", **query: str) -> str:
    return links.ledger(ledger.namespace, ledger.queue, view, **query)


def request_url(ledger: Ledger, request_id: str) -> str:
    return url(ledger, "request", id=request_id)


def who(id_: str, name: str, user: User) -> str:
    """As `user` is told; '' where nobody is named."""
    return "you" if id_ and id_ == user.sub else plain(name or id_, 80)


def owner(name: str, longest: int) -> str:
    """As the worker calls itself that holds a claim or has settled it, without the secrets in it."""
    return plain(redaction().redacted_text(name), longest)


def button(ledger: Ledger, action: Action, user: User) -> dict[str, str]:
    """What a panel needs for it: `url`, and the `operation` of its next press; or why there is none, `needs`."""
    if not user.can(action):
        return {"needs": words.may_not(user, action)}
    return {"url": url(ledger, str(action).replace(" ", "-")), "operation": new_operation()}


def new_operation() -> str:
    return str(uuid4())
