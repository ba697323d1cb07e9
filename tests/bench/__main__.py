"""What performance is asked of the product, measured on this machine: python -m tests.bench N

Each figure stands beside a floor of the same run, in rounds that take turns: times drift on a machine that is shared,
ratios stay. N: dead letters, and requests of a ledger.
"""

import os
import sys

from tests.bench import ledger, ledger_pages, listing, pages
from tests.bench.figures import table
from tests.support.servers import KINDS, Server


def main() -> None:
    n = int((*sys.argv, "100000")[1])
    for kind in KINDS:
        with Server(kind) as server, Server(kind) as small:
            head = f"{n:,}, {_named(server)}, {os.cpu_count()} cores, load"
            table(f"The list: entries {head} {os.getloadavg()[0]:.1f}", listing.figures(server, small, n))
            table(f"Pages: entries {head} {os.getloadavg()[0]:.1f}", pages.figures(server, n))
            table(f"The ledger: requests {head} {os.getloadavg()[0]:.1f}", ledger.figures(server, n))
            table(f"Its pages: requests of 10 kB {head} {os.getloadavg()[0]:.1f}", ledger_pages.figures(server, n))


def _named(server: Server) -> str:
    facts = server.client.info("server")
    return f"Valkey {facts['valkey_version']}" if "valkey_version" in facts else f"Redis {facts['redis_version']}"


if __name__ == "__main__":
    main()
