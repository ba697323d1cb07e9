"""Sign-in by Apache's mod_auth_openidc, which ends TLS and takes the path prefix off, as docs/sign-in.md writes it.

python -m tests.lab.behind_apache      needs apache2 and libapache2-mod-auth-openidc
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from joobq_admin.joobq import keys
from tests.support.dashboard import SECRET as PROOF
from tests.support.dashboard import Dashboard, signed_in
from tests.support.database import changed, contents
from tests.support.eventually import eventually
from tests.support.letters import DIED, digest, jid, letter
from tests.support.person import Person
from tests.support.provider import ADA, CLIENT, SECRET, VERA, Provider
from tests.support.servers import Server, free_port
from tests.support.tls import certificate
from tests.support.wire import Answer, ask

PAGE = (Path(__file__).parents[2] / "docs/sign-in.md").read_text(encoding="utf-8")
MODULES = Path("/usr/lib/apache2/modules")
BASE = """
ServerRoot {folder}
ServerName 127.0.0.1
PidFile {folder}/pid
ErrorLog {folder}/log
Listen 127.0.0.1:{port}
User www-data
Group www-data
"""
NEEDED = (
    "mpm_event",
    "authn_core",
    "authz_core",
    "authz_user",
    "ssl",
    "headers",
    "proxy",
    "proxy_http",
    "auth_openidc",
)
FORM = {"score": str(DIED), "digest": digest(letter(1, queue="q")), "jid": jid(1), "operation": "0123456789abcdef"}
ENTRY = f"/dead-letters/{DIED}-{FORM['digest']}"

#: What somebody sends beside their own session, to be somebody else or somewhere else.
SPOOFED = [
    [("X-Forwarded-User", "u-ada"), ("X-Forwarded-Groups", "admins"), ("X-Forwarded-Preferred-Username", "Ada")],
    [("X-Forwarded-Groups", "admins"), ("X-Forwarded-Groups", "operators")],
    [("X_Forwarded_Groups", "admins"), ("X-Forwarded_Groups", "admins"), ("X_Forwarded_User", "u-ada")],
    [("OIDC_CLAIM_groups", "admins"), ("OIDC-CLAIM-groups", "admins"), ("OIDC_CLAIM_sub", "u-ada")],
    [("X-JoobQ-Admin-Proxy-Secret", "a guess"), ("X-JoobQ-Admin-Proxy-Secret", PROOF)],
    [("X_JoobQ_Admin_Proxy_Secret", "a guess"), ("Remote-User", "u-ada"), ("REMOTE_USER", "u-ada")],
    [("SCRIPT_NAME", "/healthz"), ("SCRIPT-NAME", "/healthz"), ("PATH_INFO", "/healthz"), ("PATH-INFO", "/healthz")],
    [("X-Forwarded-Host", "evil.example"), ("X-Forwarded-Proto", "http"), ("X-Forwarded-Prefix", "/evil")],
    [("X-Original-Url", "/healthz"), ("X-Rewrite-Url", "/healthz"), ("X-Http-Method-Override", "POST")],
    [("Forwarded", "for=10.0.0.1;host=evil.example;proto=http"), ("X-Forwarded-Uri", "/healthz")],
]


def recipe(port: int, behind: int, folder: str, provider: Provider) -> str:
    """The configuration of the page, with names of this machine."""
    (block,) = re.findall(r"^    <VirtualHost .*?</VirtualHost>$", PAGE, re.DOTALL | re.MULTILINE)
    ours = {
        "*:443": f"127.0.0.1:{port}",
        "/etc/ssl/private/ops.example.com.pem": f"{folder}/pem",
        "https://id.example.com/realms/main": provider.url,
        "https://ops.example.com": f"https://127.0.0.1:{port}",
        "ServerName ops.example.com": "ServerName 127.0.0.1",
        "OIDCClientID joobq-admin": f"OIDCClientID {CLIENT}",
        "what the provider gave you": SECRET,
        "at least 32 random characters .......": PROOF,
        "http://joobq-admin:8000/": f"http://127.0.0.1:{behind}/",
    }
    for theirs, own in ours.items():
        assert theirs in block, theirs
        block = block.replace(theirs, own)
    return block


@contextmanager
def apache(port: int, behind: int, provider: Provider) -> Iterator[None]:
    binary = shutil.which("apache2", path="/usr/sbin:/usr/bin")
    if not binary or not (MODULES / "mod_auth_openidc.so").exists():
        raise SystemExit("Apache is needed: sudo apt-get install apache2 libapache2-mod-auth-openidc")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "pem").write_bytes(certificate())
        load = "".join(f"LoadModule {name}_module {MODULES}/mod_{name}.so\n" for name in NEEDED)
        text = load + BASE.format(folder=folder, port=port) + recipe(port, behind, folder, provider)
        (Path(folder) / "conf").write_text(text)
        process = subprocess.Popen([binary, "-DFOREGROUND", "-f", f"{folder}/conf"])
        try:
            yield
        finally:
            process.terminate()
            process.wait()


def settings(port: int) -> dict[str, str]:
    return {
        "JOOBQ_ADMIN_PUBLIC_URL": f"https://127.0.0.1:{port}/dlq",
        "JOOBQ_ADMIN_PROXY_GROUPS_SEPARATOR": "|",
        "JOOBQ_ADMIN_PROXY_LOGOUT_URL": f"/dlq/signed-in?logout=https%3A%2F%2F127.0.0.1%3A{port}%2F",
    }


def run() -> None:
    port, provider = free_port(), Provider()
    home = f"https://127.0.0.1:{port}/dlq"
    with Server() as server, Dashboard(server.url, "proxy", **settings(port)) as dashboard:
        server.client.zadd(keys.DEAD, {letter(1, queue="q"): DIED})
        with apache(port, dashboard.port, provider):
            eventually(lambda: answers(home))
            its_words_are_taken(home, provider, server)
            nobody_else_is_believed(home, provider, server)
            straight_to_the_dashboard_it_is_401(dashboard, server)
            a_session_that_is_over_is_told(home, provider, server)
        assert "Traceback" not in dashboard.log
    provider.close()


def person(home: str, provider: Provider, user: dict[str, object], at: str = "/dead-letters/") -> Person:
    provider.user = user
    return Person(home).go(at)


def its_words_are_taken(home: str, provider: Provider, server: Server) -> None:
    deep = "/jobs/a%20b/?x=%26%C3%A9&queue=%2F"
    ada = person(home, provider, ADA, deep)
    assert ada.url == home + deep, (ada.url, ada.status, ada.text)
    assert "Ada Łukasiewicz 李" in ada.text
    assert "<small>Admin</small>" in ada.text
    for user, role in (
        ({**VERA, "groups": ["viewers", "x"]}, "Viewer"),
        ({**VERA, "groups": ["operators"]}, "Operator"),
    ):
        assert f"<small>{role}</small>" in person(home, provider, user).text
    for groups in ([], ["ADMINS"], ["admins-readonly"], ["x,admins"]):
        nobody = person(home, provider, {**VERA, "groups": groups})
        assert (nobody.status, "have no role here" in nobody.text) == (403, True), groups
    assert person(home, provider, {**VERA, "sub": "u-none", "groups": None}).status == 403
    print("who Apache signs in has the name and the role that the provider said", flush=True)

    names = {cookie.name: cookie for cookie in ada.cookies if "csrf" in cookie.name}
    assert [(cookie.secure, cookie.path) for cookie in names.values()] == [(True, "/")]
    assert names.keys() == {"__Host-csrf"}
    assert re.findall(r'(?:href|src|action)="(/(?!dlq/)[^"]*)"', ada.text) == []
    before = contents(server.client)
    ada.go(f"{ENTRY}/").go(f"{ENTRY}/redrive", FORM, Origin="https://evil.example")
    assert (ada.status, changed(before, contents(server.client))) == (403, set())
    assert ada.go(f"{ENTRY}/").presses(f"{ENTRY}/redrive", FORM).url.startswith(f"{home}/operations/")
    assert server.client.llen("q") == 1
    print("a press is done, by a page of ours alone, below the prefix", flush=True)


def nobody_else_is_believed(home: str, provider: Provider, server: Server) -> None:
    vera, nobody = person(home, provider, VERA), person(home, provider, {**VERA, "sub": "u-none", "groups": []})
    server.client.flushall()
    server.client.zadd(keys.DEAD, {letter(1, queue="q"): DIED})
    for headers in SPOOFED:
        page = sent(vera, f"{home}/dead-letters/", headers)
        assert (page.status, "<small>Viewer</small>" in page.text, "evil" in page.text) == (200, True, False), headers
        assert "Vera" in page.text
        assert "Ada" not in page.text
        assert sent(nobody, f"{home}/dead-letters/", headers).status == 403, headers
        led = sent(vera, f"{home}/", headers)
        assert (led.status, led.headers["Location"]) == (302, "/dlq/dead-letters/"), headers
        assert sent(Person(home), f"{home}/dead-letters/", headers).status == 302, headers  # to the provider
        assert sent(vera, f"{home}{ENTRY}/redrive", headers, "POST").status == 403, headers
    assert server.client.zcard(keys.DEAD) == 1
    print("no header of a browser says who somebody is, or where we are", flush=True)


def straight_to_the_dashboard_it_is_401(dashboard: Dashboard, server: Server) -> None:
    host = {"Host": f"127.0.0.1:{dashboard.port}"}
    given = {name: value for name, value in signed_in("ada", "admin").items() if name != "X-JoobQ-Admin-Proxy-Secret"}
    for headers in ([], *SPOOFED[:4], *SPOOFED[5:]):
        answer = ask(f"{dashboard.url}/dead-letters/", [*(host | given).items(), *headers])
        assert answer.status == 401, headers
    assert server.client.zcard(keys.DEAD) == 1
    print("without the proof nobody is anybody", flush=True)


def a_session_that_is_over_is_told(home: str, provider: Provider, server: Server) -> None:
    ada = person(home, provider, ADA)
    out = re.findall(r'href="([^"]*signed-in\?logout=[^"]*)"', ada.text)[0]
    ada.go(home.removesuffix("/dlq") + out, follow=False)
    assert ada.status == 302
    htmx = {"HX-Request": "true", "HX-Target": "action"}
    over = ada.go(f"{ENTRY}/redrive", FORM, follow=False, **htmx)
    assert (over.status, "Location" in over.headers) == (401, False)
    assert server.client.zcard(keys.DEAD) == 1
    assert ada.go("/bin/", follow=False).headers["Location"].startswith(f"{provider.url}/authorize?")
    print("a session that is over is 401 for htmx, and leads anew to the provider", flush=True)


def sent(by: Person, url: str, headers: list[tuple[str, str]], method: str = "GET") -> Answer:
    """With exactly these headers, as often as they stand here, and the cookies of a browser."""
    cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in by.cookies)
    return ask(url, [*([("Cookie", cookies)] if cookies else []), *headers], method)


def answers(home: str) -> bool:
    try:
        return Person(home).go("/bin/", follow=False).status == 302
    except OSError:
        return False


if __name__ == "__main__":
    run()
