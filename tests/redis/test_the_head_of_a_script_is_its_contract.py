"""Every file of lua/ says at its head what it takes and what it returns; code, head and enums say the same."""

import re
from pathlib import Path

import pytest
import redis as redis_py

from joobq_admin.joobq import keys, scripts
from joobq_admin.joobq.delivery import shapes, steps
from joobq_admin.joobq.outcome import Refusal
from joobq_admin.joobq.scripts import Reply, Script
from tests.support import sources

FOLDER = sources.ROOT / "joobq_admin/joobq/lua"
FOLDERS = ("", "delivery/")
SCRIPTS = sorted(f"{folder}{path.stem}" for folder in FOLDERS for path in (FOLDER / folder).glob("*.lua"))
DELIVERY = [name for name in SCRIPTS if name.startswith("delivery/")]
SAYS_A_REPLY = ("redrive", "remove", "restore", "purge_all", "unredacted", "note", "plan", "purge_planned", "empty")
SAYS_AN_OUTCOME = {
    "delivery/admit": shapes.AdmissionOutcome,
    "delivery/import_record": shapes.AdmissionOutcome,
    "delivery/renew": shapes.SettlementOutcome,
    "delivery/settle": shapes.SettlementOutcome,
    "delivery/release": shapes.ReviewOutcome,
    "delivery/discard": shapes.ReviewOutcome,
}
READS_ONLY = (
    "seek", "spread", "ranks", "records", "copies", "delivery/stats", "delivery/stored", "delivery/look",
    "delivery/inspect", "delivery/inspect_indexes", "delivery/receipts",
)  # fmt: skip
WRITES = {"ZADD", "ZREM", "RPUSH", "HINCRBY", "HSET", "HDEL", "DEL", "UNLINK", "XADD", "XTRIM", "SET"}


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def loaded(name: str) -> Script:
    folder, _, word = name.rpartition("/")
    script: Script = getattr(steps if folder else scripts, word.upper())
    return script


def head(name: str) -> str:
    """The comment at the top."""
    lines = text(FOLDER / f"{name}.lua").splitlines()
    return "\n".join(line for line in lines[: next(n for n, line in enumerate(lines) if not line.startswith("--") or
                                                   line.startswith("--include"))])  # fmt: skip


def body(name: str) -> str:
    """The code with what it includes, without comments."""
    return re.sub(r"--.*", "", loaded(name).text.decode().removeprefix(head(name)))


def taken(names: str, code: str) -> set[int]:
    """The indexes of KEYS or ARGV that the code takes: KEYS[2], and `local a, b = unpack(KEYS)`."""
    found = {int(index) for index in re.findall(rf"{names}\[(\d+)\]", code)}
    for left, first in re.findall(rf"local ([\w, ]+) = unpack\({names}(?:, (\d+), \d+)?\)", code):
        start = int(first or 1)
        found |= set(range(start, start + left.count(",") + 1))
    for first in re.findall(rf"unpack\({names}, (\d+)\)", code):  # all from there on
        found.add(int(first))
    for first in re.findall(rf"for i = (\d+), #{names}", code):
        found.add(int(first))
    return found


def named(names: str, comment: str) -> set[int]:
    return {int(index) for index in re.findall(rf"{names}\[(\d+)(?:\.\.\.)?\]", comment)}


@pytest.mark.parametrize("name", SCRIPTS)
def test_it_is_loaded_under_its_name_and_says_it(name: str) -> None:
    assert loaded(name).name == name
    assert head(name).startswith(f"-- {Path(name).name}")
    assert "Returns" in head(name)
    assert "KEYS[1]" in head(name)


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_key_and_argument_is_named_and_every_named_one_taken(name: str) -> None:
    for names in ("KEYS", "ARGV"):
        in_code, in_head = taken(names, body(name)), named(names, head(name))
        assert in_code <= in_head, names
        last = max(in_code, default=0)
        assert in_head - in_code <= set(range(last, 99)), names  # a list's next ones: "ARGV[3] the next place"
    assert not re.search(r"KEYS\[[^\d]", body(name))  # each key has a name


@pytest.mark.parametrize("name", SAYS_A_REPLY)
def test_every_number_that_it_returns_is_named_and_known(name: str) -> None:
    code, comment = body(name), head(name)
    returned = {int(number) for number in re.findall(r"return (-?\d)\b", code)}
    if "there and 3 or 1" in code:
        returned |= {1, 3}
    told = {int(number) for number in re.findall(r"(?:Returns|·|\n--   ·|,) +(-?\d) [a-z]", comment)}
    assert returned == told
    assert {Reply(number) for number in returned} <= {reply for reply in Reply if reply > Reply.UNKNOWN}
    for number in returned:
        if number < 0:
            assert Reply(number).name in Refusal.__members__


@pytest.mark.parametrize("name", SAYS_AN_OUTCOME)
def test_every_outcome_that_it_returns_is_told_and_known(name: str) -> None:
    told = set(re.findall(r"\b[A-Z_]{4,}\b", head(name).partition("Returns")[2]))
    known = {outcome.name for kind in SAYS_AN_OUTCOME.values() for outcome in kind}
    assert told == set(re.findall(r"'([A-Z_]+)'", body(name))) & known
    assert told <= set(SAYS_AN_OUTCOME[name].__members__)


def test_every_outcome_is_returned_by_a_script() -> None:
    said = {word for name in SAYS_AN_OUTCOME for word in re.findall(r"'([A-Z_]+)'", body(name))}
    known = {outcome.name for kind in SAYS_AN_OUTCOME.values() for outcome in kind}
    assert known - said == {"TOO_LARGE"}  # told before anything is sent


@pytest.mark.parametrize("name", DELIVERY)
def test_every_script_of_a_ledger_takes_its_six_keys_in_one_order(name: str) -> None:
    named_keys = re.findall(r"KEYS\[(\d)\] \w+ (\w+)", head(name))
    assert named_keys == [(str(at), kind) for at, kind in enumerate(keys.DELIVERY_KINDS, 1)]


@pytest.mark.parametrize("name", sorted({*DELIVERY} - {*READS_ONLY, "delivery/close_gate"}))
def test_what_changes_a_ledger_writes_even_when_there_is_nothing_to_do(name: str) -> None:
    """A replica that lags refuses it: it must not say for its primary that a claim was lost."""
    assert "redis.call('HDEL', records, '')" in body(name)


def test_every_reply_is_returned_by_a_script() -> None:
    returned = {int(number) for name in SAYS_A_REPLY for number in re.findall(r"return (-?\d)\b", body(name))} | {3}
    assert {reply.value for reply in Reply if reply > Reply.UNKNOWN} == returned


@pytest.mark.parametrize("name", SCRIPTS)
def test_what_a_full_server_must_not_refuse_has_no_flags(name: str) -> None:
    """`#!lua` would make Redis refuse the whole script for memory, before it could make room."""
    script = loaded(name).text
    assert b"#!lua" not in script
    assert len(script) < 10_000


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_key_is_made_in_lua(name: str) -> None:
    """Every key comes in by KEYS: rights, clusters and readers can see it."""
    aliases = {
        "KEYS[1]",
        "KEYS[2]",
        "KEYS[3]",
        "set",
        "list",
        "lock",
        "counts",
        "audit",
        "index",
        "bin",
        "times",
        *keys.DELIVERY_KINDS,
        "key",
        "plan",
        "part",
    }
    for command, key in re.findall(r"redis\.p?call\('(\w+)', *([^,)]+)", body(name)):
        assert command == "TIME" or key in aliases, (command, key)
    assert "joobq:" not in body(name)
    assert not re.search(r"redis\.p?call\((?!')", body(name))  # each command by its name


@pytest.mark.parametrize("name", READS_ONLY)
def test_what_only_reads_can_be_run_by_a_reader(name: str) -> None:
    assert not WRITES & set(re.findall(r"call\('(\w+)'", body(name)))


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_include_is_used_and_named_at_the_top(folder: str) -> None:
    used = set()
    for name in [name for name in SCRIPTS if name.startswith(folder) and "/" not in name.removeprefix(folder)]:
        source = text(FOLDER / f"{name}.lua")
        includes = re.findall(r"^--include (\w+)$", source, re.M)
        assert source.startswith(head(name) + "\n" + "".join(f"--include {include}\n" for include in includes)), name
        used |= set(includes)
    assert used == {path.stem for path in (FOLDER / folder / "include").glob("*.lua")}


def test_scripts_that_decode_set_what_cjson_takes_first() -> None:
    """cjson's settings are global to the server: another script may have changed them."""
    for path in FOLDER.rglob("*.lua"):
        if "cjson.decode(" in text(path) or "cjson.decode," in text(path):
            settings = "cjson.decode_max_depth(1000) cjson.decode_invalid_numbers(true)"
            assert text(path).index(settings) < text(path).index("cjson.decode,")


@pytest.mark.parametrize("name", SCRIPTS)
def test_redis_takes_it_and_gives_it_the_same_name(redis: redis_py.Redis, name: str) -> None:
    script = loaded(name)
    assert redis.script_load(script.text) == script.sha
