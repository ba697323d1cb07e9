"""What README shows is done here as it stands: the library, the settings of a deployment, the table of settings."""

import json
import re

import pytest
import redis as redis_py

from joobq_admin.joobq import keys
from tests.support import sources
from tests.support.environments import DEV, LONG, settings_of
from tests.support.letters import DIED, digest, jid, letter
from tests.support.servers import Server

README = sources.text("README.md")


def block(beginning: str) -> str:
    """The code in README that begins so, without its indent."""
    (found,) = re.findall(rf"^    {re.escape(beginning)}.*\n(?:(?:    .*)?\n)*", README, re.MULTILINE)
    return "".join(line[4:] or "\n" for line in found.splitlines(keepends=True))


def test_the_library(server: Server, redis: redis_py.Redis) -> None:
    raw = letter(1, queue="invoices")
    redis.zadd(keys.DEAD, {letter(2, queue="emails"): DIED - 1, raw: DIED})
    example = block("from redis import Redis")
    assert example.count("Redis()") == 1
    printed: list[tuple[object, ...]] = []
    exec(example.replace("Redis()", f"Redis(port={server.port})"), {"print": lambda *words: printed.append(words)})
    ((counts, refusal), (outcome,)) = printed
    assert dict(counts) == {"invoices": 1, "emails": 1}
    assert refusal is None
    assert [done.digest for done in outcome.done] == [digest(raw)]
    assert json.loads(redis.lrange("invoices", 0, -1)[0])["jid"] == jid(1)
    ((_, record),) = redis.xrange(keys.AUDIT)
    assert (record[b"by"], record[b"reason"]) == (b"ann", b"gateway is up")


def test_the_settings_of_a_deployment() -> None:
    def variables(beginning: str) -> dict[str, str]:
        return dict(line.split("=", 1) for line in block(beginning).split("\n") if line)

    by_oidc = variables("JOOBQ_ADMIN_REDIS_URL=redis://:password")
    with pytest.raises(SystemExit, match="SECRET_KEY"):  # what was copied without a thought is no key
        settings_of(by_oidc)
    by_oidc["JOOBQ_ADMIN_SECRET_KEY"] = LONG
    assert settings_of(by_oidc).PUBLIC_URL == "https://ops.example.com/dlq"
    assert settings_of(by_oidc).OIDC.issuer == "https://id.example.com/realms/main"
    kept = {name: value for name, value in by_oidc.items() if "_OIDC_" not in name}
    assert settings_of(kept | variables("JOOBQ_ADMIN_AUTH=proxy\n")).AUTH == "proxy"


def test_the_table_names_every_setting_and_no_other() -> None:
    asked = {name for name in settings_of(DEV).ask.asked if not name.endswith("_FILE") or "_CA_" in name}
    rows = re.findall(r"^\| (`(?:JOOBQ_ADMIN|PORT).*?) \|", README, re.MULTILINE)
    told: set[str] = set()
    for names in (re.findall(r"`(\w+)`", row) for row in rows):
        first = names[0]
        told |= {name for name in asked if any(name in (each, f"{stem(first)}{each}") for each in names)}
        assert [each for each in names if not {each, f"{stem(first)}{each}"} & asked] == []
    assert asked - told == {name for name in asked if name.startswith("REDIS_")}


def stem(name: str) -> str:
    """What `_OLD` and the like in the same row stand behind."""
    stems = ("PROXY_ASSERTION", "PROXY", "OIDC", "ROLE_EMAILS", "ROLE")
    return next((stem for stem in map("JOOBQ_ADMIN_{}".format, stems) if name.startswith(stem)), "JOOBQ_ADMIN")
