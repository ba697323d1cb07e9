"""All that is done through the pages, one request after the other, and all that an operator does to a ledger."""

from collections.abc import Sequence
from typing import NamedTuple

import redis as redis_py
from django.http import HttpResponse
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.delivery import Ledger
from joobq_admin.pages.gate_panel import mark
from tests.support import ledgers
from tests.support.ledgers import at
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
    ledger.close_gate(ANN, "why")
    return ledger


def tending(ledger: Ledger) -> list[Step]:
    """All that is read of a ledger and done to it; producers and workers have rights of their own."""
    aside = ledger.quarantined().records[0]
    gate = mark(ledger.look("due").gate)
    seen = {"digest": aside.digest, "operation": "op-review"}
    return [
        Step("confirm", "/auth/confirm", 303, {}),
        Step("ledgers", "/deliveries/"),
        Step("ledger", at("ledger/")),
        Step("request", at("request/", id="due")),
        Step("request set aside", at("request/", id=aside.request_id)),
        Step("open the gate", at("open-gate"), 200, {"operation": "op-open", "mark": gate}, "gate"),
        Step("close the gate", at("close-gate"), 200, {"operation": "op-close"} | WHY, "gate"),
        Step("look", at("repair"), 200, {"look": "1", "operation": "op-look"}, "repair"),
        Step("repair", at("repair"), 200, {"begin": "1", "operation": "op-repair"}, "repair"),
        Step("go on with the repair", at("repair"), 200, {"operation": "op-go-on"}, "repair"),
        Step("expire", at("expire"), 200, {"operation": "op-expire"}, "expire"),
        Step("count", at("prune"), 200, {"days": "0", "count_first": "1", "operation": "op-prune"}, "prune"),
        Step("prune", at("prune"), 200, {"days": "0", "n": "1", "count": "1", "operation": "op-prune"} | WHY, "prune"),
        Step("release", at("release", id=aside.request_id), 422, seen, "quarantined"),
        Step("discard", at("discard", id=aside.request_id), 200, seen | WHY, "quarantined"),
        Step("audit", "/audit/"),
    ]
