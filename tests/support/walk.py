"""All that is done through the pages, one request after the other, and all that an operator does to a ledger."""

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

import redis as redis_py
from django.http import HttpResponse
from django.test import Client

from joobq_admin import connection
from joobq_admin.joobq import keys
from joobq_admin.joobq.delivery import Ledger
from joobq_admin.joobq.delivery.shapes import Quarantined
from tests.support import ledgers
from tests.support.letters import DIED, digest, jid, letter
from tests.support.operators import ANN

LETTERS = {n: letter(n, queue="invoices" if n < 8 else "reports") for n in range(1, 11)}
WHY = {"confirmed": "1", "reason": "why"}


class Step(NamedTuple):
    """One request; `status` where everything is allowed. A press has a form."""

    name: str
    url: str
    status: int = 200
    form: dict[str, str] | None = None
    target: str = "action"

    def by(self, client: Client) -> HttpResponse:
        if self.form is None:
            return client.get(self.url)
        return client.post(self.url, self.form, headers={"HX-Request": "true", "HX-Target": self.target})


def entry(n: int, verb: str = "") -> str:
    return f"/dead-letters/{DIED}-{digest(LETTERS[n])}/{verb}"


def slip(n: int, operation: str) -> dict[str, str]:
    return {"score": str(DIED), "digest": digest(LETTERS[n]), "jid": jid(n), "operation": operation}


def tick(n: int, operation: str) -> dict[str, str]:
    return {"entry": f"{DIED}-{digest(LETTERS[n])}-{jid(n)}", "operation": operation}


ALL_OF_REPORTS = {"operation": "op-queue", "n": "3", "count": "3"}
STEPS = [
    Step("confirm", "/auth/confirm", 303, {}),
    Step("list", "/dead-letters/"),
    Step("found", "/dead-letters/?q=SMTP&since=30d"),
    Step("fresh", "/dead-letters/fresh?seen=0.0"),
    Step("groups", "/dead-letters/groups/"),
    Step("entry", f"{entry(1)}?jid={jid(1)}"),
    Step("job", f"/jobs/{jid(1)}/"),
    Step("redrive", entry(1, "redrive"), 200, slip(1, "op-redrive")),
    Step("redriven", f"/jobs/{jid(1)}/", 410),
    Step("check again", f"/operations/op-redrive/?action=redrive&entry={tick(1, '')['entry']}"),
    Step("operation", "/operations/op-redrive/"),
    Step("redrive ticked", "/dead-letters/redrive", 200, tick(2, "op-ticked"), "results"),
    Step("purge", entry(3, "purge"), 200, slip(3, "op-purge") | WHY),
    Step("purged", f"/jobs/{jid(3)}/", 410),
    Step("undo", "/bin/restore", 200, {"undo": "op-purge", "operation": "op-undo"}),
    Step("purge ticked", "/dead-letters/purge", 200, tick(3, "op-again") | WHY, "results"),
    Step("bin", "/bin/"),
    Step("restore ticked", "/bin/restore", 200, tick(3, "op-restore"), "results"),
    Step("purge for the bin", entry(3, "purge"), 200, slip(3, "op-third") | WHY),
    Step("empty", "/bin/empty", 200, tick(3, "op-empty") | WHY | {"count": "1"}, "results"),
    Step("purge for good", entry(4, "purge"), 200, slip(4, "op-good") | WHY | {"for_good": "1", "count": "1"}),
    Step("unredacted", entry(5, "unredacted"), 200, slip(5, "op-bytes") | WHY),
    Step("plan", "/dead-letters/purge-all?queue=reports", 200, {"operation": "op-queue"}),
    Step("purge a queue", "/dead-letters/purge-all?queue=reports", 200, ALL_OF_REPORTS | WHY),
    Step("purged queue", "/operations/op-queue/"),
    Step("audit", "/audit/"),
    Step("export", "/audit/export?format=csv"),
    Step("purge everything", "/dead-letters/purge-all?everything=1", 200,
         {"operation": "op-all", "n": "3", "count": "3"} | WHY),
    Step("empty list", "/dead-letters/"),
]  # fmt: skip


def prepare(redis: redis_py.Redis) -> None:
    redis.flushall()
    redis.zadd(keys.DEAD, dict.fromkeys(LETTERS.values(), DIED))


PRESSES = [step for step in STEPS if step.form is not None]
LOOKS = [step for step in STEPS if step.form is None]


def walk(client: Client, steps: Sequence[Step] = STEPS) -> dict[str, HttpResponse]:
    return {step.name: step.by(client) for step in steps}


def lost(redis: redis_py.Redis) -> set[int]:
    """Letters that are in no place, without a record that says where they went."""
    where = redis.zrange(keys.DEAD, 0, -1) + redis.hvals(keys.BIN)
    where += redis.lrange("invoices", 0, -1) + redis.lrange("reports", 0, -1)
    there = {n for n in LETTERS for bytes_ in where if jid(n).encode() in bytes_}
    recorded = str(redis.xrange(keys.AUDIT))
    for_good = {n for n, raw in LETTERS.items() if digest(raw) in recorded}
    everything = {8, 9, 10} if "op-queue" in recorded else set()
    return set(LETTERS) - there - for_good - everything - (set(LETTERS) if "op-all" in recorded else set())


def fill_ledger(redis: redis_py.Redis) -> Ledger:
    """One with all that an operator may meet: what is due, a lease that is over, a receipt, corrupt records."""
    ledger = ledgers.ledger_of(redis)
    receipt = ledgers.held(ledger, "receipt")
    ledger.settle(receipt)
    ledgers.held(ledger, "over", lease=ledgers.MS)
    ledger.admit_many([(name, "payload") for name in ("due", "set aside", "corrupt")])
    ledgers.spoil_header(ledger, "set aside")
    ledger.repair_page()
    ledgers.spoil_header(ledger, "corrupt")
    return ledger


def look_at(ledger: Ledger) -> list[Quarantined]:
    """All that is read of a ledger; what is in its quarantine."""
    assert connection.ledgers() == [(ledger.namespace, ledger.queue)]
    ledger.stats()
    ledger.records()
    ledger.resolve("due")
    ledger.look("due")
    ledger.upcoming(1)
    ledger.in_flight(1)
    return list(ledger.quarantined().records)


def tend(ledger: Ledger) -> None:
    """All that an operator does to a ledger; producers and workers have rights of their own."""
    set_aside = look_at(ledger)
    ledger.close_gate(ANN, "why")
    ledger.repair_for(1)
    ledger.expire()
    ledger.prune(timedelta(0))
    for one in set_aside:
        ledger.discard(one.request_id, one.digest, ANN)
    ledger.open_gate(ANN)
