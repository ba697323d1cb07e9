"""Sign-in by a certified OpenID provider, npm oidc-provider, as a browser and the provider would go through it.

python -m tests.lab.oidc_provider      needs node and npm; the first run installs the provider beside tests/lab/idp
"""

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from urllib.request import Request, urlopen

from joobq_admin.joobq import keys
from joobq_admin.sso.fetch import FORCED
from tests.support.dashboard import Dashboard
from tests.support.eventually import eventually, pause
from tests.support.letters import DIED, digest, jid, letter
from tests.support.person import Person
from tests.support.provider import CLIENT, SECRET
from tests.support.servers import Server, free_port

IDP = Path(__file__).parent / "idp"
DEEP = "/dead-letters/?queue=%C3%A9&limit=5&after=1-2"
FAULTY = """
    alg_none hs256_pubkey hs256_secret garbage wrong_aud multi_aud_no_azp multi_aud_bad_azp expired future_iat wrong_iss
    iss_slash wrong_nonce at_hash empty_sub array_sub no_exp no_iat no_nonce no_sub no_aud no_iss rogue_key unknown_kid
    embedded_jwk jku no_id_token
"""
FAULTY_LOGOUTS = """
    alg_none hs256_secret garbage wrong_aud wrong_iss expired no_exp no_iat no_jti no_events null_events with_nonce
    nobody old rogue_key
"""
ROLES = {"vera": "Viewer", "otto": "Operator", "ada": "Admin", "nobody": 403, "str": 403, "many": "Viewer", "over": 403}


@contextmanager
def provider(issuer: str, app: str) -> Iterator[None]:
    if not shutil.which("npm"):
        raise SystemExit("node and npm are needed: sudo apt-get install nodejs npm")
    if not (IDP / "node_modules").exists():
        subprocess.run(["npm", "install", "--no-package-lock", "--no-audit", "--no-fund"], cwd=IDP, check=True)
    named = {"ISSUER": issuer, "APP": app, "SECRET": SECRET, "NODE_NO_WARNINGS": "1"}
    process = subprocess.Popen(
        ["node", "provider.mjs"], cwd=IDP, env=os.environ | named, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        eventually(lambda: process.poll() is None and answers(f"{issuer}/test/log"), timeout=20)
        yield
    finally:
        process.terminate()
        process.wait()


def answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=2):
            return True
    except OSError:
        return False


class Guest(Person):
    def signs_in(self, name: str) -> "Guest":
        """At the provider's form."""
        assert "/interaction/" in self.url, (self.url, self.status)
        self.go(self.url, {"login": name})
        return self


class Lab:
    """One dashboard, the provider, Redis: each method is a thing that must hold."""

    def __init__(self, dashboard: Dashboard, issuer: str, server: Server) -> None:
        self.dashboard, self.issuer, self.server = dashboard, issuer, server

    def tell(self, path: str) -> str:
        with urlopen(Request(f"{self.issuer}/test/{path}", method="GET")) as answer:
            return str(answer.read().decode())

    def person(self, name: str = "", at: str = "/dead-letters/") -> Guest:
        someone = Guest(self.dashboard.url)
        if name:
            someone.go(at)
            someone.signs_in(name)
        return someone

    def a_deep_link_survives(self) -> None:
        assert self.person("vera", DEEP).url == self.dashboard.url + DEEP

    def everybody_has_their_role(self) -> None:
        for name, role in ROLES.items():
            someone = self.person(name)
            told = f"<small>{role}</small>" in someone.text if isinstance(role, str) else someone.status == role
            assert told, (name, someone.status)
            assert len(someone.cookie("session")) < 1000
        assert "<img src=x" not in self.person("evil").text

    def two_tabs_at_once_both_land_and_press(self) -> None:
        self.server.client.zadd(keys.DEAD, {letter(n, queue="q"): DIED for n in (1, 2)})
        ada, tabs = self.person(), []
        for n in (1, 2):
            ada.go(f"/jobs/{jid(n)}/")
            tabs.append(ada.url)
        for n in (2, 1):
            assert ada.go(tabs[n - 1], {"login": "ada"}).url == f"{self.dashboard.url}/jobs/{jid(n)}/"
        for n in (1, 2):
            form = {"score": str(DIED), "digest": digest(letter(n, queue="q")), "jid": jid(n), "operation": f"{n:016}"}
            url = f"/dead-letters/{DIED}-{digest(letter(n, queue='q'))}/redrive"
            assert ada.go(f"/jobs/{jid(n)}/").presses(url, form).status == 200
        assert self.server.client.llen("q") == 2

    def faulty_id_tokens_sign_nobody_in(self) -> None:
        for fault in FAULTY.split():
            self.tell(f"mode?m={fault}")
            someone = self.person("ada", "/jobs/a/")
            assert (someone.status, someone.cookie("session")) == (403, ""), fault
            assert "You were not signed in" in someone.text
            assert "/auth/login?next=%2Fjobs%2Fa%2F" in someone.text
        self.tell("mode?m=ok")
        assert "jku" not in self.tell("log")
        assert self.person("ada").status == 200

    def who_says_no_is_told_so(self) -> None:
        someone = self.person("cancel")
        assert someone.status == 403
        assert "<b>no</b>" not in someone.text

    def a_new_key_is_found(self) -> None:
        pause(FORCED)  # since somebody made a key's name up
        self.tell("rotate")
        assert self.person("ada").status == 200

    def an_outage_is_told_and_whoever_is_in_works_on(self) -> None:
        ada = self.person("ada")
        for how in ("503", "html", "reset", "hang"):
            someone = self.person()
            someone.go("/dead-letters/")
            self.tell(f"outage?m={how}&path=/token")
            began = time.monotonic()
            assert someone.signs_in("ada").status == 503, how
            assert time.monotonic() - began < 6
            assert someone.headers["Retry-After"]
            assert ada.go("/dead-letters/").status == 200
            self.tell("outage?m=")
        self.tell("outage?m=hang")
        with Dashboard(self.server.url, "proxy", **settings(self.issuer)) as cold:
            began = time.monotonic()
            assert Person(cold.url).go("/auth/login").status == 503
            assert time.monotonic() - began < 6
        self.tell("outage?m=")

    def it_asks_anew_for_what_cannot_be_undone(self) -> None:
        ada = self.person("ada")
        before = ada.cookie("session")
        ada.go("/auth/login?confirms=1&next=/bin/")
        assert ada.signs_in("ada").url == f"{self.dashboard.url}/bin/"
        assert ada.cookie("session") != before

    def who_signs_out_of_it_is_out_everywhere(self) -> None:
        ada, copy = self.person("ada"), self.person()
        vera = self.person("vera")
        for cookie in ada.cookies:
            copy.cookies.set_cookie(cookie)
        assert copy.go("/bin/").url.endswith("/bin/")
        stolen = ada.cookie("session")
        ada.go("/bin/").presses("/auth/logout")
        assert "Signed out here" in ada.text
        ada.go(unescape(re.findall(r'href="(http[^"]*/session/end[^"]*)"', ada.text)[0]))
        xsrf = re.findall(r'name="xsrf" value="(\w+)"', ada.text)[0]
        assert ada.go(f"{self.issuer}/session/end/confirm", {"xsrf": xsrf, "logout": "yes"}).url.endswith(
            "/auth/signed-out"
        )
        assert "backchannel.success" in self.tell("log")
        answer = Person(self.dashboard.url).go("/bin/", follow=False, Cookie=f"session={stolen}")
        assert (answer.status, answer.headers["Location"]) == (302, "/auth/login?next=%2Fbin%2F")
        assert vera.go("/bin/").url.endswith("/bin/")

    def its_logout_ends_a_session_that_nobody_signed_out_of(self) -> None:
        ada = self.person("ada")
        token = self.tell("logout_token?sub=ada")
        assert Person(self.dashboard.url).go("/auth/backchannel-logout", {"logout_token": token}).status == 200
        assert ada.go("/bin/", follow=False).headers["Location"] == "/auth/login?next=%2Fbin%2F"

    def faulty_logout_tokens_end_nothing(self) -> None:
        pause(1)  # a logout tells seconds: it ends what began within its own
        ada = self.person("ada")
        for fault in FAULTY_LOGOUTS.split():
            token = self.tell(f"logout_token?sub=ada&m={fault}")
            answer = Person(self.dashboard.url).go("/auth/backchannel-logout", {"logout_token": token})
            assert (answer.status, json.loads(answer.text)) == (400, {"error": "invalid_request"}), fault
        assert ada.go("/bin/").url.endswith("/bin/")


def settings(issuer: str) -> dict[str, str]:
    named = {
        "ISSUER": issuer,
        "CLIENT_ID": CLIENT,
        "CLIENT_SECRET": SECRET,
        "SCOPES": "openid profile email groups",
    }
    return {"JOOBQ_ADMIN_AUTH": "oidc", **{f"JOOBQ_ADMIN_OIDC_{name}": value for name, value in named.items()}}


def run() -> None:
    issuer = f"http://127.0.0.1:{free_port()}"
    with Server() as server, Dashboard(server.url, "proxy", **settings(issuer)) as dashboard:
        with provider(issuer, dashboard.url):
            lab = Lab(dashboard, issuer, server)
            things: list[Callable[[], None]] = [
                lab.a_deep_link_survives,
                lab.everybody_has_their_role,
                lab.two_tabs_at_once_both_land_and_press,
                lab.faulty_id_tokens_sign_nobody_in,
                lab.who_says_no_is_told_so,
                lab.a_new_key_is_found,
                lab.an_outage_is_told_and_whoever_is_in_works_on,
                lab.it_asks_anew_for_what_cannot_be_undone,
                lab.who_signs_out_of_it_is_out_everywhere,
                lab.its_logout_ends_a_session_that_nobody_signed_out_of,
                lab.faulty_logout_tokens_end_nothing,
            ]
            for thing in things:
                thing()
                print(thing.__name__.replace("_", " "), flush=True)
        assert "Traceback" not in dashboard.log


if __name__ == "__main__":
    run()
