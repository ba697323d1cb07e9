"""Two operators, the dead-letter queue as they use it, and what it told them."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import redis as redis_py

from joobq_admin.joobq import scripts
from joobq_admin.joobq.audit import Actor, AuditLog
from joobq_admin.joobq.bin import Bin
from joobq_admin.joobq.dead_letters import DeadLetterQueue
from joobq_admin.joobq.outcome import Outcome

ANN, BOB = Actor("u-1", "Ann Āboliņa"), Actor("u-2", "Bob")
GROUPS = ("done", "missing", "conflicts", "refused", "unknown", "unsent")


def dead_letters(
    redis: redis_py.Redis, keep: timedelta = timedelta(days=1), room: int = 1 << 24, cap: int = 100_000
) -> DeadLetterQueue:
    """With an audit log and a bin."""
    return DeadLetterQueue(redis, AuditLog(redis, cap), Bin(redis, keep, room))


def told(outcome: Outcome) -> dict[str, list[Any]]:
    """The groups that are not empty; of refusals the reasons."""
    groups = {name: list(getattr(outcome, name)) for name in GROUPS}
    groups["refused"] = [refused.reason for refused in outcome.refused]
    return {name: things for name, things in groups.items() if things}


def at_once(*acts: Callable[[], Any]) -> list[Any]:
    """Runs all of them at the same moment, each in a thread of its own; what they returned. Raises what one raised."""
    start, returned, raised = threading.Barrier(len(acts)), [None] * len(acts), list[BaseException]()

    def run(at: int) -> None:
        try:
            start.wait(10)
            returned[at] = acts[at]()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(at,)) for at in range(len(acts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]
    return returned


def before_the_script(monkeypatch: pytest.MonkeyPatch, act: Callable[[], Any]) -> None:
    """The next state change looks up what it acts on, then `act` comes first, then its script is sent."""
    before_the_next(monkeypatch, scripts, "write", act)


def before_the_next(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, act: Callable[[], Any]) -> None:
    """`act` comes before the next call of what `owner` has under this name."""
    own = getattr(owner, name)

    def acts_first(*args: Any, **more: Any) -> Any:
        monkeypatch.setattr(owner, name, own)
        act()
        return own(*args, **more)

    monkeypatch.setattr(owner, name, acts_first)
