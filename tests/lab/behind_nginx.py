"""Sign-in by a provider behind nginx, which ends TLS and takes the path prefix off, as README writes it.

python -m tests.lab.behind_nginx      needs nginx
"""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from joobq_admin.joobq import keys
from tests.support.dashboard import Dashboard
from tests.support.eventually import eventually
from tests.support.letters import DIED, digest, jid, letter
from tests.support.person import Person
from tests.support.provider import Provider
from tests.support.servers import Server, free_port
from tests.support.signing_in import environment
from tests.support.tls import certificate

CONFIG = """
daemon off;
pid {folder}/pid;
error_log {folder}/log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder};
    proxy_temp_path {folder};
    server {{
        listen 127.0.0.1:{port} ssl;
        ssl_certificate {folder}/pem;
        ssl_certificate_key {folder}/pem;
        location /dlq/ {{
            proxy_set_header Host $host;
            proxy_set_header X-Forwarded-For $remote_addr;
            proxy_set_header X-Forwarded-Proto $scheme;
            proxy_pass http://127.0.0.1:{behind}/;
        }}
    }}
}}
"""


@contextmanager
def nginx(port: int, behind: int) -> Iterator[None]:
    if not shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/bin"):
        raise SystemExit("nginx is needed: sudo apt-get install nginx")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "pem").write_bytes(certificate())
        (Path(folder) / "conf").write_text(CONFIG.format(folder=folder, port=port, behind=behind))
        process = subprocess.Popen(["/usr/sbin/nginx", "-c", f"{folder}/conf", "-e", f"{folder}/log"])
        try:
            yield
        finally:
            process.terminate()
            process.wait()


def run() -> None:
    port, provider = free_port(), Provider()
    home, entry = f"https://127.0.0.1:{port}/dlq", f"/dead-letters/{DIED}-{digest(letter(1, queue='q'))}"
    public = {"JOOBQ_ADMIN_PUBLIC_URL": home}
    with Server() as server, Dashboard(server.url, "proxy", **environment(provider), **public) as dashboard:
        server.client.zadd(keys.DEAD, {letter(1, queue="q"): DIED})
        with nginx(port, dashboard.port):
            ada = Person(home)
            eventually(lambda: answers(ada))
            deep = "/jobs/a%20b/?x=%26%C3%A9&queue=%2F"
            assert ada.go(deep).url == home + deep, ada.url
            names = {cookie.name: cookie for cookie in ada.cookies}
            assert names.keys() == {"__Host-session", "__Host-csrf"}
            assert all(cookie.secure and cookie.path == "/" for cookie in names.values())
            print("a deep link survives, and cookies are the host's alone")

            form = {"score": str(DIED), "digest": digest(letter(1, queue="q")), "jid": jid(1), "operation": "0" * 16}
            other = {"Origin": "https://evil.example"}
            assert ada.go(f"{entry}/").go(f"{entry}/redrive", form, **other).status == 403
            assert ada.go(f"{entry}/").presses(f"{entry}/redrive", form).url == f"{home}/operations/{'0' * 16}/?{op()}"
            assert server.client.llen("q") == 1
            print("a press is done, by a page of ours alone")

            for name in ("X-Forwarded-Host", "X-Forwarded-Prefix", "SCRIPT-NAME", "X-Forwarded-User"):
                nobody = Person(home).go("/bin/", follow=False, **{name: "/healthz"})
                assert (nobody.status, nobody.headers["Location"]) == (302, "/dlq/auth/login?next=%2Fdlq%2Fbin%2F")
            lost = Person(home).go(f"{entry}/redrive", form, Referer=home + entry)
            assert (lost.status, f"next={quote('/dlq' + entry, safe='')}" in lost.text) == (401, True)
            print("no header says where we are or who asks")

            old = ada.cookie("__Host-session")
            assert "Signed out here" in ada.go("/bin/").presses("/auth/logout").text
            copy = Person(home).go("/bin/", follow=False, Cookie=f"__Host-session={old}")
            assert copy.headers["Location"] == "/dlq/auth/login?next=%2Fdlq%2Fbin%2F"
            print("a copy of the cookie is nobody's after signing out")
        assert "Traceback" not in dashboard.log
    provider.close()


def op() -> str:
    return f"action=redrive&entry={DIED}-{digest(letter(1, queue='q'))}-{jid(1)}"


def answers(someone: Person) -> bool:
    try:
        return someone.go("/healthz").status == 200
    except OSError:
        return False


if __name__ == "__main__":
    run()
