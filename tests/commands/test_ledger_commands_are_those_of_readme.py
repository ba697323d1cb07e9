"""Every command that README shows is one, and it shows every command."""

import re
import shlex
from pathlib import Path

import pytest
from django.core.management import load_command_class

from tests.support import sources


def test_readme_shows_them_all(with_django: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("emails.ndjson").touch()
    table = sources.text("README.md").partition("| `python manage.py ledger …` |")[2].partition("\n\n")[0]
    shown = re.findall(r"^\| `(.*?)` \|", table.replace("\\|", "|"), re.MULTILINE)
    parser = load_command_class("joobq_admin", "ledger").create_parser("manage.py", "ledger")
    taken = set()
    for command in shown:
        words = re.sub(r" > .*| …|\[close\|open\]|[\[\]]", "", command)
        asked = parser.parse_args(shlex.split(words))
        assert getattr(asked, "name", "shop:emails") == "shop:emails"
        taken.add(words.split()[0])
    assert taken == set(re.findall(r"^    ([a-z]+) ", parser.format_help(), re.MULTILINE))
    for change in ("close --reason why", "open"):
        assert parser.parse_args(["gate", "shop:emails", *change.split()]).change == change.split()[0]
