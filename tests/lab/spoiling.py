"""Every byte of a hundred delivery records changed, removed and added to in turn, for claims and for repair to find.

python -m tests.lab.spoiling
"""

from tests.support.ledgers import ledger_of
from tests.support.servers import KINDS, Server
from tests.support.spoiling import MOST, found_by_claims, found_by_repair

RECORDS = 100

if __name__ == "__main__":
    for kind in KINDS:
        with Server(kind) as server:
            for turn in range(RECORDS):
                for found in (found_by_claims, found_by_repair):
                    server.client.flushall()
                    found(ledger_of(server.client), turn)
        print(f"{kind}: {MOST} changes of each of {RECORDS} records, by claims and by repair: none went unseen")
