"""The environment: variables asked for one by one, and all that is wrong with them told at once."""

import re
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import SplitResult, quote, urlsplit

from joobq_admin.sso import dev
from joobq_admin.triage.redact import DEFAULT_PATTERNS, Redaction

OURS = "JOOBQ_ADMIN_"
# Kubernetes tells containers of its services in variables: one called joobq-admin sets JOOBQ_ADMIN_PORT and more.
KUBERNETES = re.compile(r"_SERVICE_HOST$|_PORT(_\w+)?$")
MAKE_A_SECRET = "python3 -c 'import secrets; print(secrets.token_urlsafe(50))' makes one"
DEFAULT_PORTS = {"http": 80, "https": 443}
PLAIN_PATH = r"(/[\w.~-]*[\w~-])*/?"


class Variables:
    """`problems` has a line for each thing that is wrong: the variable and what to do, never the value of a secret.

    An empty variable counts as unset; blanks around a value do not count.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = values
        self.asked: set[str] = set()
        self.problems: list[str] = []

    def problem(self, name: str, what: str) -> None:
        self.problems.append(f"{name}: {what}")

    def text(self, name: str, default: str = "") -> str:
        self.asked.add(name)
        return self.values.get(name, "").strip() or default

    def secret(self, name: str, missing: str = "") -> str:
        """The value of `name`, or the content of the file `name`_FILE. `missing` is told when neither is set."""
        value, file = self.text(name), self.text(f"{name}_FILE")
        if value and file:
            self.problem(name, f"{name}_FILE is set too; set one of them")
        elif file:
            value = self.content(f"{name}_FILE", file)
        elif missing and not value:
            self.problem(name, missing)
        return value

    def content(self, name: str, file: str) -> str:
        try:
            text = Path(file).read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            self.problem(name, f"cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}")
            return ""
        if not text:
            self.problem(name, "the file is empty")
        return text

    def number(self, name: str, default: int, least: int, most: int) -> int:
        text = self.text(name, str(default))
        if re.fullmatch(r"[0-9]{1,12}", text) and least <= int(text) <= most:
            return int(text)
        self.problem(name, f"must be a whole number from {least} to {most}")
        return default

    def choice(self, name: str, choices: Iterable[str], default: str) -> str:
        text = self.text(name, default).lower()
        if text in choices:
            return text
        self.problem(name, f"must be one of {', '.join(choices)}")
        return default

    def words(self, name: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """What stands between semicolons."""
        return tuple(word.strip() for word in self.text(name).split(";") if word.strip()) or default

    def end(self) -> None:
        """All is asked: raises SystemExit that tells every problem. A setting that nobody asked for is one too."""
        for name in sorted(self.values.keys() - self.asked):
            if name.startswith(OURS) and not KUBERNETES.search(name):
                near = get_close_matches(name, self.asked, 1, 0.9)
                self.problem(name, f"no such setting; {f'did you mean {near[0]}?' if near else 'remove it'}")
        if self.problems:
            raise SystemExit("\n".join(["JoobQ Admin does not start. In its environment:", *self.problems]))


def secret_key(ask: Variables, name: str, required: bool = False) -> str:
    value = ask.secret(name, f"must be set; {MAKE_A_SECRET}" if required else "")
    if value and (len(value) < 50 or len(set(value)) < 8):
        ask.problem(name, f"must be at least 50 random characters; {MAKE_A_SECRET}")
    return value


@dataclass(frozen=True, slots=True)
class PublicURL:
    """Where readers find the dashboard."""

    scheme: str
    host: str  # lower case; IPv6 in brackets
    port: int | None  # None where it is the scheme's own
    prefix: str = ""  # or such as '/dlq'

    @property
    def origin(self) -> str:
        """As a browser sends it."""
        return f"{self.scheme}://{self.host}" + (f":{self.port}" if self.port else "")

    def __str__(self) -> str:
        return self.origin + self.prefix


def public_url(ask: Variables, local: PublicURL | None) -> PublicURL:
    """The address that hosts, origins, cookies, the path prefix and absolute links come from.

    With `local` it may be left out, and may name nothing but this machine.
    """
    name = "JOOBQ_ADMIN_PUBLIC_URL"
    url = parsed(ask.text(name, str(local or "")))
    host = (url and url.hostname) or ""
    if url is None or url.scheme not in DEFAULT_PORTS or not re.fullmatch(r"[\w.-]+|[\da-f:.]+", host, re.ASCII):
        ask.problem(name, "must be the address that readers use, such as https://ops.example.com/dlq")
    elif url.username is not None or url.query or url.fragment or not re.fullmatch(PLAIN_PATH, url.path, re.ASCII):
        ask.problem(
            name, "must be a plain address: no user, no query, no fragment, nothing percent-encoded, no // or .."
        )
    elif local and not dev.loopback(host):
        ask.problem(name, "must be on 127.0.0.1 or localhost with JOOBQ_ADMIN_AUTH=dev, or not be set")
    else:
        port = None if url.port == DEFAULT_PORTS[url.scheme] else url.port
        return PublicURL(url.scheme, f"[{host}]" if ":" in host else host, port, url.path.rstrip("/"))
    return PublicURL("http", "127.0.0.1", None)


def parsed(url: str) -> SplitResult | None:
    """The parts of a URL whose port, if any, is one; else None."""
    try:
        parts = urlsplit(url)
        return None if parts.port == 0 else parts
    except ValueError:
        return None


def redis_url(ask: Variables) -> str:
    """A URL that redis-py reads: as given, or made of the variables that JoobQ itself takes."""
    name = "JOOBQ_ADMIN_REDIS_URL"
    if host := "" if ask.values.get(name) or ask.values.get(f"{name}_FILE") else ask.text("REDIS_HOST"):
        ask.asked |= {name, f"{name}_FILE"}
        password = quote(ask.secret("REDIS_PASS"), safe="")
        port = ask.number("REDIS_PORT", 6379, 1, 65535)
        return f"redis://{f':{password}@' if password else ''}{f'[{host}]' if ':' in host else host}:{port}/0"
    text = ask.secret(name, "must be the address of JoobQ's Redis, such as redis://:password@host:6379/0")
    url = parsed(text)
    if not text or (url and url.scheme == "unix" and url.path):
        return text
    if url is None or url.scheme not in ("redis", "rediss") or not url.hostname or url.fragment:
        ask.problem(name, "must be redis://, rediss:// or unix://, with its user and password percent-encoded")
    elif not re.fullmatch(r"/?[0-9]*", url.path):
        ask.problem(name, "must end with the number of its database, such as /0")
    return text


def redis_ca_file(ask: Variables, url: str) -> str:
    """A file of certificates to trust instead of the system's; '' for those."""
    name = "JOOBQ_ADMIN_REDIS_CA_FILE"
    file = ask.text(name)
    if file and not url.startswith("rediss://"):
        ask.problem(name, "is for a rediss:// address; remove it, or let JOOBQ_ADMIN_REDIS_URL begin with rediss://")
    else:
        trusted(ask, name)
    return file


def trusted(ask: Variables, name: str) -> ssl.SSLContext | None:
    """Whom to trust, by the file of certificates that `name` names; None: the system's."""
    file = ask.text(name)
    if not file or not ask.content(name, file):
        return None
    try:
        return ssl.create_default_context(cafile=file)
    except ssl.SSLError:
        ask.problem(name, "holds no certificate")
        return None


def redact(ask: Variables) -> tuple[str, ...]:
    """The patterns of names whose values are never shown: given, they stand instead of the default ones."""
    name = "JOOBQ_ADMIN_REDACT"
    patterns = ask.words(name, DEFAULT_PATTERNS)
    try:
        Redaction(patterns)
    except ValueError as error:
        ask.problem(name, f"must be names of fields with ; between them: {error}")
    return patterns
