"""What was done to ledgers, by pages or commands, in the audit log, its files and the page of an operation."""

import json

import pytest
from django.http import HttpResponse
from django.test import Client

from joobq_admin.joobq.audit import AuditLog
from tests.support.html import elements, get, link, says
from tests.support.ledgers import at
from tests.support.operators import ANN
from tests.support.servers import Server

DIGEST = "ab" * 32
TOLD = {
    ("close gate", ()): ("Closed the gate of shop / emails", "no lease is given or renewed from then on"),
    ("close gate", (("answer", "lost"),)): (
        "Closed the gate of shop / emails",
        "no lease is given or renewed from then on; an answer was lost",
    ),
    ("open gate", ()): ("Opened the gate of shop / emails", "leases are given again"),
    ("begin repair", ()): ("Began a repair of shop / emails", "a cycle began"),
    ("repair", (("scanned", "9"), ("expired", "1"), ("mended", "1200"), ("quarantined", "0"))): (
        "Repaired shop / emails",
        "1 lease ended, 1,200 index entries mended, 0 records set aside",
    ),
    ("expire", (("expired", "3"),)): ("Ended leases of shop / emails", "3 leases ended"),
    ("expire", (("answer", "lost"),)): (
        "Ended leases of shop / emails",
        "an unknown number of leases ended; an answer was lost",
    ),
    ("release", (("request", "order-1"),)): ("Released a record of shop / emails, order-1", "back under the indexes"),
    ("discard", (("request", "order-1"),)): ("Discarded a record of shop / emails, order-1", "record and copy deleted"),
    ("begin prune", (("older_than", "30 d"),)): (
        "Began to prune shop / emails",
        "receipts older than 30 d began to go",
    ),
    ("prune", (("older_than", "30 d"), ("pruned", "1"))): (
        "Pruned shop / emails",
        "1 receipt older than 30 d deleted",
    ),
    ("import", (("accepted", "12"), ("rejected", "x"))): ("Imported into shop / emails", "12 records taken over"),
}


def noted(server: Server, action: str, **fields: str) -> None:
    AuditLog(server.client).note(action, ANN, "the\nyear is over", "op-1", namespace="shop", queue="emails", **fields)


def row(page: HttpResponse) -> str:
    text = says(page)
    return text[text.index("Entry or ledger Reason ") :].partition(" All that matches")[0]


@pytest.mark.parametrize(("action", "fields"), TOLD)
def test_in_words_with_a_link_to_the_ledger(
    client: Client, valkey: Server, action: str, fields: tuple[tuple[str, str], ...]
) -> None:
    heading, did = TOLD[action, fields]
    noted(valkey, action, **dict(fields))
    log = get(client, "/audit/")
    name = heading[heading.index("shop / ") :]
    assert f"Ann Āboliņa u-1 {action} {did} op-1 {name} " in row(log)
    request = dict(fields).get("request")
    assert link(log, name) == (at("request/", id=request) if request else at("ledger/"))
    page = get(client, link(log, "op-1"))
    assert page.status_code == 200
    assert f"{heading}, by Ann Āboliņa Operation op-1: the year is over" in says(page)
    assert f"{action} {did}" in says(page)
    assert link(page, "Open the ledger") == at("ledger/")


def test_each_action_is_a_filter(client: Client, valkey: Server) -> None:
    for n, (action, fields) in enumerate(TOLD):
        AuditLog(valkey.client).note(action, ANN, operation=f"op-{n}", namespace="shop", queue="emails", **dict(fields))
    for action in {action for action, _ in TOLD}:
        page = get(client, f"/audit/?action={action.replace(' ', '+')}")
        told = row(page).split("op-")[1:]
        assert len(told) == sum(each == action for each, _ in TOLD)
    assert "No record matches." in says(get(client, "/audit/?action=other"))
    assert row(get(client, "/audit/?q=order-1")).count("order-1") == 2
    assert elements(get(client, "/audit/"), "option", value="close gate")


def test_files_hold_what_is_known_of_it(client: Client, valkey: Server) -> None:
    noted(valkey, "prune", older_than="30 d", pruned="8", request="=cmd()")
    line = json.loads(b"".join(client.get("/audit/export?format=ndjson").streaming_content))
    assert (line["namespace"], line["queue"], line["pruned"], line["older_than"]) == ("shop", "emails", "8", "30 d")
    assert "'=cmd()" in b"".join(client.get("/audit/export?format=csv").streaming_content).decode()


def test_a_cycle_is_one_operation_with_its_beginning_and_its_end(client: Client, valkey: Server) -> None:
    noted(valkey, "begin repair")
    noted(valkey, "repair", expired="0", mended="0", quarantined="0")
    page = get(client, "/operations/op-1/")
    assert "Repaired shop / emails, by Ann Āboliņa" in says(page)
    assert says(page).index("0 leases ended") < says(page).index("a cycle began")


def test_a_record_that_names_no_ledger_breaks_nothing(client: Client, valkey: Server) -> None:
    AuditLog(valkey.client).note("repair", ANN, operation="op-1")
    AuditLog(valkey.client).note("close gate", ANN, operation="op-2", namespace="a{b", queue="\n")
    assert get(client, "/audit/").status_code == 200
    assert get(client, "/operations/op-1/").status_code == 200
    assert get(client, "/operations/op-2/").status_code == 200
