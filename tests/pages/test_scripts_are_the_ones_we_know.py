"""Two scripts run in a page: ours, and the very htmx that was looked at, told to run nothing that a page holds."""

import json
from hashlib import sha256
from pathlib import Path

from django.contrib.staticfiles import finders
from django.test import Client

from tests.support.html import elements, get

HTMX_2_0 = "71ea67185bfa8c98c39d31717c6fce5d852370fcdfd129db4543774d3145c0de"


def test_htmx_is_the_one_that_was_looked_at(client: Client) -> None:
    sources = [script["src"] for script in elements(get(client, "/dead-letters/"), "script")]
    assert [source for source in sources if source.startswith("/static/")] == sources
    found = {source: Path(finders.find(source.removeprefix("/static/"))) for source in sources}
    assert {path.name for path in found.values()} == {"htmx-2.min.js", "app.js"}
    (htmx,) = (path for path in found.values() if path.name != "app.js")
    assert sha256(htmx.read_bytes()).hexdigest() == HTMX_2_0


def test_htmx_is_told_to_run_nothing_and_to_keep_nothing(client: Client) -> None:
    (meta,) = elements(get(client, "/dead-letters/"), "meta", name="htmx-config")
    config = json.loads(meta["content"])
    for name in ("allowEval", "includeIndicatorStyles", "allowScriptTags", "historyRestoreAsHxRequest"):
        assert config[name] is False
    assert config["selfRequestsOnly"] is True
    assert config["historyCacheSize"] == 0
    assert config["timeout"] == 15_000
    swapped = {rule["code"]: rule["swap"] for rule in config["responseHandling"]}
    assert swapped == {"204": False, "[23]..": True, "(400|403|409|422|503)": True, "...": False}
