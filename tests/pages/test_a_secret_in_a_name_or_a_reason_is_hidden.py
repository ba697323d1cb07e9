"""Secrets do not only stand in values: in the names that a job gives, and in what an operator gives as a reason."""

import re

import pytest
from django.test import Client

from joobq_admin.joobq import keys
from joobq_admin.joobq.entry import EntryRef
from tests.support.eventually import eventually
from tests.support.html import get, says
from tests.support.letters import DIED, ERROR, digest, jid, letter
from tests.support.operators import ANN, dead_letters
from tests.support.purging import purge, undo
from tests.support.servers import Server

SECRET = "Zq7Secr3tVa1ue"
NAME = f"token={SECRET}"
ODD = ERROR | {"error_class": f"Refused {NAME}", "error_type": f"Odd {NAME}", f"by {NAME}": "x"}
LETTERS = [letter(n, error=ODD, status=f"dead {NAME}", **{f"for {NAME}": "a"}) for n in range(3)]
DIES_AGAIN = letter(0, error=ODD | {f"by {NAME}": "y", "failed_at": "2026-11-29T00:00:09Z"}, status=f"dead {NAME}")
WHY = f"Wrong password={SECRET}, says Lena"


@pytest.fixture(autouse=True)
def letters(valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, dict.fromkeys(LETTERS, DIED) | {DIES_AGAIN: DIED + 1})


def entry(n: int) -> str:
    return f"/dead-letters/{DIED}-{digest(LETTERS[n])[:16]}/?jid={jid(n)}"


def test_no_page_tells_it(client: Client, valkey: Server) -> None:
    queue = dead_letters(valkey.client)
    refs = [EntryRef(DIED, digest(raw), jid(n)) for n, raw in enumerate(LETTERS)]
    answer = purge(client, entry(1), WHY)
    assert "Wrong password=hidden, 14 characters, says Lena" in says(answer)
    assert queue.purge_entries(refs[2:], by=ANN, reason=WHY, operation="op-2").done
    assert queue.purge_all(by=ANN, reason=WHY, operation="op-all", queue="another") == 0
    urls = ("/dead-letters/", "/bin/", "/audit/", "/operations/op-2/", "/operations/op-all/", f"/jobs/{jid(0)}/",
            f"/jobs/{jid(2)}/", entry(0), f"{entry(0)}&bytes=1", entry(1))  # fmt: skip
    pages = [answer, *(get(client, url) for url in urls), undo(client, answer)]
    for page in pages:
        assert SECRET not in page.content.decode()
        assert "hidden, 14 characters" in says(page), page.request["PATH_INFO"]


def test_no_group_tells_it_and_no_filter_finds_it(client: Client, valkey: Server) -> None:
    valkey.client.zadd(keys.DEAD, {letter(7, error=ODD): DIED})

    def counted() -> str:
        page = get(client, "/dead-letters/groups/").content.decode()
        return page if "Refused token=" in page else ""

    page = eventually(counted)
    assert page
    assert SECRET not in page
    for group in set(re.findall(r"\?group=[0-9a-f-]+", page)):
        assert SECRET not in get(client, f"/dead-letters/{group}").content.decode()
    for query in (f"q={SECRET}", f"q={SECRET[:3]}", f"error=Refused+token%3D{SECRET}"):
        assert "No entry matches." in says(get(client, f"/dead-letters/?{query}"))


@pytest.mark.parametrize("kind", ["csv", "ndjson"])
def test_no_file_tells_it_and_no_search_finds_it(client: Client, valkey: Server, kind: str) -> None:
    assert purge(client, entry(1), WHY).status_code == 200
    file = b"".join(get(client, f"/audit/export?format={kind}").streaming_content).decode()
    assert f"Wrong password={'*' * 14}, says Lena" in file
    assert SECRET not in file
    assert "No record matches." in says(get(client, f"/audit/?q={SECRET}"))
    assert "1 record" in says(get(client, "/audit/?q=says+lena"))
